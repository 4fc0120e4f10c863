"""A run, followed while it happens: each event and log line as it comes, until it ends or waits for people."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Answer, Message, Unreachable
from cairn.cli.exits import Code
from cairn.cli.naming import title
from cairn.cli.telling import Screen, moment, tell

if TYPE_CHECKING:
    from rich.progress import Progress

    from cairn.cli.client import Client

ENDED = {"completed": Code.OK, "failed": Code.REFUSED, "cancelled": Code.REFUSED}
GOES_ON = frozenset({"in_progress"})  # an execution of this status needs nobody, unless it waits for people
BY_ITSELF = frozenset({None, "retry_delay", "rework", "external_blocker"})  # what is waited for without people
TRIES, PAUSE_SECONDS = 20, 0.5  # a server that is started again is waited for


def is_at_rest(run: Answer) -> bool:
    """Nothing happens in it until somebody does something."""
    if run["status"] != "in_progress":
        return True
    working = [item for item in run["trail"] if item["status"] in GOES_ON]
    if any(item["waiting_on"] is None or item["waiting_on"] == "retry_delay" for item in working):
        return False
    return bool(waiting(run)) or not working


def waiting(run: Answer) -> list[Answer]:
    """What waits for people."""
    return [item for item in run["trail"] if _waits_for_people(item)]


def _waits_for_people(item: Answer) -> bool:
    if item["status"] == "in_progress":
        return item["waiting_on"] not in BY_ITSELF
    return item["status"] in ("pending", "waiting_approval_to_start", "waiting_approval_to_complete", "failed")


async def until_rest(client: Client, run_id: str) -> Answer:
    """The run once it is at rest, without a word."""
    while not is_at_rest(run := await client.get_run(run_id)):
        async with aclosing(messages(client, run_id)) as stream:
            async for message in stream:
                if message.kind == "event" and is_at_rest(await client.get_run(run_id)):
                    break
    return run


async def messages(client: Client, run_id: str, last_id: str = "") -> AsyncGenerator[Message]:
    """The run's stream, taken up again where it broke off."""
    tries = 0
    while True:
        try:
            async with aclosing(client.stream_run(run_id, last_id)) as stream:
                async for message in stream:
                    tries, last_id = 0, message.id or last_id
                    yield message
        except Unreachable:
            tries += 1
            if tries > TRIES:
                raise
        await asyncio.sleep(PAUSE_SECONDS)


async def follow(client: Client, screen: Screen, run_id: str, *, to_end: bool = False) -> Answer:
    """Tell what happens until the run is at rest, or with `to_end` until it has ended; the answer is the run."""
    run = await client.get_run(run_id)
    known, told = await _count(client, run_id), 0
    lines = _Lines(screen, run)
    async with aclosing(messages(client, run_id)) as stream:
        with lines:
            while told < known or not _is_over(run, to_end) or told < (known := await _count(client, run_id)):
                message = await anext(stream)
                lines.tell(message)
                if message.kind == "event":
                    told = message.data["seq"]
                    if told >= known:
                        run = await client.get_run(run_id)
                        lines.progress(run)
    return run


async def _count(client: Client, run_id: str) -> int:
    """How many events the run has."""
    newest = (await client.list_events(run_id=run_id, most=1))["items"]
    return newest[0]["seq"] if newest else 0


def _is_over(run: Answer, to_end: bool) -> bool:
    return run["status"] in ENDED if to_end else is_at_rest(run)


def outcome(screen: Screen, run: Answer) -> Code:
    """Say how it stands, and what can be done; the answer is the exit code."""
    code = ENDED.get(run["status"], Code.WAITS)
    if screen.as_json:
        return code
    for item in run["trail"]:
        if item["error"]:
            screen.line(f"{item['name']}: {item['error']}", "red")
    if code is not Code.WAITS:
        done, total = run["progress"]["completed"], run["progress"]["total"]
        screen.line(f"{title(run)} {run['status']}: {done} of {total} checkpoints", _STYLE.get(run["status"]))
        return code
    if run["status"] == "paused" or run["pause_requested"]:
        screen.line(f"{title(run)} is paused: cairn resume {_quoted(title(run))}", "yellow")
    for item in waiting(run):
        screen.line(f"{item['name']} waits: {advice(run, item)}", "yellow")
    return code


_STYLE = {"completed": "green", "failed": "red", "cancelled": "red"}


def advice(run: Answer, item: Answer) -> str:
    name = _quoted(f"{title(run)}/{item['key']}")
    match item["status"], item["waiting_on"]:
        case "in_progress", "human_form" | "script_input" | "question":
            return f"cairn submit {name}"
        case (("waiting_approval_to_start" | "waiting_approval_to_complete"), _):
            return f"cairn approve {name}"
        case "pending", _:
            return f"cairn start {name}"
        case "failed", _:
            return f"cairn retry {name}"
        case _:
            return f"cairn approvals decide {name}"


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)


class _Lines:
    """One line for each message; on a terminal a bar below them shows how far the run is."""

    def __init__(self, screen: Screen, run: Answer) -> None:
        self._screen = screen
        self._names = {item["execution_id"]: item["name"] for item in run["trail"]}
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
        self._names |= {item["execution_id"]: item["name"] for item in run["trail"]}
        if self._bar is not None:
            self._bar.update(self._task, completed=run["progress"]["completed"], total=run["progress"]["total"])

    def tell(self, message: Message) -> None:
        if self._screen.as_json:
            return
        at, data = moment(message.data["timestamp"])[11:], message.data
        if message.kind == "event":
            self._screen.line(f"{at}  {data['description']}", _style_of(data["event_type"]))
        elif message.kind == "log":
            name = self._names.get(data["execution_id"], "")
            for line in str(data["message"]).splitlines():
                self._screen.line(f"{at}  {name} | {line}", "red" if data["level"] == "error" else "dim")
        self._screen.out.flush()


def _style_of(event_type: str) -> str | None:
    for part, style in (("failed", "red"), ("completed", "green"), ("approv", "yellow"), ("request", "yellow")):
        if part in event_type:
            return style
    return None


async def tell_messages(client: Client, screen: Screen, run_id: str) -> None:
    """Every message of a run as one line of JSON, until it is at rest."""
    run, told = await client.get_run(run_id), 0
    async with aclosing(messages(client, run_id)) as stream:
        while not is_at_rest(run) or told < await _count(client, run_id):
            message = await anext(stream)
            screen.item({"kind": message.kind, "id": message.id, message.kind: message.data})
            if message.kind == "event":
                told, run = message.data["seq"], await client.get_run(run_id)


def note_embedded(is_embedded: bool) -> None:
    if is_embedded:
        tell("No server holds the data folder: the work is done here.")
