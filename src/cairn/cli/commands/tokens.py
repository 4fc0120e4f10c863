"""Tokens, sessions, delegations and secrets."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit, read_bytes
from cairn.cli.client import Answer
from cairn.cli.command_groups import group
from cairn.cli.commands.users import delegations_app
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import moment, tell
from cairn.cli.prompts import ask_hidden

tokens_app = group("Manage API tokens.")
sessions_app = group("Manage open sessions.")
secrets_app = group("Manage secrets of the server.")

OfUser = Annotated[str | None, typer.Option("--user", help="Filter by user.")]
Over = Annotated[bool, typer.Option("--all", help="Include ended ones.")]
SecretName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the secret.")]


# ---- tokens ----------------------------------------------------------------------------------------------
@tokens_app.command("list")
@online()
async def list_tokens(ctx: CliContext, user: OfUser = None, over: Over = False, limit: Limit = 50) -> None:
    """List tokens, newest first, without their values. Only admins see those of others.

    Example: cairn tokens list
    """
    if await _is_on_own(ctx, user):
        found = await ctx.client.list_own_tokens(over=over, most=limit)
    else:
        found = await ctx.client.list_tokens(user=user, over=over, most=limit)
    rows = [
        (
            one["token_id"],
            one["user"],
            one["name"],
            "all" if one["scopes"] is None else ", ".join(one["scopes"]),
            moment(one["expires_at"]) or "never",
            moment(one["last_used_at"]),
            "" if one["is_valid"] else "over",
        )
        for one in found["items"]
    ]
    heads = ("id", "user", "for", "scopes", "ends", "last used", "state")
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="No tokens."))


@tokens_app.command("create")
@online("saves")
async def create_token(
    ctx: CliContext,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Purpose of the token.")],
    user: OfUser = None,
    scopes: Annotated[
        list[str] | None,
        typer.Option("--scope", help="Scope: read, run, decide, define or admin. Repeatable. Default: all."),
    ] = None,
    days: Annotated[int, typer.Option("--days", min=0, max=3650, help="Validity in days. Use 0 for no expiry.")] = 90,
) -> None:
    """Create a token and print it once. Without the admin role: your own, for up to a year.

    Example: cairn tokens create "nightly import" --user importer --scope run --days 365
    """
    wanted: dict[str, Any] = {"name": name, "scopes": scopes or None, "valid_days": days or None}
    if await _is_on_own(ctx, user):
        if days == 0:
            raise CommandFailed(ExitCode.USAGE, "A token of your own has an end: say --days, 365 at most.")
        made = await ctx.client.create_own_token(wanted)
    else:
        made = await ctx.client.create_token({**wanted, "user": user})
    if not ctx.screen.as_json:
        tell(f"A token of {made['user']}; it is not shown again.")
    ctx.show(made, lambda one: ctx.screen.line(one["token"]))


@tokens_app.command("revoke")
@online("saves")
async def revoke_token(
    ctx: CliContext,
    token_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the token, as listed.")],
) -> None:
    """Revoke a token and end the sessions opened with it. Only admins can revoke those of others.

    Example: cairn tokens revoke 0b9c9a3e-3f5e-5d3c-8a54-0e5e2a0f9d11
    """
    if await _is_on_own(ctx):
        revoked = await ctx.client.revoke_own_token(token_id)
    else:
        revoked = await ctx.client.revoke_token(token_id)
    ctx.show(revoked, lambda one: ctx.screen.line(f"{one['name']}: revoked"))


async def _is_on_own(ctx: CliContext, user: str | None = None) -> bool:
    """Whether it is about the tokens of who asks: others' are for admins."""
    return user is None and "admin" not in (await ctx.client.get_session())["roles"]


# ---- sessions --------------------------------------------------------------------------------------------
@sessions_app.command("list")
@online()
async def list_sessions(ctx: CliContext, user: OfUser = None, limit: Limit = 50) -> None:
    """List open sessions, newest first.

    Example: cairn sessions list --user reviewer
    """
    found = await ctx.client.list_sessions(user=user, most=limit)
    rows = [
        (one["session_id"], one["user"], one["signed_in_with"], one["address"], moment(one["created_at"]))
        for one in found["items"]
    ]
    heads = ("id", "user", "signed in with", "from", "since")
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="No sessions."))


@sessions_app.command("end")
@online("saves")
async def end_sessions(
    ctx: CliContext,
    session_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Id of one session. Default: all sessions.")
    ] = None,
    user: OfUser = None,
) -> None:
    """End one session, or all sessions of a user.

    Example: cairn sessions end --user reviewer
    """
    if session_id is not None:
        await ctx.client.end_session(session_id)
        ended: Answer = {"count": 1}
    else:
        ended = await ctx.client.end_sessions(user=user)
    ctx.show(ended, lambda one: ctx.screen.line(f"{one['count']} ended"))


