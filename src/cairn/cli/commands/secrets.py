"""Commands for secrets."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit, read_bytes
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time
from cairn.cli.prompts import read_secret

secrets_app = group("Manage secrets of the server.")
SecretName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the secret.")]
Hosts = Annotated[
    list[str] | None, typer.Option("--host", help="Host that may receive it, such as api.example.com. Can be repeated.")
]
Pipelines = Annotated[
    list[str] | None,
    typer.Option("--pipeline", help="Name or id of a pipeline that may use it, or * for all. Can be repeated."),
]
ActionTypes = Annotated[
    list[str] | None,
    typer.Option("--type", help="Action type, or mcp:SERVER for the settings of an MCP server. Can be repeated."),
]


@secrets_app.command("list")
@online()
async def list_secrets(ctx: CliContext, limit: Limit = 50) -> None:
    """List secrets by name. Values are never shown.

    Example: cairn secrets list
    """
    page = await ctx.client.list_secrets(limit=limit)
    rows = [
        (
            secret["name"],
            secret["updated_by"],
            local_time(secret["updated_at"]),
            _uses_text(secret),
            "" if secret["is_readable"] else "encryption key missing",
        )
        for secret in page["items"]
    ]
    ctx.show(
        page,
        lambda _: ctx.output.table(
            ("name", "updated by", "updated", "uses", "problem"), rows, empty="No secrets found."
        ),
    )


@secrets_app.command("put")
@online("write")
async def put_secret(
    ctx: CliContext,
    name: SecretName,
    file: Annotated[str | None, typer.Option("--file", help="File to read the value from. Use - for stdin.")] = None,
) -> None:
    """Set a secret, from a prompt or a file. There is no argument, because other users could see it.

    Example: cairn secrets put smtp-password
    """
    if file is None:
        value = read_secret(f"Value of {name}")
    else:
        try:
            value = read_bytes(file).decode().removesuffix("\n")
        except UnicodeDecodeError:
            raise CommandFailed(ExitCode.USAGE, f"{file} is not UTF-8 text.") from None
    ctx.show(await ctx.client.put_secret(name, value), lambda secret: ctx.output.line(f"{secret['name']}: stored"))


@secrets_app.command("allow")
@online("write")
async def allow_secret(
    ctx: CliContext, name: SecretName, host: Hosts = None, pipeline: Pipelines = None, action_type: ActionTypes = None
) -> None:
    """Allow uses of a secret in actions and tools: hosts, pipelines and action types, which all have to match.

    Example: cairn secrets allow bank-token --host api.bank.example --pipeline Refunds --type http_request
    """
    if not (host or pipeline or action_type):
        raise CommandFailed(ExitCode.USAGE, "Nothing to allow. Use --host, --pipeline or --type.")
    uses = (await _find_secret(ctx, name))["uses"]
    added = {"hosts": host, "pipelines": pipeline, "action_types": action_type}
    await _set_uses(ctx, name, {key: [*uses[key], *(values or [])] for key, values in added.items()})


@secrets_app.command("disallow")
@online("write")
async def disallow_secret(
    ctx: CliContext, name: SecretName, host: Hosts = None, pipeline: Pipelines = None, action_type: ActionTypes = None
) -> None:
    """Remove allowed uses of a secret. Without options, removes all of them.

    Example: cairn secrets disallow bank-token --host api.bank.example
    """
    secret = await _find_secret(ctx, name)
    uses, ids = secret["uses"], {text: key for key, text in secret["pipeline_names"].items()}
    pipelines = [ids.get(text, text) for text in pipeline or []]
    removed = {"hosts": host or [], "pipelines": pipelines, "action_types": action_type or []}
    if not any(removed.values()):
        removed = uses
    unknown = [text for key, texts in removed.items() for text in texts if text not in uses[key]]
    if unknown:
        raise CommandFailed(ExitCode.NOT_FOUND, f"{name} isn't allowed for {', '.join(unknown)}.")
    await _set_uses(ctx, name, {key: [text for text in uses[key] if text not in removed[key]] for key in uses})


@secrets_app.command("remove")
@online("write")
async def remove_secret(ctx: CliContext, name: SecretName) -> None:
    """Remove a secret. Everything that uses it fails until you set it again.

    Example: cairn secrets remove smtp-password
    """
    await ctx.client.remove_secret(name)
    ctx.show({"name": name}, lambda secret: ctx.output.line(f"{secret['name']}: removed"))


@secrets_app.command("rotate")
@online("write")
async def rotate_secrets(ctx: CliContext) -> None:
    """Re-encrypt all secrets with a new key. If CAIRN_SECRET_KEY is set, uses its newest key.

    Example: cairn secrets rotate
    """
    rotation = await ctx.client.rotate_secrets()
    ctx.show(rotation, lambda rotation: ctx.output.line(f"Secrets encrypted with the new key: {rotation['count']}"))


async def _find_secret(ctx: CliContext, name: str) -> JsonObject:
    secrets = (await ctx.client.list_secrets())["items"]
    found = next((secret for secret in secrets if secret["name"] == name), None)
    if found is None:
        raise CommandFailed(ExitCode.NOT_FOUND, f"There is no secret {name}.")
    return found


async def _set_uses(ctx: CliContext, name: str, uses: JsonObject) -> None:
    saved = await ctx.client.set_secret_uses(name, uses)
    ctx.show(saved, lambda secret: ctx.output.line(f"{secret['name']}: {_uses_text(secret) or 'no uses allowed'}"))


def _uses_text(secret: JsonObject) -> str:
    """What it may be used for, or nothing if no use is allowed."""
    uses, names = secret["uses"], secret["pipeline_names"]
    pipelines = ["all pipelines" if key == "*" else names.get(key, key) for key in uses["pipelines"]]
    parts = (", ".join(uses["action_types"]), ", ".join(uses["hosts"]), ", ".join(pipelines))
    return " · ".join(part for part in parts if part)
