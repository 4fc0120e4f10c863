"""Users, groups, and who decides for whom."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import Answer
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.output import moment, tell

users_app = group("Users; without a command, the list.")
groups_app = group("Groups of users; without a command, the list.")
delegations_app = group("Who decides for whom; without a command, the list.")

UserName = Annotated[str, typer.Argument(metavar="USER", help="Name of a user.")]
GroupName = Annotated[str, typer.Argument(metavar="GROUP", help="Name of a group.")]
Email = Annotated[str | None, typer.Option("--email", help="Address; empty for none.")]
DisplayName = Annotated[str | None, typer.Option("--display-name", help="How the user is shown.")]
Roles = Annotated[
    list[str] | None, typer.Option("--role", help="viewer, editor, approver or admin; may be given several times.")
]
InGroups = Annotated[list[str] | None, typer.Option("--group", help="A group; may be given several times.")]
Description = Annotated[str | None, typer.Option("--description", help="What the group is for.")]
Members = Annotated[list[str] | None, typer.Option("--member", help="A user; may be given several times.")]


# ---- users -----------------------------------------------------------------------------------------------
@users_app.command("list")
@online()
async def list_users(
    desk: CliContext,
    search: Annotated[str, typer.Option("--search", help="Part of a name or an address.")] = "",
    removed: Annotated[bool, typer.Option("--removed", help="Also those who were removed.")] = False,
    limit: Limit = 50,
) -> None:
    """List users, by name.

    Example: cairn users list --search example.com
    """
    found = await desk.client.list_users(search=search, removed=removed, most=limit)
    heads = ("name", "shown as", "email", "roles", "groups", "last signed in")
    rows = [
        (
            user["name"] + (" (removed)" if user["removed_at"] else ""),
            user["display_name"],
            user["email"],
            ", ".join(user["roles"]),
            ", ".join(user["groups"]),
            moment(user["signed_in_at"]),
        )
        for user in found["items"]
    ]
    desk.show(found, lambda _: desk.screen.table(heads, rows, empty="Nobody."))


@users_app.command("names")
@online()
async def names(
    desk: CliContext,
    search: Annotated[str, typer.Option("--search", help="Part of a name or an address.")] = "",
    limit: Limit = 50,
) -> None:
    """List who can be named where people are asked. Everybody may see these.

    Example: cairn users names
    """
    found = await desk.client.list_people(search=search, most=limit)
    rows = [
        (one["name"], one["display_name"], ", ".join(one["groups"]), "yes" if one["may_decide"] else "")
        for one in found["items"]
    ]
    desk.show(found, lambda _: desk.screen.table(("name", "shown as", "groups", "may decide"), rows, empty="Nobody."))


@users_app.command("show")
@online()
async def show_user(desk: CliContext, name: UserName) -> None:
    """Show a user.

    Example: cairn users show reviewer
    """
    desk.show(await desk.client.get_user(name), lambda user: _facts(desk, user))


@users_app.command("add")
@online("saves")
async def add_user(
    desk: CliContext,
    name: UserName,
    roles: Roles = None,
    email: Email = None,
    display_name: DisplayName = None,
    groups: InGroups = None,
) -> None:
    """Make a user without a password: for programs, or for who signs in with a provider.

    Example: cairn users add importer --role editor
    """
    wanted = {"name": name, **_given(display_name, email, roles, groups)}
    desk.show(await desk.client.create_user(wanted), lambda user: _facts(desk, user))


@users_app.command("invite")
@online("saves")
async def invite(
    desk: CliContext,
    name: UserName,
    roles: Roles = None,
    email: Email = None,
    display_name: DisplayName = None,
    groups: InGroups = None,
    hours: Annotated[int, typer.Option("--hours", min=1, max=720, help="How long it can be accepted.")] = 72,
) -> None:
    """Invite somebody; with the name alone, let a user set a new password. Prints the path to send.

    Example: cairn users invite reviewer --email reviewer@example.com --role approver
    """
    wanted = {"name": name, "valid_hours": hours, **_given(display_name, email, roles, groups)}
    made = await desk.client.create_invitation(wanted)
    if not desk.screen.as_json:
        until = moment(made["expires_at"])
        tell(f"Send this to {name}, behind the address of the server. It works once, until {until}.")
    desk.show(made, lambda one: desk.screen.line(one["path"]))


@users_app.command("invitations")
@online()
async def invitations(
    desk: CliContext,
    over: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    revoke: Annotated[str | None, typer.Option("--revoke", metavar="ID", help="Take this one back first.")] = None,
    limit: Limit = 50,
) -> None:
    """List open invitations, newest first.

    Example: cairn users invitations
    """
    if revoke is not None:
        await desk.client.revoke_invitation(revoke)
    found = await desk.client.list_invitations(over=over, most=limit)
    rows = [
        (one["invitation_id"], one["user"], moment(one["expires_at"]), one["created_by"], _state(one))
        for one in found["items"]
    ]
    heads = ("id", "for", "until", "by", "state")
    desk.show(found, lambda _: desk.screen.table(heads, rows, empty="Nobody is invited."))


@users_app.command("change")
@online("saves")
async def change_user(
    desk: CliContext,
    name: UserName,
    roles: Roles = None,
    email: Email = None,
    display_name: DisplayName = None,
    groups: InGroups = None,
    no_roles: Annotated[bool, typer.Option("--no-roles", help="Take all roles away.")] = False,
    no_groups: Annotated[bool, typer.Option("--no-groups", help="Out of all groups.")] = False,
) -> None:
    """Change a user: what is given takes the place of what was.

    Example: cairn users change reviewer --role viewer --role approver
    """
    wanted = _given(display_name, email, roles, groups)
    wanted |= {"roles": []} if no_roles else {}
    wanted |= {"groups": []} if no_groups else {}
    desk.show(await desk.client.update_user(name, wanted), lambda user: _facts(desk, user))


@users_app.command("remove")
@online("saves")
async def remove_user(desk: CliContext, name: UserName) -> None:
    """Remove a user: sessions and tokens end at once. The name stays taken.

    Example: cairn users remove reviewer
    """
    desk.show(await desk.client.remove_user(name), lambda user: desk.screen.line(f"{user['name']}: removed"))


@users_app.command("restore")
@online("saves")
async def restore_user(desk: CliContext, name: UserName) -> None:
    """Bring back a user who was removed.

    Example: cairn users restore reviewer
    """
    desk.show(await desk.client.restore_user(name), lambda user: desk.screen.line(f"{user['name']}: back"))


def _given(
    display_name: str | None, email: str | None, roles: list[str] | None, groups: list[str] | None
) -> dict[str, Any]:
    given = {"display_name": display_name, "email": email, "roles": roles or None, "groups": groups or None}
    return {name: value for name, value in given.items() if value is not None}


def _facts(desk: CliContext, user: Answer) -> None:
    shown = {**user, "roles": ", ".join(user["roles"]), "groups": ", ".join(user["groups"])}
    desk.screen.facts((name.replace("_", " "), value) for name, value in shown.items())


def _state(invitation: Answer) -> str:
    if invitation["is_open"]:
        return "open"
    return "accepted" if invitation["accepted_at"] else "taken back" if invitation["revoked_at"] else "too old"


# ---- groups ----------------------------------------------------------------------------------------------
@groups_app.command("list")
@online()
async def list_groups(desk: CliContext, limit: Limit = 50) -> None:
    """List groups, by name.

    Example: cairn groups list
    """
    found = await desk.client.list_groups(most=limit)
    rows = [(one["name"], one["description"], ", ".join(one["members"])) for one in found["items"]]
    desk.show(found, lambda _: desk.screen.table(("name", "description", "members"), rows, empty="No groups."))


@groups_app.command("show")
@online()
async def show_group(desk: CliContext, name: GroupName) -> None:
    """Show a group.

    Example: cairn groups show finance
    """
    desk.show(await desk.client.get_group(name), lambda one: _group_facts(desk, one))


@groups_app.command("add")
@online("saves")
async def add_group(
    desk: CliContext, name: GroupName, description: Description = None, members: Members = None
) -> None:
    """Make a group.

    Example: cairn groups add finance --member reviewer
    """
    wanted = {"name": name, "description": description or "", "members": members or []}
    desk.show(await desk.client.create_group(wanted), lambda one: _group_facts(desk, one))


@groups_app.command("change")
@online("saves")
async def change_group(
    desk: CliContext,
    name: GroupName,
    description: Description = None,
    members: Members = None,
    no_members: Annotated[bool, typer.Option("--no-members", help="Without any member.")] = False,
) -> None:
    """Change a group: members that are given take the place of those it had.

    Example: cairn groups change finance --member reviewer --member second-reviewer
    """
    wanted: dict[str, Any] = {} if description is None else {"description": description}
    if members or no_members:
        wanted["members"] = [] if no_members else members
    desk.show(await desk.client.update_group(name, wanted), lambda one: _group_facts(desk, one))


@groups_app.command("remove")
@online("saves")
async def remove_group(desk: CliContext, name: GroupName) -> None:
    """Remove a group; its members stay.

    Example: cairn groups remove finance
    """
    await desk.client.remove_group(name)
    desk.show({"name": name}, lambda one: desk.screen.line(f"{one['name']}: removed"))


def _group_facts(desk: CliContext, one: Answer) -> None:
    desk.screen.facts(
        (name.replace("_", " "), ", ".join(value) if name == "members" else value) for name, value in one.items()
    )
