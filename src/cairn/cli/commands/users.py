"""Commands for users."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.output import local_time
from cairn.cli.rendering import field_pairs

users_app = group("Manage users.")
UserName = Annotated[str, typer.Argument(metavar="USER", help="Name of a user.")]
Email = Annotated[str | None, typer.Option("--email", help="Email address. Use an empty value to remove it.")]
DisplayName = Annotated[str | None, typer.Option("--display-name", help="Display name.")]
Roles = Annotated[list[str] | None, typer.Option("--role", help="Role: viewer, editor, approver or admin. Repeatable.")]
InGroups = Annotated[list[str] | None, typer.Option("--group", help="Group. Repeatable.")]
UserOption = Annotated[str | None, typer.Option("--user", help="Filter by user.")]


@users_app.command("list")
@online()
async def list_users(
    ctx: CliContext,
    search: Annotated[str, typer.Option("--search", help="Filter by text in the name or address.")] = "",
    deleted: Annotated[bool, typer.Option("--deleted", help="Include deleted users.")] = False,
    limit: Limit = 50,
) -> None:
    """List users by name.

    Example: cairn users list --search example.com
    """
    page = await ctx.client.list_users(search=search, deleted=deleted, limit=limit)
    headings = ("name", "display name", "email", "roles", "groups", "last sign-in")
    rows = [
        (
            user["name"] + (" (deleted)" if user["deleted_at"] else ""),
            user["display_name"],
            user["email"],
            ", ".join(user["roles"]),
            ", ".join(user["groups"]),
            local_time(user["last_signed_in_at"]),
        )
        for user in page["items"]
    ]
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No users found."))


@users_app.command("directory")
@online()
async def list_directory(
    ctx: CliContext,
    search: Annotated[str, typer.Option("--search", help="Filter by text in the name or address.")] = "",
    limit: Limit = 50,
) -> None:
    """List the users who can be named as approvers. Every user can see this list.

    Example: cairn users directory
    """
    page = await ctx.client.list_people(search=search, limit=limit)
    rows = [
        (entry["name"], entry["display_name"], ", ".join(entry["groups"]), "yes" if entry["can_decide"] else "")
        for entry in page["items"]
    ]
    ctx.show(
        page,
        lambda _: ctx.output.table(("name", "display name", "groups", "can decide"), rows, empty="No users found."),
    )


@users_app.command("show")
@online()
async def show_user(ctx: CliContext, name: UserName) -> None:
    """Show a user.

    Example: cairn users show reviewer
    """
    ctx.show(await ctx.client.get_user(name), lambda user: _print_user(ctx, user))


@users_app.command("add")
@online("write")
async def add_user(
    ctx: CliContext,
    name: UserName,
    roles: Roles = None,
    email: Email = None,
    display_name: DisplayName = None,
    groups: InGroups = None,
) -> None:
    """Create a user without a password. Use it for programs or sign-in with an identity provider.

    Example: cairn users add importer --role editor
    """
    spec = {"name": name, **user_fields(display_name, email, roles, groups)}
    ctx.show(await ctx.client.create_user(spec), lambda user: _print_user(ctx, user))


@users_app.command("update")
@online("write")
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
    """Update a user. Only the given options change.

    Example: cairn users update reviewer --role viewer --role approver
    """
    fields = user_fields(display_name, email, roles, groups)
    fields |= {"roles": []} if no_roles else {}
    fields |= {"groups": []} if no_groups else {}
    ctx.show(await ctx.client.update_user(name, fields), lambda user: _print_user(ctx, user))


@users_app.command("delete")
@online("write")
async def delete_user(ctx: CliContext, name: UserName) -> None:
    """Delete a user and end all sessions and tokens. The name stays reserved.

    Example: cairn users delete reviewer
    """
    ctx.show(await ctx.client.delete_user(name), lambda user: ctx.output.line(f"{user['name']}: deleted"))


@users_app.command("restore")
@online("write")
async def restore_user(ctx: CliContext, name: UserName) -> None:
    """Restore a deleted user.

    Example: cairn users restore reviewer
    """
    ctx.show(await ctx.client.restore_user(name), lambda user: ctx.output.line(f"{user['name']}: restored"))


def user_fields(
    display_name: str | None, email: str | None, roles: list[str] | None, groups: list[str] | None
) -> dict[str, Any]:
    fields = {"display_name": display_name, "email": email, "roles": roles or None, "groups": groups or None}
    return {name: value for name, value in fields.items() if value is not None}


def _print_user(ctx: CliContext, user: JsonObject) -> None:
    ctx.output.fields(field_pairs(user))
