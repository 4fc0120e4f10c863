"""Commands for API tokens."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit
from cairn.cli.command_groups import group
from cairn.cli.commands.users import UserOption
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time, print_status

tokens_app = group("Manage API tokens.")


@tokens_app.command("list")
@online()
async def list_tokens(
    ctx: CliContext,
    user: UserOption = None,
    include_ended: Annotated[bool, typer.Option("--all", help="Include expired and revoked tokens.")] = False,
    limit: Limit = 50,
) -> None:
    """List API tokens, newest first. Only admins see other users' tokens.

    Example: cairn tokens list
    """
    if await _manages_own_tokens(ctx, user):
        page = await ctx.client.list_own_tokens(include_ended=include_ended, limit=limit)
    else:
        page = await ctx.client.list_tokens(user=user, include_ended=include_ended, limit=limit)
    rows = [
        (
            token["token_id"],
            token["user"],
            token["name"],
            "all" if token["scopes"] is None else ", ".join(token["scopes"]),
            local_time(token["expires_at"]) or "never",
            local_time(token["last_used_at"]),
            "valid" if token["is_valid"] else "expired or revoked",
        )
        for token in page["items"]
    ]
    headings = ("id", "user", "name", "scopes", "expires", "last used", "status")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No tokens found."))


@tokens_app.command("create")
@online("write")
async def create_token(
    ctx: CliContext,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the token, such as its purpose.")],
    user: Annotated[str | None, typer.Option("--user", help="User of the token. Default: you.")] = None,
    scopes: Annotated[
        list[str] | None,
        typer.Option("--scope", help="Scope: read, run, decide, define or admin. Repeatable. Default: all."),
    ] = None,
    days: Annotated[int, typer.Option("--days", min=0, max=3650, help="Validity in days. Use 0 for no expiry.")] = 90,
) -> None:
    """Create an API token and print it once. Non-admins can create their own, for up to a year.

    Example: cairn tokens create "nightly import" --user importer --scope run --days 365
    """
    spec: dict[str, Any] = {"name": name, "scopes": scopes or None, "valid_days": days or None}
    if await _manages_own_tokens(ctx, user):
        if days == 0:
            raise CommandFailed(ExitCode.USAGE, "Your own tokens must expire. Use --days with at most 365.")
        created = await ctx.client.create_own_token(spec)
    else:
        created = await ctx.client.create_token({**spec, "user": user})
    if not ctx.output.as_json:
        print_status(f"Token for {created['user']}. Store it now, because it is not shown again.")
    ctx.show(created, lambda token: ctx.output.line(token["token"]))


@tokens_app.command("revoke")
@online("write")
async def revoke_token(
    ctx: CliContext,
    token_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the token, as listed.")],
) -> None:
    """Revoke a token and end its sessions. Only admins can revoke other users' tokens.

    Example: cairn tokens revoke 0b9c9a3e-3f5e-5d3c-8a54-0e5e2a0f9d11
    """
    if await _manages_own_tokens(ctx):
        revoked = await ctx.client.revoke_own_token(token_id)
    else:
        revoked = await ctx.client.revoke_token(token_id)
    ctx.show(revoked, lambda token: ctx.output.line(f"{token['name']}: revoked"))


async def _manages_own_tokens(ctx: CliContext, user: str | None = None) -> bool:
    """Whether to use the operations for your own tokens. Only admins manage all tokens."""
    return user is None and "admin" not in (await ctx.client.get_session())["roles"]
