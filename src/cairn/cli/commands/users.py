"""Users, groups, and who decides for whom."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import Answer
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.output import moment, tell

users_app = group("Manage users.")
groups_app = group("Manage groups of users.")
delegations_app = group("Manage delegations.")

UserName = Annotated[str, typer.Argument(metavar="USER", help="Name of a user.")]
GroupName = Annotated[str, typer.Argument(metavar="GROUP", help="Name of a group.")]
Email = Annotated[str | None, typer.Option("--email", help="Email address. Empty for none.")]
DisplayName = Annotated[str | None, typer.Option("--display-name", help="Display name.")]
Roles = Annotated[list[str] | None, typer.Option("--role", help="Role: viewer, editor, approver or admin. Repeatable.")]
InGroups = Annotated[list[str] | None, typer.Option("--group", help="Group. Repeatable.")]
Description = Annotated[str | None, typer.Option("--description", help="Description of the group.")]
Members = Annotated[list[str] | None, typer.Option("--member", help="Member. Repeatable.")]


# ---- users -----------------------------------------------------------------------------------------------
@users_app.command("list")
@online()
async def list_users(
    ctx: CliContext,
    search: Annotated[str, typer.Option("--search", help="Filter by text in the name or address.")] = "",
    removed: Annotated[bool, typer.Option("--removed", help="Include removed users.")] = False,
    limit: Limit = 50,
) -> None:
    """List users by name.

    Example: cairn users list --search example.com
    """
    found = await ctx.client.list_users(search=search, removed=removed, most=limit)
    heads = ("name", "shown as", "email", "roles", "groups", "last signed in")
    rows = [
        (
            user["name"] + (" (removed)" if user["removed_at"] else ""),
            user["display_name"],
            user["email"],
            ", ".join(user["roles"]),
            ", ".join(user["groups"]),
            moment(user["last_signed_in_at"]),
        )
        for user in found["items"]
    ]
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="Nobody."))


@users_app.command("directory")
@online()
async def list_directory(
    ctx: CliContext,
    search: Annotated[str, typer.Option("--search", help="Filter by text in the name or address.")] = "",
    limit: Limit = 50,
) -> None:
    """List the names that can be used for approvers. Visible to every user.

    Example: cairn users directory
    """
    found = await ctx.client.list_people(search=search, most=limit)
    rows = [
        (one["name"], one["display_name"], ", ".join(one["groups"]), "yes" if one["can_decide"] else "")
        for one in found["items"]
    ]
    ctx.show(found, lambda _: ctx.screen.table(("name", "shown as", "groups", "may decide"), rows, empty="Nobody."))


@users_app.command("show")
@online()
async def show_user(ctx: CliContext, name: UserName) -> None:
    """Show a user.

    Example: cairn users show reviewer
    """
    ctx.show(await ctx.client.get_user(name), lambda user: _facts(ctx, user))


@users_app.command("add")
@online("saves")
async def add_user(
    ctx: CliContext,
    name: UserName,
    roles: Roles = None,
    email: Email = None,
    display_name: DisplayName = None,
    groups: InGroups = None,
) -> None:
    """Create a user without a password, for programs or for sign-in with a provider.

    Example: cairn users add importer --role editor
    """
    wanted = {"name": name, **_given(display_name, email, roles, groups)}
    ctx.show(await ctx.client.create_user(wanted), lambda user: _facts(ctx, user))


@users_app.command("invite")
@online("saves")
async def invite(
    ctx: CliContext,
    name: UserName,
    roles: Roles = None,
    email: Email = None,
    display_name: DisplayName = None,
    groups: InGroups = None,
    hours: Annotated[int, typer.Option("--hours", min=1, max=720, help="Hours until the invitation expires.")] = 72,
) -> None:
    """Invite a user, or let an existing user set a new password. Prints the path of the link to send.

    Example: cairn users invite reviewer --email reviewer@example.com --role approver
    """
    wanted = {"name": name, "valid_hours": hours, **_given(display_name, email, roles, groups)}
    made = await ctx.client.create_invitation(wanted)
    if not ctx.screen.as_json:
        until = moment(made["expires_at"])
        tell(f"Send this to {name}, behind the address of the server. It works once, until {until}.")
    ctx.show(made, lambda one: ctx.screen.line(one["path"]))


@users_app.command("invitations")
@online()
async def invitations(
    ctx: CliContext,
    over: Annotated[bool, typer.Option("--all", help="Include ended ones.")] = False,
    revoke: Annotated[str | None, typer.Option("--revoke", metavar="ID", help="Revoke this invitation first.")] = None,
    limit: Limit = 50,
) -> None:
    """List open invitations, newest first.

    Example: cairn users invitations
    """
    if revoke is not None:
        await ctx.client.revoke_invitation(revoke)
    found = await ctx.client.list_invitations(over=over, most=limit)
    rows = [
        (one["invitation_id"], one["user"], moment(one["expires_at"]), one["created_by"], _state(one))
        for one in found["items"]
    ]
    heads = ("id", "for", "until", "by", "state")
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="Nobody is invited."))


@users_app.command("update")
@online("saves")
async def update_user(
    ctx: CliContext,
    name: UserName,
    roles: Roles = None,
    email: Email = None,
    display_name: DisplayName = None,
    groups: InGroups = None,
    no_roles: Annotated[bool, typer.Option("--no-roles", help="Remove all roles.")] = False,
    no_groups: Annotated[bool, typer.Option("--no-groups", help="Remove the user from all groups.")] = False,
) -> None:
    """Update a user. Given values replace the current ones.

    Example: cairn users update reviewer --role viewer --role approver
    """
    wanted = _given(display_name, email, roles, groups)
    wanted |= {"roles": []} if no_roles else {}
    wanted |= {"groups": []} if no_groups else {}
    ctx.show(await ctx.client.update_user(name, wanted), lambda user: _facts(ctx, user))


@users_app.command("remove")
@online("saves")
async def remove_user(ctx: CliContext, name: UserName) -> None:
    """Remove a user and end all sessions and tokens. The name stays reserved.

    Example: cairn users remove reviewer
    """
    ctx.show(await ctx.client.remove_user(name), lambda user: ctx.screen.line(f"{user['name']}: removed"))


@users_app.command("restore")
@online("saves")
async def restore_user(ctx: CliContext, name: UserName) -> None:
    """Restore a removed user.

    Example: cairn users restore reviewer
    """
    ctx.show(await ctx.client.restore_user(name), lambda user: ctx.screen.line(f"{user['name']}: back"))


def _given(
    display_name: str | None, email: str | None, roles: list[str] | None, groups: list[str] | None
) -> dict[str, Any]:
    given = {"display_name": display_name, "email": email, "roles": roles or None, "groups": groups or None}
    return {name: value for name, value in given.items() if value is not None}


def _facts(ctx: CliContext, user: Answer) -> None:
    shown = {**user, "roles": ", ".join(user["roles"]), "groups": ", ".join(user["groups"])}
    ctx.screen.facts((name.replace("_", " "), value) for name, value in shown.items())


def _state(invitation: Answer) -> str:
    if invitation["is_open"]:
        return "open"
    return "accepted" if invitation["accepted_at"] else "taken back" if invitation["revoked_at"] else "too old"


# ---- groups ----------------------------------------------------------------------------------------------
@groups_app.command("list")
@online()
async def list_groups(ctx: CliContext, limit: Limit = 50) -> None:
    """List groups by name.

    Example: cairn groups list
    """
    found = await ctx.client.list_groups(most=limit)
    rows = [(one["name"], one["description"], ", ".join(one["members"])) for one in found["items"]]
    ctx.show(found, lambda _: ctx.screen.table(("name", "description", "members"), rows, empty="No groups."))


@groups_app.command("show")
@online()
async def show_group(ctx: CliContext, name: GroupName) -> None:
    """Show a group.

    Example: cairn groups show finance
    """
    ctx.show(await ctx.client.get_group(name), lambda one: _group_facts(ctx, one))


@groups_app.command("add")
@online("saves")
async def add_group(ctx: CliContext, name: GroupName, description: Description = None, members: Members = None) -> None:
    """Create a group.

    Example: cairn groups add finance --member reviewer
    """
    wanted = {"name": name, "description": description or "", "members": members or []}
    ctx.show(await ctx.client.create_group(wanted), lambda one: _group_facts(ctx, one))


@groups_app.command("update")
@online("saves")
async def update_group(
    ctx: CliContext,
    name: GroupName,
    description: Description = None,
    members: Members = None,
    no_members: Annotated[bool, typer.Option("--no-members", help="Remove all members.")] = False,
) -> None:
    """Update a group. Given members replace the current ones.

    Example: cairn groups update finance --member reviewer --member second-reviewer
    """
    wanted: dict[str, Any] = {} if description is None else {"description": description}
    if members or no_members:
        wanted["members"] = [] if no_members else members
    ctx.show(await ctx.client.update_group(name, wanted), lambda one: _group_facts(ctx, one))


@groups_app.command("remove")
@online("saves")
async def remove_group(ctx: CliContext, name: GroupName) -> None:
    """Remove a group. Its members stay.

    Example: cairn groups remove finance
    """
    await ctx.client.remove_group(name)
    ctx.show({"name": name}, lambda one: ctx.screen.line(f"{one['name']}: removed"))


def _group_facts(ctx: CliContext, one: Answer) -> None:
    ctx.screen.facts(
        (name.replace("_", " "), ", ".join(value) if name == "members" else value) for name, value in one.items()
    )
