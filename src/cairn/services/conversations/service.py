"""What is said with models: kept message by message, heard while it is said, and paid for once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Protocol, cast

from sqlalchemy.exc import IntegrityError

from cairn.core.commands import WarnBudget
from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution
from cairn.ports import BudgetExhausted, Conversation, ConversationClosed, ConversationMessage, MessageChunk, Purpose
from cairn.ports.models import TokenUsage
from cairn.services.conversations.live_messages import LiveMessages
from cairn.services.conversations.message_parts import told_beside
from cairn.services.costs.budgets import Budgets
from cairn.services.engine.engine import Engine
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.engine.retry import retry_transient
from cairn.services.text import sanitize
from cairn.store import Connection, LoadedRun, messages
from cairn.store.messages import DispatchRef
from cairn.store.model_usage import NANO

BY = "worker"  # who tells that the budget is nearly spent
SAID = "message"  # the hint that there is another one
OVER = "The execution was stopped, or another dispatch carries it on."


class SecretMasks(Protocol):
    """The secret store, as far as it hides what it knows."""

    def mask_remembered(self, text: str) -> str: ...
    def begun(self, text: str) -> int: ...


class Conversations:
    def __init__(self, engine: Engine, budgets: Budgets, hub: EventBus, masks: SecretMasks) -> None:
        self.engine = engine
        self.budgets = budgets
        self.database = engine.database
        self.hub = hub
        self.hide = masks.mask_remembered
        self.on_air = LiveMessages(hub, masks.mask_remembered, masks.begun)

    def of(self, loaded: LoadedRun, e: Execution) -> Conversation:
        """That of one dispatch."""
        facts = loaded.facts
        checkpoint_id = loaded.places[e.key].checkpoint_id
        place = DispatchRef(
            facts.pipeline_id, facts.run_id, e.id, e.dispatch, e.attempt_key, checkpoint_id, e.key, facts.is_test
        )
        return _ExecutionConversation(self, place)

    def end(self, run_id: str, execution_id: str) -> None:
        """Nobody speaks in this execution any more; what was cut off does not come."""
        self.on_air.whole(run_id, execution_id)


@dataclass(frozen=True, slots=True)
class _ExecutionConversation:
    """A conversation as its runner has it."""

    _all: Conversations
    _place: DispatchRef

    async def messages(self) -> Sequence[ConversationMessage]:
        place = self._place
        rows = await retry_transient(
            lambda: self._all.database.aread(lambda c: messages.find_messages(c, place.execution_id, place.attempt_key))
        )
        return [_said(row) for row in rows]

    async def save(self, *batch: ConversationMessage) -> None:
        place, shared = self._place, self._all
        now = shared.engine.clock.now()
        rows = [({**_message_values(one, shared.hide), "stored_at": now}, _call_values(one)) for one in batch]

        def store(connection: Connection) -> bool:
            stands = [messages.save_message(connection, place, message, call) for message, call in rows]
            return all(stands)

        try:
            counts = await retry_transient(lambda: shared.database.transact(store))
        except IntegrityError:  # the run is gone
            counts = False
        for one in batch:
            shared.on_air.whole(place.run_id, place.execution_id, one.turn, one.number)
        if not counts:
            raise ConversationClosed(OVER)
        shared.hub.publish_transient(ChangeHint(place.pipeline_id, place.run_id, SAID))

    def publish_chunk(self, chunk: MessageChunk) -> None:
        self._all.on_air.hear(self._place.run_id, self._place.execution_id, self._place.attempt_key, chunk)

    async def check_budget(self) -> None:
        """What others have under way is not known: it may go a little beyond the budget."""
        engine, run_id = self._all.engine, self._place.run_id
        budgets, cache = self._all.budgets, self._all.budgets.cache
        if cache.is_unlimited(run_id):
            return
        change_count = cache.change_count
        usage = await retry_transient(lambda: engine.database.aread(lambda c: budgets.of_run(c, run_id)))
        cache.remember(run_id, usage, change_count)
        if (exhausted := usage.exhausted) is not None:
            raise BudgetExhausted(exhausted.message)
        if (limit := usage.nearly_exhausted) is not None and not usage.is_warned:
            with suppress(CommandRefused):  # another dispatch has sent the warning
                await engine.send(run_id, WarnBudget(limit.message), engine.context(BY))


# ---- as rows -------------------------------------------------------------------------------------------
def _message_values(said: ConversationMessage, hide: Callable[[str], str]) -> dict[str, Any]:
    message = storable(said.message, hide)
    return {
        "turn": sanitize(said.turn),
        "number": said.number,
        "speaker": hide(sanitize(said.speaker)),
        "role": said.role,
        "purpose": said.purpose.value,
        "model": said.model,
        "is_simulated": said.is_simulated,
        "is_last": said.is_last,
        "sent_at": said.at,
        "seconds": said.seconds,
        "text": hide(sanitize(said.text)),
        "tools": told_beside(message) or None,
        "message": message,
    }


def _call_values(said: ConversationMessage) -> dict[str, Any] | None:
    """An answer is one that names the model that gave it."""
    if said.model is None:
        return None
    used = said.tokens or TokenUsage()
    return {
        "turn": sanitize(said.turn),
        "number": said.number,
        "purpose": said.purpose.value,
        "model": said.model,
        "is_simulated": said.is_simulated,
        "input_tokens": used.input,
        "output_tokens": used.output,
        "cache_read_tokens": used.cache_read,
        "cache_write_tokens": used.cache_write,
        "cost_nano_usd": None if said.cost is None else in_nano(said.cost),
        "day": said.at.astimezone(UTC).date().isoformat(),
        "called_at": said.at,
        "seconds": said.seconds,
    }


def in_nano(cost: Decimal) -> int:
    """US dollars as whole billionths: their sums are exact."""
    return int((cost / NANO).to_integral_value(ROUND_HALF_EVEN))


def in_dollars(nano: int) -> Decimal:
    return nano * NANO


def storable(value: Any, hide: Callable[[str], str]) -> Any:
    """What every database can hold, without any secret; a number that JSON cannot write is left out."""
    match value:
        case str():
            return hide(sanitize(value))
        case dict():
            given = cast("Mapping[str, Any]", value)
            return {hide(sanitize(name)): storable(inner, hide) for name, inner in given.items()}
        case list() | tuple():
            return [storable(inner, hide) for inner in cast("Sequence[Any]", value)]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def _said(row: Any) -> ConversationMessage:
    is_call = row.input_tokens is not None
    return ConversationMessage(
        turn=row.turn,
        number=row.number,
        speaker=row.speaker,
        role=row.role,
        purpose=Purpose(row.purpose),
        message=row.message,
        text=row.text,
        at=row.sent_at,
        seconds=row.seconds,
        model=row.model,
        is_simulated=row.is_simulated,
        tokens=TokenUsage(row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens)
        if is_call
        else None,
        cost=in_dollars(row.cost_nano_usd) if row.cost_nano_usd is not None else None,
        is_last=row.is_last,
    )
