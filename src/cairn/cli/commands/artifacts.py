"""What was made and what happened: artifacts, logs, context, events, the audit."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Annotated

import typer

from cairn.cli.arguments import ExecutionName, Limit
from cairn.cli.client import Answer, StreamMessage
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import moment, size, tell
from cairn.cli.references import file_name
from cairn.cli.rendering import show_artifacts
from cairn.cli.run_follower import follow_to
from cairn.cli.run_state import is_at_rest

artifacts_app = group("List, show and download artifacts.")
audit_app = typer.Typer(help="Verify the audit log.", no_args_is_help=True)
ArtifactName = Annotated[
    str, typer.Argument(metavar="ARTIFACT", help="An artifact: id, 'run/name', or 'run/key/name'.")
]


@artifacts_app.command("list")
@online()
async def list_artifacts(
    ctx: CliContext,
    name: Annotated[str | None, typer.Argument(metavar="RUN|RUN/KEY", help="Filter by pipeline.")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    limit: Limit = 50,
) -> None:
    """List current artifacts, oldest first.

    Example: cairn artifacts list "Text report@v1"
    """
    target = await ctx.naming.target(name) if name else {}
    found = await ctx.client.list_artifacts(
        run_id=target.get("run_id"),
        execution_id=target.get("execution_id"),
        pipeline_id=(await ctx.naming.pipeline(pipeline))["pipeline_id"] if pipeline else None,
        most=limit,
    )
    ctx.show(found, lambda page: show_artifacts(ctx.screen, page["items"]))


@artifacts_app.command("show")
@online()
async def show_artifact(
    ctx: CliContext,
    name: ArtifactName,
    facts: Annotated[bool, typer.Option("--facts", help="Print metadata instead of the content.")] = False,
) -> None:
    """Print the content of an artifact, or its metadata with --facts or --json.

    Example: cairn artifacts show "Text report@v1/report"
    """
    found = await ctx.naming.artifact(name)
    artifact = await ctx.client.get_artifact(found["artifact_record_id"])
    if ctx.screen.as_json:
        ctx.screen.answer(artifact)
    elif facts:
        ctx.screen.facts((key.replace("_", " "), value) for key, value in artifact.items())
    else:
        await _print(ctx, artifact)


async def _print(ctx: CliContext, artifact: Answer) -> None:
    """Byte for byte into a pipe; on a terminal as text, without what would steer it."""
    async with aclosing(ctx.client.get_artifact_content(artifact["artifact_record_id"])) as pieces:
        if not ctx.screen.is_terminal:
            ctx.screen.out.flush()
            async for piece in pieces:
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            return
        content = b"".join([piece async for piece in pieces])
    try:
        ctx.screen.raw(content.decode())
    except UnicodeDecodeError:
        raise CommandFailed(
            ExitCode.REFUSED, f"{file_name(artifact)} is not text: use `cairn artifacts download`."
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
    artifact = await ctx.naming.artifact(name)
    if str(to) == "-":
        async with aclosing(ctx.client.download_artifact(artifact["artifact_record_id"])) as pieces:
            async for piece in pieces:
                sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    plain_name = "".join(c if c.isprintable() and c not in "/\\\0" else "_" for c in file_name(artifact))
    file = to / plain_name if to is not None and to.is_dir() else to or Path(plain_name)
    await save(ctx.client.download_artifact(artifact["artifact_record_id"]), file, overwrite=overwrite)
    ctx.show({"file": str(file), **artifact}, lambda _: ctx.screen.line(f"{file}  {size(artifact['size_bytes'])}"))


def _is_there(file: Path) -> bool:
    return file.exists()


async def save(content: AsyncGenerator[bytes], file: Path, *, overwrite: bool) -> None:
    """Beside first, then in its place: half a file is never left there."""
    if _is_there(file) and not overwrite:
        raise CommandFailed(ExitCode.REFUSED, f"{file} is there already: --overwrite replaces it.")
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        try:
            with beside.open("wb") as out:
                async with aclosing(content) as pieces:
                    async for piece in pieces:
                        out.write(piece)
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise CommandFailed(
            ExitCode.USAGE, f"{file} cannot be written: {(error.strerror or str(error)).lower()}."
        ) from None


# ---- logs and contexts ----------------------------------------------------------------------------------
@online()
async def logs(
    ctx: CliContext,
    name: ExecutionName,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow while the execution is running.")] = False,
    level: Annotated[
        list[str] | None, typer.Option("--level", help="Filter by level: debug, info, warning or error. Repeatable.")
    ] = None,
    search: Annotated[str, typer.Option("--search", help="Filter by text in the message.")] = "",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Maximum number of items.")] = None,
    to: Annotated[
        Path | None, typer.Option("--to", "-o", help="Save the complete log of one execution to a file.")
    ] = None,
) -> None:
    """Show the log of an execution or of a whole run. With -f, follow it.

    Example: cairn logs "Text report@v1/write_report" -f
    """
    target = await ctx.naming.target(name)
    if to is not None:
        if "execution_id" not in target:
            raise CommandFailed(ExitCode.USAGE, "Name one execution, as run/key, to save its log.")
        await save(ctx.client.download_logs(target["execution_id"]), to, overwrite=True)
        return
    if follow:
        await _follow(ctx, target, level or [])
        return
    wanted = [target]
    if "execution_id" not in target:
        wanted = (await ctx.client.list_run_executions(target["run_id"]))["items"]
    items: list[Answer] = []
    for execution in wanted:
        found = await ctx.client.list_logs(execution["execution_id"], level=level or (), search=search, most=limit)
        items += found["items"]
        if not ctx.screen.as_json:
            for line in found["items"]:
                _tell(ctx, line, execution["checkpoint_key"])
    if ctx.screen.as_json:
        ctx.screen.answer({"items": items, "next_cursor": None})


async def _follow(ctx: CliContext, target: Answer, level: list[str]) -> None:
    run_id, execution_id = target["run_id"], target.get("execution_id")
    keys: dict[str, str] = {}

    def see(run: Answer) -> None:
        keys.update({item["execution_id"]: item["key"] for item in run["checkpoints"]})

    def tell_line(message: StreamMessage) -> None:
        line = message.data
        if message.kind != "log" or execution_id not in (None, line["execution_id"]):
            return
        if not level or line["level"] in level:
            _tell(ctx, line, keys.get(line["execution_id"], ""), as_item=True)

    see(await ctx.client.get_run(run_id))
    await follow_to(ctx.client, run_id, is_at_rest, tell_line, see)


def _tell(ctx: CliContext, line: Answer, key: str, *, as_item: bool = False) -> None:
    if ctx.screen.as_json:
        if as_item:
            ctx.screen.item(line)
        return
    style = {"error": "red", "warning": "yellow", "debug": "dim"}.get(line["level"])
    for text in str(line["message"]).splitlines() or [""]:
        ctx.screen.line(f"{moment(line['timestamp'])}  {key}  {line['level']:<7}  {text}", style)
    ctx.screen.out.flush()


@online()
async def context(ctx: CliContext, name: ExecutionName) -> None:
    """Show the context that an execution received, or would receive if it started now.

    Example: cairn context "Release notes@v2/notes"
    """
    execution = await ctx.naming.execution(name)
    found = await ctx.client.get_context(execution["execution_id"])
    if not ctx.screen.as_json and not found["stored"]:
        tell("A preview: it has not been started with this.")
    ctx.show(found, lambda one: ctx.screen.raw(f"{one['text'].rstrip()}\n" if one["text"] else ""))


# ---- the trail --------------------------------------------------------------------------------------------
@online()
async def events(
    ctx: CliContext,
    name: Annotated[str | None, typer.Argument(metavar="RUN|RUN/KEY", help="Filter by pipeline.")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    globally: Annotated[bool, typer.Option("--global", help="Only events that belong to no pipeline.")] = False,
    event_type: Annotated[list[str] | None, typer.Option("--type", help="Filter by type.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Start time, such as 2026-03-02T09:30:00Z.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="End time (exclusive).")] = None,
    limit: Limit = 50,
) -> None:
    """List events, newest first.

    Example: cairn events "Text report@v1" --limit 10
    """
    target = await ctx.naming.target(name) if name else {}
    execution_id = target.get("execution_id")
    found = await ctx.client.list_events(
        pipeline_id=(await ctx.naming.pipeline(pipeline))["pipeline_id"] if pipeline else None,
        run_id=None if execution_id else target.get("run_id"),
        execution_id=execution_id,
        scope="global" if globally else None,
        event_type=event_type or (),
        since=since,
        until=until,
        most=limit,
    )
    rows = [(moment(e["timestamp"]), e["event_type"], e["actor"], e["description"]) for e in found["items"]]
    heads = ("when", "event", "who", "what")
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="Nothing has happened."))


@audit_app.command("verify")
@online()
async def verify(
    ctx: CliContext,
    run: Annotated[str | None, typer.Option("--run", help="Only this run.")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Only this pipeline and its runs.")] = None,
) -> None:
    """Verify that no event was changed, added or removed. Exits with 1 if one was.

    Example: cairn audit verify
    """
    found = await ctx.client.verify_events(
        run_id=await ctx.naming.run(run) if run else None,
        pipeline_id=(await ctx.naming.pipeline(pipeline))["pipeline_id"] if pipeline else None,
    )
    ctx.show(found, lambda one: _show_verdict(ctx, one))
    if not found["valid"]:
        raise CommandFailed(ExitCode.REFUSED)


def _show_verdict(ctx: CliContext, verdict: Answer) -> None:
    for link in verdict["broken"]:
        ctx.screen.line(f"{link['chain']} at {link['seq']}: {link['reason']}", "red")
    told = "as it was written" if verdict["valid"] else "changed"
    style = "green" if verdict["valid"] else "red"
    ctx.screen.line(f"The trail is {told}: {verdict['events']} events in {verdict['chains']} chains.", style)
