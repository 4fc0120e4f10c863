"""Follows a run: prints its events, log lines and messages until it ends or waits for people."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.cli.client import JsonObject, ServerUnreachable, StreamMessage
from cairn.cli.output import Output, local_time, print_status, printable
from cairn.cli.references import title
from cairn.cli.rendering import as_text, shorten
from cairn.cli.run_state import EXIT_CODES, is_idle

if TYPE_CHECKING:
    from rich.progress import Progress

    from cairn.cli.client import Client

MAX_RECONNECTS, RECONNECT_SECONDS = 20, 0.5  # long enough for a server to restart
MAX_LINES, MAX_TOOL_CHARS = 8, 160  # of a message, and of a tool's arguments or result
_POSITIONS = re.compile(r"e(\d+)\.l(\d+)(?:\.m(\d+))?")


@dataclass(frozen=True, slots=True)
class StreamPositions:
    """How far a stream was read: the last event, log line and message of the run."""

    event: int = 0
    line: int = 0
    message: int = 0

    def advanced_to(self, id: str) -> StreamPositions:
        match = _POSITIONS.fullmatch(id)
        return StreamPositions(int(match[1]), int(match[2]), int(match[3] or 0)) if match else self

    def reaches(self, other: StreamPositions) -> bool:
        return self.event >= other.event and self.line >= other.line and self.message >= other.message


async def messages(client: Client, run_id: str, last_id: str = "") -> AsyncGenerator[StreamMessage]:
    """The run's stream. Reconnects where it broke off."""
    reconnects = 0
    while True:
        try:
            async with aclosing(client.stream_run(run_id, last_id)) as stream:
                async for message in stream:
                    reconnects, last_id = 0, message.id or last_id
                    yield message
        except ServerUnreachable:
            reconnects += 1
            if reconnects > MAX_RECONNECTS:
                raise
        await asyncio.sleep(RECONNECT_SECONDS)


async def end_of_stream(client: Client, run_id: str) -> StreamPositions:
    """The current end of the run's stream."""
    async with aclosing(client.stream_run(run_id, "now")) as stream:
        async for message in stream:
            return StreamPositions().advanced_to(message.id)
    return StreamPositions()


async def follow_until(
    client: Client,
    run_id: str,
    is_done: Callable[[JsonObject], bool],
    on_message: Callable[[StreamMessage], None],
    on_change: Callable[[JsonObject], None] | None = None,
) -> JsonObject:
    """Read the run's stream from its start until the run satisfies `is_done`. Returns the run."""
    run, end = await client.get_run(run_id), await end_of_stream(client, run_id)
    position = StreamPositions()
    async with aclosing(messages(client, run_id)) as stream:
        while True:
            if position.reaches(end) and is_done(run):
                end = await end_of_stream(client, run_id)
                if position.reaches(end):
                    return run
            message = await anext(stream)
            position = position.advanced_to(message.id)
            on_message(message)
            if message.kind == "event" and position.event >= end.event:
                run = await client.get_run(run_id)
                if on_change is not None:
                    on_change(run)


async def follow_until_idle(client: Client, run_id: str) -> JsonObject:
    """Wait until the run is idle, without printing anything."""
    run = await client.get_run(run_id)
    return run if is_idle(run) else await follow_until(client, run_id, is_idle, lambda _: None)


async def follow(client: Client, output: Output, run_id: str, *, until_done: bool = False) -> JsonObject:
    """Print what happens until the run is idle, or with `until_done` until it has ended. Returns the run."""
    printer = _EventPrinter(output, await client.get_run(run_id))
    with printer:
        return await follow_until(
            client, run_id, _has_ended if until_done else is_idle, printer.print_message, printer.update_progress
        )


async def print_json_messages(client: Client, output: Output, run_id: str, *, until_done: bool = False) -> JsonObject:
    """Print every event, log line and message of a run as one line of JSON."""

    def print_message(message: StreamMessage) -> None:
        if message.data is not None:
            output.json_line({"kind": message.kind, "id": message.id, message.kind: message.data})

    return await follow_until(client, run_id, _has_ended if until_done else is_idle, print_message)


