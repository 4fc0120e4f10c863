"""Messages that models are streaming right now, kept in memory until they are complete.

Watchers of a run receive only a hint. Each then reads what it has not read yet, so a slow watcher reads larger pieces
and delays nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from cairn.ports import MessageChunk
from cairn.services.conversations.views import DeltaKind, MessageDelta
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.text import sanitize

BATCH_SECONDS = 0.05
MESSAGE_DELTA = "message_delta"  # the type of the hint; nothing has been stored
MAX_LENGTH = 256 * 1024  # characters of one message that are streamed
KINDS: dict[str, DeltaKind] = {"text": "text", "thinking": "thinking", "tool_call": "tool_call"}
_GENERATIONS = count()


class LiveMessageKey(NamedTuple):
    execution_id: str
    turn: str
    number: int
    kind: DeltaKind


@dataclass(slots=True)
class LiveMessage:
    key: LiveMessageKey
    attempt_key: str
    speaker: str
    is_simulated: bool
    generation: int = field(default_factory=lambda: next(_GENERATIONS))  # changes when the message starts over
    pieces: list[str] = field(default_factory=list[str])  # visible to watchers, with secrets masked
    unmasked: list[str] = field(default_factory=list[str])  # received but not yet visible
    length: int = 0

    def delta(self, offset: int, text: str) -> MessageDelta:
        return MessageDelta(
            execution_id=self.key.execution_id,
            attempt_key=self.attempt_key,
            turn=self.key.turn,
            number=self.key.number,
            agent_name=self.speaker,
            kind=self.key.kind,
            offset=offset,
            text=text,
            is_simulated=self.is_simulated,
        )


class LiveMessages:
    def __init__(
        self, event_bus: EventBus, mask: Callable[[str], str], partial_secret_length: Callable[[str], int]
    ) -> None:
        """`mask` replaces secrets. `partial_secret_length` counts trailing characters that may start a secret."""
        self._event_bus = event_bus
        self._mask = mask
        self._partial_secret_length = partial_secret_length
        self._messages: dict[str, dict[LiveMessageKey, LiveMessage]] = {}  # by run
        self._changed: dict[LiveMessageKey, tuple[str, LiveMessage]] = {}  # with the run's id
        self._timer: asyncio.TimerHandle | None = None

    def add_chunk(self, run_id: str, execution_id: str, attempt_key: str, chunk: MessageChunk) -> None:
        """Add a chunk, which watchers see with the next batch. Must be called on the event loop."""
        key = LiveMessageKey(execution_id, chunk.turn, chunk.number, KINDS.get(chunk.kind, "text"))
        messages = self._messages.setdefault(run_id, {})
        message = messages.get(key)
        if message is None or chunk.restarts:
            message = messages[key] = LiveMessage(key, attempt_key, chunk.speaker, chunk.is_simulated)
        if message.length < MAX_LENGTH and chunk.text:
            message.unmasked.append(chunk.text)
            message.length += len(chunk.text)
            self._changed[key] = run_id, message
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(BATCH_SECONDS, self._publish)

    def messages_of_run(self, run_id: str) -> list[LiveMessage]:
        return list(self._messages.get(run_id, {}).values())

    def remove(self, run_id: str, execution_id: str, turn: str | None = None, number: int | None = None) -> None:
        """Remove a message that is now stored, or all messages of the execution."""
        messages = self._messages.get(run_id)
        if messages is None:
            return
        for key in [k for k in messages if k.execution_id == execution_id]:
            if turn is None or (key.turn, key.number) == (turn, number):
                del messages[key]
                self._changed.pop(key, None)
        if not messages:
            del self._messages[run_id]

    def _publish(self) -> None:
        self._timer = None
        changed, self._changed = self._changed, {}
        for _, message in changed.values():
            self._mask_new_text(message)
        for run_id in {run_id for run_id, _ in changed.values()}:
            self._event_bus.publish_transient(ChangeHint(None, run_id, MESSAGE_DELTA))

    def _mask_new_text(self, message: LiveMessage) -> None:
        """Hold back text that may be the beginning of a secret until the rest of it arrives."""
        text = sanitize("".join(message.unmasked))
        end = len(text) - self._partial_secret_length(text)
        message.unmasked = [text[end:]] if end < len(text) else []
        if end:
            message.pieces.append(self._mask(text[:end]))


class LiveMessageCursor:
    """How much of each live message one watcher has read."""

    def __init__(self) -> None:
        self._read: dict[LiveMessageKey, tuple[int, int, int]] = {}  # generation, pieces, characters

    def new_deltas(self, messages: list[LiveMessage]) -> list[MessageDelta]:
        """The text since the last call, at most one delta for each message. Offset 0 starts the message over."""
        deltas: list[MessageDelta] = []
        read, self._read = self._read, {}
        for message in messages:
            generation, pieces, offset = read.get(message.key, (-1, 0, 0))
            if generation != message.generation:
                pieces = offset = 0
            text = "".join(message.pieces[pieces:])
            self._read[message.key] = message.generation, len(message.pieces), offset + len(text)
            if text:
                deltas.append(message.delta(offset, text))
        return deltas
