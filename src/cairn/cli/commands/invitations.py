"""Commands that invite users."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import JsonObject
from cairn.cli.commands.users import DisplayName, Email, InGroups, Roles, UserName, user_fields, users_app
from cairn.cli.context import CliContext, online
from cairn.cli.output import local_time, print_status


@users_app.command("invite")
@online("write")
async def invite(
    ctx: CliContext,
    name: UserName,
    roles: Roles = None,
    email: Email = None,
    display_name: DisplayName = None,
    groups: InGroups = None,
    hours: Annotated[int, typer.Option("--hours", min=1, max=720, help="Hours until the invitation expires.")] = 72,
) -> None:
    """Invite a user, or let an existing user set a new password. Prints the path of the invitation link.

    Example: cairn users invite reviewer --email reviewer@example.com --role approver
    """
    spec = {"name": name, "valid_hours": hours, **user_fields(display_name, email, roles, groups)}
    created = await ctx.client.create_invitation(spec)
    if not ctx.output.as_json:
        expires = local_time(created["expires_at"])
        print_status(
            f"Send {name} this link, with the address of your server in front. It works once and expires {expires}."
        )
    ctx.show(created, lambda invitation: ctx.output.line(invitation["path"]))


@users_app.command("invitations")
@online()
async def invitations(
    ctx: CliContext,
    include_ended: Annotated[
        bool, typer.Option("--all", help="Include accepted, revoked and expired invitations.")
    ] = False,
    revoke: Annotated[str | None, typer.Option("--revoke", metavar="ID", help="Revoke this invitation first.")] = None,
    limit: Limit = 50,
) -> None:
    """List open invitations, newest first.

    Example: cairn users invitations
    """
    if revoke is not None:
        await ctx.client.revoke_invitation(revoke)
    page = await ctx.client.list_invitations(include_ended=include_ended, limit=limit)
    rows = [
        (
            invitation["invitation_id"],
            invitation["user"],
            local_time(invitation["expires_at"]),
            invitation["created_by"],
            _status(invitation),
        )
        for invitation in page["items"]
    ]
    headings = ("id", "user", "expires", "invited by", "status")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No invitations found."))


def _status(invitation: JsonObject) -> str:
    if invitation["is_open"]:
        return "open"
    return "accepted" if invitation["accepted_at"] else "revoked" if invitation["revoked_at"] else "expired"
