"""Commands for sessions."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.commands.users import UserOption
from cairn.cli.context import CliContext, online
from cairn.cli.output import local_time

sessions_app = group("Manage open sessions.")


@sessions_app.command("list")
@online()
async def list_sessions(ctx: CliContext, user: UserOption = None, limit: Limit = 50) -> None:
    """List open sessions, newest first.

    Example: cairn sessions list --user reviewer
    """
    page = await ctx.client.list_sessions(user=user, limit=limit)
    rows = [
        (
            session["session_id"],
            session["user"],
            session["signed_in_with"],
            session["address"],
            local_time(session["created_at"]),
        )
        for session in page["items"]
    ]
    headings = ("id", "user", "method", "address", "signed in")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No sessions found."))


@sessions_app.command("end")
@online("write")
async def end_sessions(
    ctx: CliContext,
    session_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Id of one session. Default: all other sessions.")
    ] = None,
    user: Annotated[str | None, typer.Option("--user", help="User. Default: you.")] = None,
) -> None:
    """End one session, all your other sessions, or all sessions of a user.

    Example: cairn sessions end --user reviewer
    """
    if session_id is not None:
        await ctx.client.end_session(session_id)
        ended: JsonObject = {"count": 1}
    else:
        ended = await ctx.client.end_sessions(user=user)
    ctx.show(ended, lambda ended: ctx.output.line(f"Sessions ended: {ended['count']}"))
