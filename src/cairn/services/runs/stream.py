"""How far somebody who watches a run has come, and what comes after that."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from cairn.services.conversations.views import Message
from cairn.services.errors import InvalidInput
from cairn.services.events.views import Event
from cairn.services.logs.views import LogLine
from cairn.services.runs.execution_views import ExecutionProgress

Item = Event | LogLine | Message
Timed = tuple[datetime, Item]
_ID = re.compile(r"e(\d{1,15})\.l(\d{1,18})(?:\.m(\d{1,18}))?")


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """The last event of the run, the last log line and the last message that a client saw."""

    seq: int = 0
    log_id: int = 0
    message_id: int = 0

    @classmethod
    def named(cls, text: str | None) -> Self:
        if not text:
            return cls()
        found = _ID.fullmatch(text)
        if found is None:
            raise InvalidInput([("Last-Event-ID", "This is no id of this stream; leave it out to begin at the start.")])
        return cls(int(found[1]), int(found[2]), int(found[3] or 0))

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
    """What came after a place, each kind in its order."""

    events: list[Event]
    logs: list[LogLine]
    messages: list[tuple[Message, datetime]]  # each with when it was kept
    progress: list[ExecutionProgress]  # as it stands

    def is_full(self, limit: int) -> bool:
        """There may be more."""
        return max(len(self.events), len(self.logs), len(self.messages)) >= limit

    def in_order(self) -> Iterator[Item]:
        """By the clock, each kind in its own order; of one moment the event comes first."""
        events: list[Timed] = [(event.timestamp, event) for event in self.events]
        logs: list[Timed] = [(line.timestamp, line) for line in self.logs]
        messages: list[Timed] = [(at, message) for message, at in self.messages]
        return (item for _, item in heapq.merge(events, logs, messages, key=lambda timed: timed[0]))
