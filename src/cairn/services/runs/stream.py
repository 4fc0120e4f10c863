"""The stream of a run: events, log lines and messages after a position, and the current progress."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self

from cairn.ports import Clock
from cairn.services.conversations import queries as conversations
from cairn.services.conversations.views import Message
from cairn.services.errors import InvalidInput
from cairn.services.events import queries as events
from cairn.services.events.views import Event
from cairn.services.logs import queries as logs
from cairn.services.logs.views import LogLine
from cairn.services.runs.execution_views import ExecutionProgress
from cairn.services.runs.queries import progress
from cairn.store import Connection, Database, has_run
from cairn.store.errors import NotFound

Item = Event | LogLine | Message
Timed = tuple[datetime, Item]
_VISIBLE_AFTER = timedelta(seconds=1)
_ID = re.compile(r"e(\d{1,15})\.l(\d{1,18})(?:\.m(\d{1,18}))?")


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """The last event, log line and message that a client has received."""

    seq: int = 0
    log_id: int = 0
    message_id: int = 0

    @classmethod
    def parse(cls, text: str | None) -> Self:
        if not text:
            return cls()
        match = _ID.fullmatch(text)
        if match is None:
            raise InvalidInput([("Last-Event-ID", "Invalid event id. Leave it out to start at the beginning.")])
        return cls(int(match[1]), int(match[2]), int(match[3] or 0))

    def after(self, item: Item) -> StreamPosition:
        match item:
            case Event():
                return replace(self, seq=item.seq)
            case LogLine():
                return replace(self, log_id=item.log_id)
            case Message():
                return replace(self, message_id=item.message_id)

    def __str__(self) -> str:
        return f"e{self.seq}.l{self.log_id}.m{self.message_id}"


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """The items that follow a position, each kind in order."""

    events: list[Event]
    logs: list[LogLine]
    messages: list[tuple[Message, datetime]]  # with the time when they were stored
    progress: list[ExecutionProgress]

    def is_full(self, limit: int) -> bool:
        """Whether there may be more."""
        return max(len(self.events), len(self.logs), len(self.messages)) >= limit

    def in_order(self) -> Iterator[Item]:
        """All items by time. Events precede log lines and messages of the same time."""
        events: list[Timed] = [(event.timestamp, event) for event in self.events]
        logs: list[Timed] = [(line.timestamp, line) for line in self.logs]
        messages: list[Timed] = [(at, message) for message, at in self.messages]
        return (item for _, item in heapq.merge(events, logs, messages, key=lambda timed: timed[0]))


class RunStream:
    """Reads for clients that follow a run. Each method reads one snapshot of the database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def check_run(self, run_id: str) -> None:
        """Raise NotFound if the run does not exist."""
        if not self._database.read(lambda c: has_run(c, run_id)):
            raise NotFound("run", run_id)

    def read_after(self, run_id: str, position: StreamPosition, limit: int) -> StreamBatch:
        """Events, log lines and messages after a position, each in order, and the current progress."""
        until = self._visible_until()

        def read(connection: Connection) -> StreamBatch:
            return StreamBatch(
                events.events_after(connection, run_id, position.seq, limit),
                logs.logs_after(connection, run_id, position.log_id, limit, until),
                conversations.messages_after(connection, run_id, position.message_id, limit, until),
                progress.progress_of_run(connection, run_id),
            )

        return self._database.read(read)

    def last_position(self, run_id: str) -> StreamPosition:
        """The position of the newest event, log line and message of the run."""
        until = self._visible_until()

        def read(connection: Connection) -> StreamPosition:
            return StreamPosition(
                events.last_seq_of_run(connection, run_id),
                logs.last_log_id(connection, run_id, until),
                conversations.last_message_id(connection, run_id, until),
            )

        return self._database.read(read)

    def _visible_until(self) -> datetime | None:
        """On PostgreSQL, a row can become visible after rows with higher numbers, because several processes write.
        Leave out the rows of the last second until all earlier rows are visible."""
        return self._clock.now() - _VISIBLE_AFTER if self._database.kind == "postgresql" else None
