"""Failed attempts to come in, counted in memory: guessing is slowed down."""

from __future__ import annotations

from collections import OrderedDict, deque
from datetime import datetime

from cairn.ports import Clock
from cairn.services.errors import TooManyAttempts

WINDOW = 60.0  # seconds that a failed attempt counts for
KEPT = 4096  # sources that are remembered; those that were quiet longest go first


class SignInRateLimit:
    def __init__(self, clock: Clock, most: int, kept: int = KEPT) -> None:
        self._clock = clock
        self._most = most
        self._kept = kept
        self._failures: OrderedDict[str, deque[datetime]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._failures)

    def refuse_flood(self, source: str) -> None:
        """Refuse who has failed too often in the last minute."""
        recent = self._failures.get(source)
        if recent is None:
            return
        now = self._clock.now()
        while recent and (now - recent[0]).total_seconds() > WINDOW:
            recent.popleft()
        if not recent:
            del self._failures[source]
        elif len(recent) >= self._most:
            raise TooManyAttempts(1 + int(WINDOW - (now - recent[0]).total_seconds()))

    def count(self, source: str) -> None:
        self._failures.setdefault(source, deque(maxlen=self._most)).append(self._clock.now())
        self._failures.move_to_end(source)
        if len(self._failures) > self._kept:
            self._failures.popitem(last=False)

    def withdraw(self, source: str) -> None:
        """The last one was none."""
        if recent := self._failures.get(source):
            recent.pop()

    def forget(self, source: str) -> None:
        self._failures.pop(source, None)
