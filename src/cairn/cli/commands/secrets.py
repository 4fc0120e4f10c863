"""Commands for secrets."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit, read_bytes
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time
from cairn.cli.prompts import read_secret

secrets_app = group("Manage secrets of the server.")
SecretName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the secret.")]


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
            "" if secret["is_readable"] else "encryption key missing",
        )
        for secret in page["items"]
    ]
    ctx.show(
        page, lambda _: ctx.output.table(("name", "updated by", "updated", "problem"), rows, empty="No secrets found.")
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


@secrets_app.command("delete")
@online("write")
async def delete_secret(ctx: CliContext, name: SecretName) -> None:
    """Delete a secret. Everything that uses it fails until you set it again.

    Example: cairn secrets delete smtp-password
    """
    await ctx.client.delete_secret(name)
    ctx.show({"name": name}, lambda secret: ctx.output.line(f"{secret['name']}: deleted"))


@secrets_app.command("rotate")
@online("write")
async def rotate_secrets(ctx: CliContext) -> None:
    """Re-encrypt all secrets with a new key. If CAIRN_SECRET_KEY is set, uses its newest key.

    Example: cairn secrets rotate
    """
    rotation = await ctx.client.rotate_secrets()
    ctx.show(rotation, lambda rotation: ctx.output.line(f"Secrets encrypted with the new key: {rotation['count']}"))
