"""Conversations with models. Each message is saved, so that a model is never paid twice for the same answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Protocol, cast

from cairn.core.commands import WarnBudget
from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution
from cairn.ports import (
    BudgetExhausted,
    Conversation,
    ConversationClosed,
    ConversationMessage,
    InterruptedCall,
    MessageChunk,
    Purpose,
)
from cairn.ports.models import TokenUsage
from cairn.services.conversations.live_messages import LiveMessages
from cairn.services.conversations.message_parts import parts_of
from cairn.services.costs.budgets import Budgets
from cairn.services.engine.engine import Engine
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.engine.retry import retry_transient
from cairn.services.text import sanitize
from cairn.store import Connection, LoadedRun, messages
from cairn.store.errors import IntegrityError
from cairn.store.messages import DispatchRef
from cairn.store.model_usage import NANO

WORKER = "worker"  # the actor of budget warnings
MESSAGE_HINT = "message"  # the type of the hint that a message was saved
CLOSED = "The execution was stopped or dispatched again."


class SecretMasks(Protocol):
    """The part of the secret store that masks secrets."""

    def mask_loaded(self, text: str) -> str: ...
    def partial_secret_length(self, text: str) -> int: ...


class ConversationService:
    def __init__(self, engine: Engine, budgets: Budgets, event_bus: EventBus, masks: SecretMasks) -> None:
        self.engine = engine
        self.budgets = budgets
        self.database = engine.database
        self.event_bus = event_bus
        self.mask = masks.mask_loaded
        self.live_messages = LiveMessages(event_bus, masks.mask_loaded, masks.partial_secret_length)

    def open(self, loaded: LoadedRun, e: Execution) -> Conversation:
        """The conversation of the current dispatch."""
        facts = loaded.facts
        checkpoint_id = loaded.places[e.key].checkpoint_id
        dispatch = DispatchRef(
            facts.pipeline_id, facts.run_id, e.id, e.dispatch, e.attempt_key, checkpoint_id, e.key, facts.is_test
        )
        return _ExecutionConversation(self, dispatch)

    def end(self, run_id: str, execution_id: str) -> None:
        """Drop messages that were still being streamed when the dispatch ended."""
        self.live_messages.remove(run_id, execution_id)


@dataclass(frozen=True, slots=True)
class _ExecutionConversation:
    _service: ConversationService
    _dispatch: DispatchRef

    async def messages(self) -> Sequence[ConversationMessage]:
        dispatch = self._dispatch
        rows = await retry_transient(
            lambda: self._service.database.aread(
                lambda c: messages.find_messages(c, dispatch.execution_id, dispatch.attempt_key)
            )
        )
        return [_message(row) for row in rows]

    async def save(self, *batch: ConversationMessage) -> None:
        dispatch, service = self._dispatch, self._service
        now = service.engine.clock.now()
        rows = [
            ({**_message_values(message, service.mask), "stored_at": now}, _call_values(message)) for message in batch
        ]

        def store(connection: Connection) -> bool:
            is_current = [messages.save_message(connection, dispatch, message, call) for message, call in rows]
            return all(is_current)

        try:
            is_open = await retry_transient(lambda: service.database.transact(store))
        except IntegrityError:  # the run was deleted
            is_open = False
        for message in batch:
            service.live_messages.remove(dispatch.run_id, dispatch.execution_id, message.turn, message.number)
        if not is_open:
            raise ConversationClosed(CLOSED)
        service.event_bus.publish_transient(ChangeHint(dispatch.pipeline_id, dispatch.run_id, MESSAGE_HINT))

    async def save_interrupted(self, *calls: InterruptedCall) -> None:
        dispatch, service = self._dispatch, self._service
        rows = [_call_row(call, call.tokens, call.attempt) for call in calls]

        def store(connection: Connection) -> None:
            for row in rows:
                messages.save_call(connection, dispatch, row)

        await retry_transient(lambda: service.database.transact(store))
        service.event_bus.publish_transient(ChangeHint(dispatch.pipeline_id, dispatch.run_id, MESSAGE_HINT))

    def publish_chunk(self, chunk: MessageChunk) -> None:
        dispatch = self._dispatch
        self._service.live_messages.add_chunk(dispatch.run_id, dispatch.execution_id, dispatch.attempt_key, chunk)

    async def check_budget(self) -> None:
        """Raise BudgetExhausted if the run has no budget left, and warn if it is nearly exhausted.

        Calls that are still running don't count yet, so a run can exceed its budget slightly.
        """
        engine, run_id = self._service.engine, self._dispatch.run_id
        budgets, cache = self._service.budgets, self._service.budgets.cache
        if cache.is_unlimited(run_id):
            return
        change_count = cache.change_count
        usage = await retry_transient(lambda: engine.database.aread(lambda c: budgets.run_usage(c, run_id)))
        cache.remember(run_id, usage, change_count)
        if (exhausted := usage.exhausted) is not None:
            raise BudgetExhausted(exhausted.message)
        if (limit := usage.nearly_exhausted) is not None and not usage.is_warned:
            with suppress(CommandRefused):  # the warning was already sent
                await engine.send(run_id, WarnBudget(limit.message), engine.context(WORKER))


# Rows
def _message_values(message: ConversationMessage, mask: Callable[[str], str]) -> dict[str, Any]:
    document = storable(message.message, mask)
    return {
        "turn": sanitize(message.turn),
        "number": message.number,
        "speaker": mask(sanitize(message.speaker)),
        "role": message.role,
        "purpose": message.purpose.value,
        "model": message.model,
        "is_simulated": message.is_simulated,
        "is_last": message.is_last,
        "sent_at": message.at,
        "seconds": message.seconds,
        "text": mask(sanitize(message.text)),
        "tools": parts_of(document) or None,
        "message": document,
    }


def _call_values(message: ConversationMessage) -> dict[str, Any] | None:
    """The row of the model call. None if the message is not a model's answer."""
    return None if message.model is None else _call_row(message, message.tokens or TokenUsage(), attempt=0)


def _call_row(call: ConversationMessage | InterruptedCall, tokens: TokenUsage, attempt: int) -> dict[str, Any]:
    return {
        "turn": sanitize(call.turn),
        "number": call.number,
        "attempt": attempt,
        "purpose": call.purpose.value,
        "model": call.model,
        "is_simulated": call.is_simulated,
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "cost_nano_usd": None if call.cost is None else in_nano(call.cost),
        "day": call.at.astimezone(UTC).date().isoformat(),
        "called_at": call.at,
        "seconds": call.seconds,
    }


def in_nano(cost: Decimal) -> int:
    """US dollars as a whole number of billionths, so that sums are exact."""
    return int((cost / NANO).to_integral_value(ROUND_HALF_EVEN))


def in_dollars(nano: int) -> Decimal:
    return nano * NANO


def storable(value: Any, mask: Callable[[str], str]) -> Any:
    """A copy that every database can store: secrets masked, text sanitized, NaN and infinity replaced by None."""
    match value:
        case str():
            return mask(sanitize(value))
        case dict():
            members = cast("Mapping[str, Any]", value)
            return {mask(sanitize(name)): storable(inner, mask) for name, inner in members.items()}
        case list() | tuple():
            return [storable(inner, mask) for inner in cast("Sequence[Any]", value)]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def _message(row: Any) -> ConversationMessage:
    is_answer = row.input_tokens is not None
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
        if is_answer
        else None,
        cost=in_dollars(row.cost_nano_usd) if row.cost_nano_usd is not None else None,
        is_last=row.is_last,
    )
