"""Server-sent events, resumed from where the client left off."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from time import monotonic
from typing import Any

from starlette.concurrency import run_in_threadpool

from cairn.documents import encode_json
from cairn.services.actors import Actor
from cairn.services.conversations.live_messages import MESSAGE_DELTA, LiveMessage, LiveMessageCursor
from cairn.services.conversations.views import Message
from cairn.services.engine.event_bus import ChangeHint
from cairn.services.errors import Unauthenticated
from cairn.services.events.views import Event
from cairn.services.logs.views import LogLine
from cairn.services.runs.execution_views import ExecutionProgress
from cairn.services.runs.stream import StreamBatch, StreamPosition

HEARTBEAT = 15.0  # seconds without data until a ping shows the client that the stream is alive
POLL = 1.0  # seconds between reads on PostgreSQL, where other processes write without sending hints
BATCH = 200  # rows read at once; the next ones are read when these are sent
OPENING = b"retry: 1000\n\n"
PING = b"event: ping\ndata: {}\n\n"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def message(event: str, data: bytes, id: StreamPosition | None = None) -> bytes:
    name = f"id: {id}\n" if id is not None else ""
    return f"{name}event: {event}\ndata: ".encode() + data + b"\n\n"


Check = Callable[[], Awaitable[Actor]]
KINDS: dict[type[Any], str] = {Event: "event", LogLine: "log", Message: "message"}


class HeartbeatTimer:
    """When to send a ping to a client that has received nothing, and when to authenticate it again."""

    def __init__(self, is_shared: bool) -> None:
        self._pause = POLL if is_shared else HEARTBEAT
        self._since = self._checked = monotonic()

    def restart(self) -> None:
        self._since = monotonic()

    @property
    def pause(self) -> float:
        return max(0.0, min(self._pause, self._since + HEARTBEAT - monotonic()))

    @property
    def needs_ping(self) -> bool:
        return monotonic() - self._since >= HEARTBEAT

    @property
    def needs_check(self) -> bool:
        """Whether to authenticate the client again; true once."""
        needs_check = monotonic() - self._checked >= HEARTBEAT
        self._checked = monotonic() if needs_check else self._checked
        return needs_check


async def follow_run(
    services: Any, run_id: str, position: StreamPosition, actor: Actor, check: Check
) -> AsyncIterator[bytes]:
    """Events, log lines and messages of a run, each once and in order, until the client leaves or loses access.

    Progress and message deltas have no position: they are sent as they are, and again when they change.
    """
    yield OPENING + f"id: {position}\n\n".encode()
    is_shared = services.database.kind == "postgresql"
    timer, watcher = HeartbeatTimer(is_shared), RunWatcher(services, run_id, position, actor)
    with services.event_bus.subscribe(run_id) as hints:
        new_hints: tuple[ChangeHint, ...] = ()
        while not hints.is_closed:
            for line in await watcher.read_deltas():
                yield line
                timer.restart()
            is_stored = any(hint.event_type != MESSAGE_DELTA for hint in new_hints) or not new_hints
            if is_stored or watcher.has_more or (is_shared and watcher.is_behind):
                for line in await watcher.read_batch():
                    yield line
                    timer.restart()
            if timer.needs_check and not await watcher.has_access(check):
                return
            if timer.needs_ping:
                yield PING
                timer.restart()
            new_hints = await hints.wait(0 if watcher.has_more else timer.pause)


class RunWatcher:
    """What one client has received of a run."""

    def __init__(self, services: Any, run_id: str, position: StreamPosition, actor: Actor) -> None:
        self._services = services
        self._run_id = run_id
        self._position = position
        self._actor = actor
        self._cursor = LiveMessageCursor()
        self._progress: dict[str, ExecutionProgress] = {}
        self._hidden: dict[str, bool] = {}  # by execution: whether its conversation is hidden from this client
        self._last_read_at = 0.0
        self.has_more = False

    @property
    def is_behind(self) -> bool:
        return monotonic() - self._last_read_at >= POLL

    async def has_access(self, check: Check) -> bool:
        try:
            self._actor = await check()
        except Unauthenticated:
            return False
        return True

    async def read_deltas(self) -> list[bytes]:
        """Deltas of messages being streamed that the client does not have yet."""
        messages: list[LiveMessage] = self._services.conversations.live_messages.messages_of_run(self._run_id)
        hidden = await self._hidden_of({item.key.execution_id for item in messages})
        deltas = self._cursor.new_deltas([item for item in messages if item.key.execution_id not in hidden])
        return [message(MESSAGE_DELTA, delta.model_dump_json().encode()) for delta in deltas]

    async def read_batch(self) -> list[bytes]:
        """The next batch from the database that the client does not have yet."""
        self._last_read_at = monotonic()
        batch: StreamBatch = await run_in_threadpool(
            self._services.run_stream.read_after, self._run_id, self._position, BATCH
        )
        if batch.events:
            self._hidden.clear()  # another attempt may have another definition
        hidden = await self._hidden_of({item.execution_id for item, _ in batch.messages})
        lines: list[bytes] = []
        is_shown = True
        for item in batch.in_order():
            self._position = self._position.after(item)
            is_shown = not (isinstance(item, Message) and item.execution_id in hidden)
            if is_shown:
                lines.append(message(KINDS[type(item)], item.model_dump_json().encode(), self._position))
        if not is_shown:
            lines.append(f"id: {self._position}\n\n".encode())  # moves the position past what is hidden
        self.has_more = batch.is_full(BATCH)
        if self.has_more:
            return lines
        for progress in batch.progress:
            if self._progress.get(progress.execution_id) != progress:
                self._progress[progress.execution_id] = progress
                lines.append(message("progress", progress.model_dump_json().encode()))
        return lines

    async def _hidden_of(self, executions: set[str]) -> set[str]:
        if not executions <= self._hidden.keys():
            hidden: frozenset[str] = await run_in_threadpool(
                self._services.conversation_queries.hidden_executions, self._run_id, self._actor
            )
            self._hidden |= {execution: execution in hidden for execution in executions}
        return {execution for execution in executions if self._hidden[execution]}


async def follow_changes(services: Any, check: Check) -> AsyncIterator[bytes]:
    """Hints that something in the lists has changed."""
    yield OPENING
    is_shared = services.database.kind == "postgresql"
    timer = HeartbeatTimer(is_shared)
    last = await run_in_threadpool(services.event_queries.last_event) if is_shared else 0
    with services.event_bus.subscribe() as hints:
        while not hints.is_closed:
            changes = await hints.wait(timer.pause)
            if is_shared:
                last, more = await run_in_threadpool(services.event_queries.changes_after, last, BATCH)
                changes = (*changes, *more)
            for change in dict.fromkeys(changes):
                yield message("change", encode_json(_plain(change)))
                timer.restart()
            if timer.needs_ping:
                if not await _has_access(check):
                    return
                yield PING
                timer.restart()


async def _has_access(check: Check) -> bool:
    try:
        await check()
    except Unauthenticated:
        return False
    return True


def _plain(change: ChangeHint) -> dict[str, Any]:
    return {"pipeline_id": change.pipeline_id, "run_id": change.run_id, "event_type": change.event_type}
