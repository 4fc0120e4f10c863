"""Slow down guessing: count failed sign-ins in memory."""

from __future__ import annotations

from collections import OrderedDict, deque
from datetime import datetime

from cairn.ports import Clock
from cairn.services.errors import TooManyAttempts

WINDOW = 60.0  # seconds for which a failed attempt counts
MAX_SOURCES = 4096  # sources to remember; those without a failure for the longest time are dropped first


class SignInRateLimit:
    def __init__(self, clock: Clock, limit: int, max_sources: int = MAX_SOURCES) -> None:
        self._clock = clock
        self._limit = limit
        self._max_sources = max_sources
        self._failures: OrderedDict[str, deque[datetime]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._failures)

    def check(self, source: str) -> None:
        """Raise TooManyAttempts if the source has failed too often in the last minute."""
        recent = self._failures.get(source)
        if recent is None:
            return
        now = self._clock.now()
        while recent and (now - recent[0]).total_seconds() > WINDOW:
            recent.popleft()
        if not recent:
            del self._failures[source]
        elif len(recent) >= self._limit:
            raise TooManyAttempts(1 + int(WINDOW - (now - recent[0]).total_seconds()))

    def count(self, source: str) -> None:
        self._failures.setdefault(source, deque(maxlen=self._limit)).append(self._clock.now())
        self._failures.move_to_end(source)
        if len(self._failures) > self._max_sources:
            self._failures.popitem(last=False)

    def discard_last(self, source: str) -> None:
        """Remove the last attempt, because it did not fail."""
        if recent := self._failures.get(source):
            recent.pop()

    def reset(self, source: str) -> None:
        self._failures.pop(source, None)
