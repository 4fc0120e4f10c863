"""Commands for pending forms."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import ExecutionName, Limit
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.commands.approvals import ApprovalListOptions, print_approvals
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.rendering import show_form

forms_app = group("List and show pending forms.")


@forms_app.command("list")
@online()
async def list_forms(
    ctx: CliContext,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    limit: Limit = 50,
) -> None:
    """List pending forms.

    Example: cairn forms list
    """
    await print_approvals(ctx, ApprovalListOptions(kind=("input",)), pipeline, None, limit)


@forms_app.command("show")
@online()
async def show_pending_form(ctx: CliContext, name: ExecutionName) -> None:
    """Show the fields of a form and earlier answers.

    Example: cairn forms show "Release notes@v1/notes"
    """
    execution = await ctx.resolver.execution(name, _has_form, "has a form")
    if execution["form"] is None:
        raise CommandFailed(ExitCode.FAILED, f"{execution['checkpoint_name']} has no form.")
    ctx.show(execution["form"], lambda form: show_form(ctx.output, form))


def _has_form(execution: JsonObject) -> bool:
    return execution["form"] is not None
