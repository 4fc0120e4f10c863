"""Commands for your own account: display name and password."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.commands.users import users_app
from cairn.cli.context import CliContext, online
from cairn.cli.prompts import read_secret


@users_app.command("display-name")
@online("write")
async def display_name(
    ctx: CliContext,
    name: Annotated[str, typer.Argument(metavar="TEXT", help="Your display name. If empty, your username is shown.")],
) -> None:
    """Set your display name. On your own machine you are admin.

    Example: cairn users display-name "A reviewer"
    """
    session = await ctx.client.update_me(name)
    ctx.show(session, lambda account: ctx.output.line(f"{account['actor']}: display name {account['display_name']}"))


@users_app.command("password")
@online("write")
async def password(ctx: CliContext) -> None:
    """Set your password and end your other sessions. On your own machine you are admin.

    Example: cairn users password
    """
    session = await ctx.client.get_session()
    current = read_secret("Current password") if session["has_password"] else ""
    await ctx.client.change_password(current, read_secret("New password", confirm=True))
    ctx.show({"user": session["actor"]}, lambda account: ctx.output.line(f"{account['user']}: password changed"))
