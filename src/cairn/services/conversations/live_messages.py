"""What is being said at this moment: pieces of messages on their way, as far as they have come.

Nobody is sent anything here. Whoever watches a run is given a hint, looks at what there is, and remembers how much of
it was shown: one who is slow gets more at a time, and holds nobody up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from cairn.ports import MessageChunk
from cairn.services.conversations.views import MessageDelta, PieceKind
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.text import sanitize

BATCH_SECONDS = 0.05
HEARD = "heard"  # the hint: nothing of it is in the database
LONGEST = 256 * 1024  # characters of one message that are shown before it is whole
KINDS: dict[str, PieceKind] = {"text": "text", "thinking": "thinking", "tool_call": "tool_call"}
_NUMBERS = count()


class LiveMessageKey(NamedTuple):
    execution_id: str
    turn: str
    number: int
    kind: PieceKind


@dataclass(slots=True)
class LiveMessage:
    """A message on its way, without any secret."""

    key: LiveMessageKey
    scope: str
    speaker: str
    is_simulated: bool
    generation: int = field(default_factory=lambda: next(_NUMBERS))  # another one when it begins anew
    shown: list[str] = field(default_factory=list[str])
    length: int = 0
    fresh: list[str] = field(default_factory=list[str])  # not looked through for secrets yet

    def piece(self, offset: int, text: str) -> MessageDelta:
        return MessageDelta(
            execution_id=self.key.execution_id,
            scope=self.scope,
            turn=self.key.turn,
            number=self.key.number,
            agent_name=self.speaker,
            kind=self.key.kind,
            offset=offset,
            text=text,
            is_simulated=self.is_simulated,
        )


class LiveMessages:
    def __init__(self, hub: EventBus, hide: Callable[[str], str], begun: Callable[[str], int]) -> None:
        """`hide` masks secrets; `begun` says how many characters at the end of a text may be the start of one."""
        self._hub = hub
        self._hide = hide
        self._begun = begun
        self._coming: dict[str, dict[LiveMessageKey, LiveMessage]] = {}  # by run
        self._fresh: dict[LiveMessageKey, tuple[str, LiveMessage]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def hear(self, run_id: str, execution_id: str, scope: str, heard: MessageChunk) -> None:
        """On the event loop; it takes no time."""
        key = LiveMessageKey(execution_id, heard.turn, heard.number, KINDS.get(heard.kind, "text"))
        messages = self._coming.setdefault(run_id, {})
        coming = messages.get(key)
        if coming is None or heard.restarts:
            coming = messages[key] = LiveMessage(key, scope, heard.speaker, heard.is_simulated)
        if coming.length < LONGEST and heard.text:
            coming.fresh.append(heard.text)
            coming.length += len(heard.text)
            self._fresh[key] = run_id, coming
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(BATCH_SECONDS, self._due)

    def now(self, run_id: str) -> list[LiveMessage]:
        """What is on its way in a run."""
        return list(self._coming.get(run_id, {}).values())

    def whole(self, run_id: str, execution_id: str, turn: str | None = None, number: int | None = None) -> None:
        """This message is kept now; without one, nothing of the execution is on its way any more."""
        messages = self._coming.get(run_id)
        if messages is None:
            return
        for key in [k for k in messages if k.execution_id == execution_id]:
            if turn is None or (key.turn, key.number) == (turn, number):
                del messages[key]
                self._fresh.pop(key, None)
        if not messages:
            del self._coming[run_id]

    def _due(self) -> None:
        self._timer = None
        fresh, self._fresh = self._fresh, {}
        for _, coming in fresh.values():
            self._show(coming)
        for run_id in {run_id for run_id, _ in fresh.values()}:
            self._hub.publish_transient(ChangeHint(None, run_id, HEARD))

    def _show(self, coming: LiveMessage) -> None:
        """What may be the start of a secret waits for the rest of it."""
        text = sanitize("".join(coming.fresh))
        held = self._begun(text)
        ready = text[: len(text) - held]
        coming.fresh = [text[len(text) - held :]] if held else []
        if ready:
            coming.shown.append(self._hide(ready))


class LiveMessageCursor:
    """How much of what is on its way one watcher has been shown."""

    def __init__(self) -> None:
        self._seen: dict[LiveMessageKey, tuple[int, int, int]] = {}  # generation, pieces, characters

    def take(self, coming: list[LiveMessage]) -> list[MessageDelta]:
        """What is new since the last time, a piece for each message; one at offset 0 begins it anew."""
        found: list[MessageDelta] = []
        seen, self._seen = self._seen, {}
        for one in coming:
            generation, pieces, offset = seen.get(one.key, (-1, 0, 0))
            if generation != one.generation:
                pieces = offset = 0
            text = "".join(one.shown[pieces:])
            self._seen[one.key] = one.generation, len(one.shown), offset + len(text)
            if text:
                found.append(one.piece(offset, text))
        return found
