"""Commands for groups of users."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.rendering import field_pairs

groups_app = group("Manage groups of users.")
GroupName = Annotated[str, typer.Argument(metavar="GROUP", help="Name of a group.")]
Description = Annotated[str | None, typer.Option("--description", help="Description of the group.")]
Members = Annotated[list[str] | None, typer.Option("--member", help="Member. Repeatable.")]


@groups_app.command("list")
@online()
async def list_groups(ctx: CliContext, limit: Limit = 50) -> None:
    """List groups by name.

    Example: cairn groups list
    """
    page = await ctx.client.list_groups(limit=limit)
    rows = [(group["name"], group["description"], ", ".join(group["members"])) for group in page["items"]]
    ctx.show(page, lambda _: ctx.output.table(("name", "description", "members"), rows, empty="No groups found."))


@groups_app.command("show")
@online()
async def show_group(ctx: CliContext, name: GroupName) -> None:
    """Show a group.

    Example: cairn groups show finance
    """
    ctx.show(await ctx.client.get_group(name), lambda group: _print_group(ctx, group))


@groups_app.command("add")
@online("write")
async def add_group(ctx: CliContext, name: GroupName, description: Description = None, members: Members = None) -> None:
    """Create a group.

    Example: cairn groups add finance --member reviewer
    """
    spec = {"name": name, "description": description or "", "members": members or []}
    ctx.show(await ctx.client.create_group(spec), lambda group: _print_group(ctx, group))


@groups_app.command("update")
@online("write")
async def update_group(
    ctx: CliContext,
    name: GroupName,
    description: Description = None,
    members: Members = None,
    no_members: Annotated[bool, typer.Option("--no-members", help="Remove all members.")] = False,
) -> None:
    """Update a group. Only the given options change.

    Example: cairn groups update finance --member reviewer --member second-reviewer
    """
    fields: dict[str, Any] = {} if description is None else {"description": description}
    if members or no_members:
        fields["members"] = [] if no_members else members
    ctx.show(await ctx.client.update_group(name, fields), lambda group: _print_group(ctx, group))


@groups_app.command("delete")
@online("write")
async def delete_group(ctx: CliContext, name: GroupName) -> None:
    """Delete a group. Its members stay.

    Example: cairn groups delete finance
    """
    await ctx.client.delete_group(name)
    ctx.show({"name": name}, lambda group: ctx.output.line(f"{group['name']}: deleted"))


def _print_group(ctx: CliContext, group: JsonObject) -> None:
    ctx.output.fields(field_pairs(group))
