"""Server-sent events: what happens, as it happens, from wherever a client left off."""

from __future__ import annotations

import heapq
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, Self

from starlette.concurrency import run_in_threadpool

from cairn.documents import encode_json
from cairn.services.errors import Unauthenticated, WrongInput
from cairn.services.views.events import Change, Event, LogLine
from cairn.services.views.executions import ExecutionProgress

HEARTBEAT = 15.0  # seconds without news until a client is told that the stream is alive
POLL = 1.0  # seconds: on PostgreSQL other processes write too, and no hint comes from them
BATCH = 200  # read at once; the next ones are read when these are sent
_ID = re.compile(r"e(\d{1,15})\.l(\d{1,18})")
OPENING = b"retry: 1000\n\n"
PING = b"event: ping\ndata: {}\n\n"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@dataclass(frozen=True, slots=True)
class Place:
    """How far a client has come: the last event of the run and the last log line that it saw."""

    seq: int = 0
    log_id: int = 0

    @classmethod
    def named(cls, text: str | None) -> Self:
        if not text:
            return cls()
        found = _ID.fullmatch(text)
        if found is None:
            raise WrongInput([("Last-Event-ID", "This is no id of this stream; leave it out to begin at the start.")])
        return cls(int(found[1]), int(found[2]))

    def after(self, item: Event | LogLine) -> Place:
        if isinstance(item, Event):
            return Place(item.seq, self.log_id)
        return Place(self.seq, item.log_id)

    def __str__(self) -> str:
        return f"e{self.seq}.l{self.log_id}"


def message(event: str, data: bytes, id: Place | None = None) -> bytes:
    name = f"id: {id}\n" if id is not None else ""
    return f"{name}event: {event}\ndata: ".encode() + data + b"\n\n"


Check = Callable[[], Awaitable[Any]]


class Quiet:
    """How long a client has been told nothing, and how long to wait for news before it is told that all is well."""

    def __init__(self, is_shared: bool) -> None:
        self._pause = POLL if is_shared else HEARTBEAT
        self._since = monotonic()

    def broken(self) -> None:
        self._since = monotonic()

    @property
    def pause(self) -> float:
        return max(0.0, min(self._pause, self._since + HEARTBEAT - monotonic()))

    @property
    def is_long(self) -> bool:
        return monotonic() - self._since >= HEARTBEAT


async def follow_run(services: Any, run_id: str, place: Place, check: Check) -> AsyncIterator[bytes]:
    """Events and log lines of a run, each once and in order, until the client leaves or may no longer look.

    Progress is not part of that order: what is at work is told as it stands, and again when it moves.
    """
    yield OPENING + f"id: {place}\n\n".encode()
    quiet = Quiet(services.database.kind == "postgresql")
    shown: dict[str, ExecutionProgress] = {}
    with services.hub.subscribe(run_id) as hints:
        while not hints.is_closed:
            events, logs = await run_in_threadpool(services.reading.after, run_id, place.seq, place.log_id, BATCH)
            for item in heapq.merge(events, logs, key=lambda item: item.timestamp):
                place = place.after(item)
                kind = "event" if isinstance(item, Event) else "log"
                yield message(kind, item.model_dump_json().encode(), place)
                quiet.broken()
            if len(events) == BATCH or len(logs) == BATCH:
                continue
            for progress in await run_in_threadpool(services.reading.shown_progress, run_id):
                if shown.get(progress.execution_id) != progress:
                    shown[progress.execution_id] = progress
                    yield message("progress", progress.model_dump_json().encode())
                    quiet.broken()
            if quiet.is_long:
                if not await _is_welcome(check):
                    return
                yield PING
                quiet.broken()
            await hints.wait(quiet.pause)


async def follow_changes(services: Any, check: Check) -> AsyncIterator[bytes]:
    """Hints that lists have changed."""
    yield OPENING
    is_shared = services.database.kind == "postgresql"
    quiet = Quiet(is_shared)
    last = await run_in_threadpool(services.reading.last_event) if is_shared else 0
    with services.hub.subscribe() as hints:
        while not hints.is_closed:
            changes = await hints.wait(quiet.pause)
            if is_shared:
                last, told = await run_in_threadpool(services.reading.changes_after, last, BATCH)
                changes = (*changes, *told)
            for change in dict.fromkeys(changes):
                yield message("change", encode_json(_plain(change)))
                quiet.broken()
            if quiet.is_long:
                if not await _is_welcome(check):
                    return
                yield PING
                quiet.broken()


async def _is_welcome(check: Check) -> bool:
    try:
        await check()
    except Unauthenticated:
        return False
    return True


def _plain(change: Change) -> dict[str, Any]:
    return {"pipeline_id": change.pipeline_id, "run_id": change.run_id, "event_type": change.event_type}
