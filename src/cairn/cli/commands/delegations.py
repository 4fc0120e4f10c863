"""Commands for delegations."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit
from cairn.cli.command_groups import group
from cairn.cli.commands.users import UserOption
from cairn.cli.context import CliContext, online
from cairn.cli.output import local_time
from cairn.cli.rendering import field_pairs

delegations_app = group("Manage delegations.")


@delegations_app.command("list")
@online()
async def list_delegations(
    ctx: CliContext,
    user: UserOption = None,
    include_ended: Annotated[bool, typer.Option("--all", help="Include ended delegations.")] = False,
    limit: Limit = 50,
) -> None:
    """List current and future delegations.

    Example: cairn delegations list
    """
    page = await ctx.client.list_delegations(user=user, include_ended=include_ended, limit=limit)
    rows = [
        (
            delegation["delegation_id"],
            delegation["from_user"],
            delegation["to_user"],
            local_time(delegation["starts_at"]),
            local_time(delegation["ends_at"]),
        )
        for delegation in page["items"]
    ]
    headings = ("id", "user", "delegate", "from", "until")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No delegations found."))


@delegations_app.command("show")
@online()
async def show_delegation(
    ctx: CliContext, delegation_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the delegation.")]
) -> None:
    """Show a delegation.

    Example: cairn delegations show 0b9c9a3e-3f5e-5d3c-8a54-0e5e2a0f9d11
    """
    delegation = await ctx.client.get_delegation(delegation_id)
    ctx.show(delegation, lambda delegation: ctx.output.fields(field_pairs(delegation)))


@delegations_app.command("add")
@online("write")
async def add_delegation(
    ctx: CliContext,
    to_user: Annotated[str, typer.Argument(metavar="USER", help="User who decides instead.")],
    until: Annotated[str, typer.Option("--until", help="End time, such as 2026-03-16T09:30:00Z.")],
    starts_at: Annotated[str | None, typer.Option("--from", help="Start time. Default: now.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="User who is away. Default: you.")] = None,
    reason: Annotated[str, typer.Option("--reason", help="Reason.")] = "",
) -> None:
    """Let another user decide for you while you are away. Admins can do this for others.

    Example: cairn delegations add second-reviewer --user reviewer --until 2030-03-16T09:30:00Z
    """
    spec: dict[str, Any] = {"to_user": to_user, "ends_at": until, "starts_at": starts_at, "reason": reason}
    created = await ctx.client.create_delegation({**spec, "from_user": user})
    message = "{to_user} decides for {from_user}"
    ctx.show(
        created,
        lambda delegation: ctx.output.line(f"{message.format(**delegation)} until {local_time(delegation['ends_at'])}"),
    )


@delegations_app.command("end")
@online("write")
async def end_delegation(
    ctx: CliContext, delegation_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the delegation.")]
) -> None:
    """End a delegation early.

    Example: cairn delegations end 0b9c9a3e-3f5e-5d3c-8a54-0e5e2a0f9d11
    """
    ended = await ctx.client.end_delegation(delegation_id)
    message = "{to_user} no longer decides for {from_user}"
    ctx.show(ended, lambda delegation: ctx.output.line(message.format(**delegation)))
