"""One's own account: how one is shown, and the password."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.commands.users import users_app
from cairn.cli.context import CliContext, online
from cairn.cli.prompts import ask_hidden


@users_app.command("display-name")
@online("saves")
async def display_name(
    ctx: CliContext,
    shown_as: Annotated[
        str, typer.Argument(metavar="TEXT", help="Your display name. If empty, your user name is shown.")
    ],
) -> None:
    """Set your display name. On your own machine you are admin.

    Example: cairn users display-name "A reviewer"
    """
    session = await ctx.client.update_me(shown_as)
    ctx.show(session, lambda one: ctx.screen.line(f"{one['actor']}: shown as {one['display_name']}"))


@users_app.command("password")
@online("saves")
async def password(ctx: CliContext) -> None:
    """Set your password and end your other sessions. On your own machine you are admin.

    Example: cairn users password
    """
    session = await ctx.client.get_session()
    current = ask_hidden("Current password") if session["has_password"] else ""
    await ctx.client.change_password(current, ask_hidden("New password", twice=True))
    ctx.show({"user": session["actor"]}, lambda one: ctx.screen.line(f"{one['user']}: new password"))
