"""Commands for artifacts."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Annotated

import typer

from cairn.cli.arguments import Limit, os_reason
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import file_size
from cairn.cli.references import file_name
from cairn.cli.rendering import field_pairs, show_artifacts

artifacts_app = group("List, show and download artifacts.")
ArtifactName = Annotated[
    str, typer.Argument(metavar="ARTIFACT", help="An artifact: id, 'run/name', or 'run/key/name'.")
]


@artifacts_app.command("list")
@online()
async def list_artifacts(
    ctx: CliContext,
    name: Annotated[str | None, typer.Argument(metavar="RUN|RUN/KEY", help="Filter by run or execution.")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    limit: Limit = 50,
) -> None:
    """List current artifacts, oldest first.

    Example: cairn artifacts list "Text report@v1"
    """
    target = await ctx.resolver.target(name) if name else {}
    page = await ctx.client.list_artifacts(
        run_id=target.get("run_id"),
        execution_id=target.get("execution_id"),
        pipeline_id=(await ctx.resolver.pipeline(pipeline))["pipeline_id"] if pipeline else None,
        limit=limit,
    )
    ctx.show(page, lambda page: show_artifacts(ctx.output, page["items"]))


@artifacts_app.command("show")
@online()
async def show_artifact(
    ctx: CliContext,
    name: ArtifactName,
    metadata: Annotated[bool, typer.Option("--metadata", help="Print metadata instead of the content.")] = False,
) -> None:
    """Print the content of an artifact. Use --metadata or --json for its metadata.

    Example: cairn artifacts show "Text report@v1/report"
    """
    match = await ctx.resolver.artifact(name)
    artifact = await ctx.client.get_artifact(match["artifact_record_id"])
    if ctx.output.as_json:
        ctx.output.json(artifact)
    elif metadata:
        ctx.output.fields(field_pairs(artifact))
    else:
        await _print(ctx, artifact)


async def _print(ctx: CliContext, artifact: JsonObject) -> None:
    """Print bytes unchanged in a pipe. On a terminal, print text with control characters escaped."""
    async with aclosing(ctx.client.get_artifact_content(artifact["artifact_record_id"])) as chunks:
        if not ctx.output.is_terminal:
            ctx.output.out.flush()
            async for chunk in chunks:
                sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
            return
        content = b"".join([chunk async for chunk in chunks])
    try:
        ctx.output.raw(content.decode())
    except UnicodeDecodeError:
        raise CommandFailed(
            ExitCode.FAILED, f"{file_name(artifact)} is not text. Use `cairn artifacts download`."
        ) from None


@artifacts_app.command("download")
@online()
async def download(
    ctx: CliContext,
    name: ArtifactName,
    to: Annotated[Path | None, typer.Option("--to", "-o", help="File or folder. Use - for stdout.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")] = False,
) -> None:
    """Save an artifact as a file, byte for byte.

    Example: cairn artifacts download "Text report@v1/report" --to report.md
    """
    artifact = await ctx.resolver.artifact(name)
    if str(to) == "-":
        async with aclosing(ctx.client.download_artifact(artifact["artifact_record_id"])) as chunks:
            async for chunk in chunks:
                sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        return
    safe_name = "".join(c if c.isprintable() and c not in "/\\\0" else "_" for c in file_name(artifact))
    file = to / safe_name if to is not None and to.is_dir() else to or Path(safe_name)
    await save(ctx.client.download_artifact(artifact["artifact_record_id"]), file, overwrite=overwrite)
    ctx.show({"file": str(file), **artifact}, lambda _: ctx.output.line(f"{file}  {file_size(artifact['size_bytes'])}"))


def _exists(file: Path) -> bool:
    return file.exists()


async def save(content: AsyncGenerator[bytes], file: Path, *, overwrite: bool) -> None:
    """Write a temporary file and rename it, so that an interrupted download leaves no partial file."""
    if _exists(file) and not overwrite:
        raise CommandFailed(ExitCode.FAILED, f"{file} already exists. Use --overwrite to replace it.")
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        try:
            with temporary.open("wb") as out:
                async with aclosing(content) as chunks:
                    async for chunk in chunks:
                        out.write(chunk)
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise CommandFailed(ExitCode.USAGE, f"Can't write {file}: {os_reason(error)}.") from None
