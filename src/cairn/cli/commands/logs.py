"""The logs command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cairn.cli.arguments import ExecutionName
from cairn.cli.client import JsonObject, StreamMessage
from cairn.cli.commands.artifacts import save
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time
from cairn.cli.run_follower import follow_until
from cairn.cli.run_state import is_idle


@online()
async def logs(
    ctx: CliContext,
    name: ExecutionName,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow the log while the run is active.")] = False,
    level: Annotated[
        list[str] | None, typer.Option("--level", help="Filter by level: debug, info, warning or error. Repeatable.")
    ] = None,
    search: Annotated[str, typer.Option("--search", help="Filter by text in the message.")] = "",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Maximum number of items.")] = None,
    to: Annotated[
        Path | None, typer.Option("--to", "-o", help="Save the complete log of one execution to a file.")
    ] = None,
) -> None:
    """Show the log of an execution or of a whole run.

    Example: cairn logs "Text report@v1/write_report" -f
    """
    target = await ctx.resolver.target(name)
    if to is not None:
        if "execution_id" not in target:
            raise CommandFailed(ExitCode.USAGE, "Use --to with one execution, such as 'Text report@v1/write_report'.")
        await save(ctx.client.download_logs(target["execution_id"]), to, overwrite=True)
        return
    if follow:
        await _follow(ctx, target, level or [])
        return
    executions = [target]
    if "execution_id" not in target:
        executions = (await ctx.client.list_run_executions(target["run_id"]))["items"]
    items: list[JsonObject] = []
    for execution in executions:
        page = await ctx.client.list_logs(execution["execution_id"], level=level or (), search=search, limit=limit)
        items += page["items"]
        if not ctx.output.as_json:
            for line in page["items"]:
                _print_line(ctx, line, execution["checkpoint_key"])
    if ctx.output.as_json:
        ctx.output.json({"items": items, "next_cursor": None})


async def _follow(ctx: CliContext, target: JsonObject, level: list[str]) -> None:
    run_id, execution_id = target["run_id"], target.get("execution_id")
    keys: dict[str, str] = {}

    def remember_keys(run: JsonObject) -> None:
        keys.update({checkpoint["execution_id"]: checkpoint["key"] for checkpoint in run["checkpoints"]})

    def print_message(message: StreamMessage) -> None:
        line = message.data
        if message.kind != "log" or execution_id not in (None, line["execution_id"]):
            return
        if not level or line["level"] in level:
            _print_line(ctx, line, keys.get(line["execution_id"], ""), as_json_line=True)

    remember_keys(await ctx.client.get_run(run_id))
    await follow_until(ctx.client, run_id, is_idle, print_message, remember_keys)


def _print_line(ctx: CliContext, line: JsonObject, key: str, *, as_json_line: bool = False) -> None:
    if ctx.output.as_json:
        if as_json_line:
            ctx.output.json_line(line)
        return
    style = {"error": "red", "warning": "yellow", "debug": "dim"}.get(line["level"])
    for message in str(line["message"]).splitlines() or [""]:
        ctx.output.line(f"{local_time(line['timestamp'])}  {key}  {line['level']:<7}  {message}", style)
    ctx.output.out.flush()
