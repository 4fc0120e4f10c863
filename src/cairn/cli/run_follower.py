"""A run, followed while it happens: each event and log line as it comes, until it ends or waits for people."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Answer, ServerUnreachable, StreamMessage
from cairn.cli.output import Output, moment, printable, tell
from cairn.cli.references import title
from cairn.cli.rendering import as_text, shortened
from cairn.cli.run_state import ENDED, is_at_rest

if TYPE_CHECKING:
    from rich.progress import Progress

    from cairn.cli.client import Client

TRIES, PAUSE_SECONDS = 20, 0.5  # a server that is started again is waited for
LINES, LONGEST = 8, 160  # lines of a message, and characters of what a tool was given or gave
_PLACE = re.compile(r"e(\d+)\.l(\d+)(?:\.m(\d+))?")


@dataclass(frozen=True, slots=True)
class StreamPositions:
    """How far a stream has come: the run's last event, the last log line and the last message."""

    event: int = 0
    line: int = 0
    message: int = 0

    def at(self, id: str) -> StreamPositions:
        found = _PLACE.fullmatch(id)
        return StreamPositions(int(found[1]), int(found[2]), int(found[3] or 0)) if found else self

    def reaches(self, other: StreamPositions) -> bool:
        return self.event >= other.event and self.line >= other.line and self.message >= other.message


async def messages(client: Client, run_id: str, last_id: str = "") -> AsyncGenerator[StreamMessage]:
    """The run's stream, taken up again where it broke off."""
    tries = 0
    while True:
        try:
            async with aclosing(client.stream_run(run_id, last_id)) as stream:
                async for message in stream:
                    tries, last_id = 0, message.id or last_id
                    yield message
        except ServerUnreachable:
            tries += 1
            if tries > TRIES:
                raise
        await asyncio.sleep(PAUSE_SECONDS)


async def newest(client: Client, run_id: str) -> StreamPositions:
    """Where the run's stream ends at this moment."""
    async with aclosing(client.stream_run(run_id, "now")) as stream:
        async for message in stream:
            return StreamPositions().at(message.id)
    return StreamPositions()


async def follow_to(
    client: Client,
    run_id: str,
    is_over: Callable[[Answer], bool],
    tell_message: Callable[[StreamMessage], None],
    seen: Callable[[Answer], None] | None = None,
) -> Answer:
    """Everything that has happened and happens, until it is over; the answer is the run then."""
    run, known, place = await client.get_run(run_id), await newest(client, run_id), StreamPositions()
    async with aclosing(messages(client, run_id)) as stream:
        while True:
            if place.reaches(known) and is_over(run):
                known = await newest(client, run_id)
                if place.reaches(known):
                    return run
            message = await anext(stream)
            place = place.at(message.id)
            tell_message(message)
            if message.kind == "event" and place.event >= known.event:
                run = await client.get_run(run_id)
                if seen is not None:
                    seen(run)


async def until_rest(client: Client, run_id: str) -> Answer:
    """The run once it is at rest, without a word."""
    run = await client.get_run(run_id)
    return run if is_at_rest(run) else await follow_to(client, run_id, is_at_rest, lambda _: None)


async def follow(client: Client, screen: Output, run_id: str, *, until_done: bool = False) -> Answer:
    """Tell what happens until the run is at rest, or with `until_done` until it has ended; the answer is the run."""
    lines = _EventPrinter(screen, await client.get_run(run_id))
    is_over = _has_ended if until_done else is_at_rest
    with lines:
        return await follow_to(client, run_id, is_over, lines.tell, lines.progress)


async def tell_messages(client: Client, screen: Output, run_id: str, *, until_done: bool = False) -> Answer:
    """Every event, log line and message of a run as one line of JSON."""

    def tell_message(message: StreamMessage) -> None:
        if message.data is not None:
            screen.item({"kind": message.kind, "id": message.id, message.kind: message.data})

    return await follow_to(client, run_id, _has_ended if until_done else is_at_rest, tell_message)


def _has_ended(run: Answer) -> bool:
    return run["status"] in ENDED


class _EventPrinter:
    """One line for each message; on a terminal a bar below them shows how far the run is."""

    def __init__(self, screen: Output, run: Answer) -> None:
        self._screen = screen
        self._names = {item["execution_id"]: item["name"] for item in run["checkpoints"]}
        self._bar: Progress | None = None
        self._task: Any = None
        self._run = run

    def __enter__(self) -> None:
        if self._screen.is_terminal and not self._screen.as_json:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=self._screen.console, transient=True)
            self._task = self._bar.add_task(title(self._run), total=self._run["progress"]["total"])
            self._bar.start()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def progress(self, run: Answer) -> None:
        self._names |= {item["execution_id"]: item["name"] for item in run["checkpoints"]}
        if self._bar is not None:
            self._bar.update(self._task, completed=run["progress"]["completed"], total=run["progress"]["total"])

    def tell(self, message: StreamMessage) -> None:
        data = message.data
        if self._screen.as_json:
            return
        if message.kind == "event":
            self._say(f"{moment(data['timestamp'])[11:]}  {data['description']}", _style_of(data["event_type"]))
        elif message.kind == "log":
            name = self._names.get(data["execution_id"], "")
            for line in str(data["message"]).splitlines():
                told = f"{moment(data['timestamp'])[11:]}  {name} | {line}"
                self._say(told, "red" if data["level"] == "error" else "dim")
        elif message.kind == "message" and data["role"] != "user":
            self._speak(data)
        elif message.kind == "progress" and self._bar is not None:
            name = self._names.get(data["execution_id"], "")
            part = "" if data["fraction"] is None else f" {data['fraction']:.0%}"
            self._bar.update(self._task, description=printable(f"{name}{part} {data['text'] or ''}".rstrip()))

    def _speak(self, data: Answer) -> None:
        """What an agent says or a tool returns, in short: `cairn conversation` tells all of it."""
        where = f"{moment(data['timestamp'])[11:]}  {self._names.get(data['execution_id'], '')} |"
        told = [line for line in data["content"].splitlines() if line.strip()] if data["role"] == "assistant" else []
        told += [f"→ {call['name']} {shortened(call['arguments'], LONGEST)}" for call in data["tool_calls"]]
        told += [
            f"← {one['name']} {shortened(' '.join(as_text(one['content']).split()), LONGEST)}"
            for one in data["tool_results"]
        ]
        if data["role"] == "assistant":
            self._say(f"{where} {data['agent_name']}{' (simulated)' if data['is_simulated'] else ''}:", "bold")
        for line in told[:LINES]:
            self._say(f"{where}   {line}", None if data["role"] == "assistant" else "dim")
        if len(told) > LINES:
            self._say(f"{where}   … {len(told) - LINES} more lines", "dim")

    def _say(self, line: str, style: str | None) -> None:
        self._screen.line(line, style)
        self._screen.out.flush()


def _style_of(event_type: str) -> str | None:
    for part, style in (("failed", "red"), ("completed", "green"), ("approv", "yellow"), ("request", "yellow")):
        if part in event_type:
            return style
    return None


def note_embedded(is_embedded: bool) -> None:
    if is_embedded:
        tell("No server holds the data folder: the work is done here.")