def _has_ended(run: JsonObject) -> bool:
    return run["status"] in EXIT_CODES


class _EventPrinter:
    """Prints a line for each message. On a terminal, a bar below the lines shows the progress of the run."""

    def __init__(self, output: Output, run: JsonObject) -> None:
        self._output = output
        self._checkpoints: dict[str, str] = {}  # names by checkpoint id
        self._names: dict[str, str] = {}  # of checkpoints by execution id, with executions that were superseded
        self._bar: Progress | None = None
        self._task: Any = None
        self._run = run
        self._read_names(run)

    def __enter__(self) -> None:
        if self._output.is_terminal and not self._output.as_json:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=self._output.console, transient=True)
            self._task = self._bar.add_task(title(self._run), total=self._run["progress"]["total"])
            self._bar.start()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update_progress(self, run: JsonObject) -> None:
        self._read_names(run)
        if self._bar is not None:
            self._bar.update(self._task, completed=run["progress"]["completed"], total=run["progress"]["total"])

    def _read_names(self, run: JsonObject) -> None:
        self._checkpoints |= {checkpoint["checkpoint_id"]: checkpoint["name"] for checkpoint in run["checkpoints"]}
        self._names |= {checkpoint["execution_id"]: checkpoint["name"] for checkpoint in run["checkpoints"]}

    def print_message(self, message: StreamMessage) -> None:
        data = message.data
        if self._output.as_json:
            return
        if message.kind == "event":
            if data["execution_id"] and data["checkpoint_id"] in self._checkpoints:
                self._names.setdefault(data["execution_id"], self._checkpoints[data["checkpoint_id"]])
            self._print(f"{_time(data)}  {data['description']}", _style_of(data["event_type"]))
        elif message.kind == "log":
            name = self._names.get(data["execution_id"], "")
            for line in str(data["message"]).splitlines():
                self._print(f"{_time(data)}  {name} | {line}", "red" if data["level"] == "error" else "dim")
        elif message.kind == "message" and data["role"] != "user":
            self._print_conversation(data)
        elif message.kind == "progress" and self._bar is not None:
            name = self._names.get(data["execution_id"], "")
            fraction = "" if data["fraction"] is None else f" {data['fraction']:.0%}"
            self._bar.update(self._task, description=printable(f"{name}{fraction} {data['text'] or ''}".rstrip()))

    def _print_conversation(self, data: JsonObject) -> None:
        """Print the start of an agent's message or a tool result. `cairn conversation` prints all of it."""
        prefix = f"{_time(data)}  {self._names.get(data['execution_id'], '')} |"
        is_agent = data["role"] == "assistant"
        lines = [line for line in data["content"].splitlines() if line.strip()] if is_agent else []
        lines += [f"→ {call['name']} {shorten(call['arguments'], MAX_TOOL_CHARS)}" for call in data["tool_calls"]]
        lines += [
            f"← {result['name']} {shorten(' '.join(as_text(result['content']).split()), MAX_TOOL_CHARS)}"
            for result in data["tool_results"]
        ]
        if is_agent:
            self._print(f"{prefix} {data['agent_name']}{' (simulated)' if data['is_simulated'] else ''}:", "bold")
        for line in lines[:MAX_LINES]:
            self._print(f"{prefix}   {line}", None if is_agent else "dim")
        if len(lines) > MAX_LINES:
            self._print(f"{prefix}   … {len(lines) - MAX_LINES} more lines", "dim")

    def _print(self, line: str, style: str | None) -> None:
        self._output.line(line, style)
        self._output.out.flush()


def _time(data: JsonObject) -> str:
    return local_time(data["timestamp"])[11:]


def _style_of(event_type: str) -> str | None:
    for part, style in (("failed", "red"), ("completed", "green"), ("approv", "yellow"), ("request", "yellow")):
        if part in event_type:
            return style
    return None


def print_embedded_notice(is_embedded: bool) -> None:
    if is_embedded:
        print_status("No server is running on the data folder. This command does the work itself.")