# ---- delegations -----------------------------------------------------------------------------------------
@delegations_app.command("list")
@online()
async def list_delegations(ctx: CliContext, user: OfUser = None, over: Over = False, limit: Limit = 50) -> None:
    """List current and future delegations.

    Example: cairn delegations list
    """
    found = await ctx.client.list_delegations(user=user, over=over, most=limit)
    rows = [
        (one["delegation_id"], one["from_user"], one["to_user"], moment(one["starts_at"]), moment(one["ends_at"]))
        for one in found["items"]
    ]
    heads = ("id", "away", "decides", "from", "until")
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="Everybody decides for themselves."))


@delegations_app.command("show")
@online()
async def show_delegation(
    ctx: CliContext, delegation_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the delegation.")]
) -> None:
    """Show a delegation.

    Example: cairn delegations show 0b9c9a3e-3f5e-5d3c-8a54-0e5e2a0f9d11
    """
    found = await ctx.client.get_delegation(delegation_id)
    ctx.show(found, lambda one: ctx.screen.facts((name.replace("_", " "), value) for name, value in one.items()))


@delegations_app.command("add")
@online("saves")
async def add_delegation(
    ctx: CliContext,
    to_user: Annotated[str, typer.Argument(metavar="USER", help="User who decides in the meantime.")],
    until: Annotated[str, typer.Option("--until", help="End time, such as 2026-03-16T09:30:00Z.")],
    starts_at: Annotated[str | None, typer.Option("--from", help="Start time. Default: now.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="User who is away. Default: you.")] = None,
    reason: Annotated[str, typer.Option("--reason", help="Reason.")] = "",
) -> None:
    """Let another user decide for you while you are away. Admins can do this for others.

    Example: cairn delegations add second-reviewer --user reviewer --until 2030-03-16T09:30:00Z
    """
    wanted: dict[str, Any] = {"to_user": to_user, "ends_at": until, "starts_at": starts_at, "reason": reason}
    made = await ctx.client.create_delegation({**wanted, "from_user": user})
    told = "{to_user} decides for {from_user}"
    ctx.show(made, lambda one: ctx.screen.line(f"{told.format(**one)} until {moment(one['ends_at'])}"))


@delegations_app.command("end")
@online("saves")
async def end_delegation(
    ctx: CliContext, delegation_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the delegation.")]
) -> None:
    """End a delegation early.

    Example: cairn delegations end 0b9c9a3e-3f5e-5d3c-8a54-0e5e2a0f9d11
    """
    ended = await ctx.client.end_delegation(delegation_id)
    told = "{to_user} no longer decides for {from_user}"
    ctx.show(ended, lambda one: ctx.screen.line(told.format(**one)))


# ---- secrets ---------------------------------------------------------------------------------------------
@secrets_app.command("list")
@online()
async def list_secrets(ctx: CliContext, limit: Limit = 50) -> None:
    """List secrets by name, without their values.

    Example: cairn secrets list
    """
    found = await ctx.client.list_secrets(most=limit)
    rows = [
        (one["name"], one["updated_by"], moment(one["updated_at"]), "" if one["is_readable"] else "its key is missing")
        for one in found["items"]
    ]
    ctx.show(found, lambda _: ctx.screen.table(("name", "changed by", "when", "remark"), rows, empty="No secrets."))


@secrets_app.command("put")
@online("saves")
async def put_secret(
    ctx: CliContext,
    name: SecretName,
    file: Annotated[str | None, typer.Option("--file", help="File to read the value from. Use - for stdin.")] = None,
) -> None:
    """Set or replace a secret from a prompt or a file. Arguments would be visible to other users.

    Example: cairn secrets put smtp-password
    """
    if file is None:
        value = ask_hidden(f"Value of {name}")
    else:
        try:
            value = read_bytes(file).decode().removesuffix("\n")
        except UnicodeDecodeError:
            raise CommandFailed(ExitCode.USAGE, f"{file} is not text.") from None
    ctx.show(await ctx.client.put_secret(name, value), lambda one: ctx.screen.line(f"{one['name']}: stored"))


@secrets_app.command("remove")
@online("saves")
async def remove_secret(ctx: CliContext, name: SecretName) -> None:
    """Remove a secret. Whatever uses it fails from then on.

    Example: cairn secrets remove smtp-password
    """
    await ctx.client.remove_secret(name)
    ctx.show({"name": name}, lambda one: ctx.screen.line(f"{one['name']}: removed"))


@secrets_app.command("rotate")
@online("saves")
async def rotate_secrets(ctx: CliContext) -> None:
    """Re-encrypt all secrets with a new key, or with the newest key in CAIRN_SECRET_KEY.

    Example: cairn secrets rotate
    """
    done = await ctx.client.rotate_secrets()
    ctx.show(done, lambda one: ctx.screen.line(f"{one['count']} secrets are encrypted anew"))
