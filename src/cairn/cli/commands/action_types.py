"""Commands for the catalogue of action types."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit, read_json
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode

actions_app = typer.Typer(help="Manage actions that leave Cairn.")
types_app = group("Manage the catalogue of action types.")
actions_app.add_typer(types_app, name="types")
TypeName = Annotated[str, typer.Argument(metavar="TYPE", help="Name of the action type.")]


@types_app.command("list")
@online()
async def list_action_types(ctx: CliContext, limit: Limit = 100) -> None:
    """List action types by name.

    Example: cairn actions types
    """
    page = await ctx.client.list_action_types(limit=limit)
    rows = [
        (
            kind["name"],
            kind["effect"],
            kind["risk_level"],
            _list(kind["identity"]),
            _list(kind["hosts"]),
            kind["source"],
        )
        for kind in page["items"]
    ]
    heads = ("name", "effect", "risk", "identity", "hosts", "source")
    ctx.show(page, lambda _: ctx.output.table(heads, rows, empty="No action types found."))


@types_app.command("put")
@online("write")
async def put_action_type(
    ctx: CliContext,
    name: TypeName,
    declaration: Annotated[str, typer.Argument(help="The type as JSON, or @FILE for a JSON or YAML file.")],
) -> None:
    """Create or replace an action type, or change a built-in one.

    Example: cairn actions types put refund @refund.yaml
    """
    body = read_json(declaration, "The type")
    if not isinstance(body, dict):
        raise CommandFailed(ExitCode.USAGE, "The type is not an object.")
    saved = await ctx.client.put_action_type(name, body)
    ctx.show(saved, lambda kind: ctx.output.line(_summary(kind)))


@types_app.command("remove")
@online("write")
async def remove_action_type(ctx: CliContext, name: TypeName) -> None:
    """Remove an action type, or return a built-in one to its default.

    Example: cairn actions types remove refund
    """
    await ctx.client.remove_action_type(name)
    ctx.show({"name": name}, lambda kind: ctx.output.line(f"{kind['name']}: removed"))


def _list(values: list[str] | None) -> str:
    return "all" if values is None else ", ".join(values) or "none"


def _summary(kind: JsonObject) -> str:
    return f"{kind['name']}: {kind['effect']}, {kind['risk_level']} risk"
