"""Checkpoints with scripted conversations, as an agent runner would save them, but without agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from cairn.bootstrap import AppServices
from cairn.core.states import ExecutionMode
from cairn.ports import Conversation, ConversationMessage, Outcome, Produced, ProducedFile, Purpose, Runner, WorkOrder
from cairn.ports.models import TokenUsage

Script = Callable[[WorkOrder, Conversation], Awaitable[Outcome]]
AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
USAGE = TokenUsage(input=100, output=20, cache_read=40, cache_write=5)
DONE = b'{"value":1}'


def request_message(turn: str = "work", number: int = 1, text: str = "Do it.", **options: Any) -> ConversationMessage:
    """A message to a model."""
    message = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}]}
    fields: dict[str, Any] = {"message": message, "role": "user", "purpose": Purpose.WORK, "at": AT, **options}
    return ConversationMessage(turn, number, "Cairn", text=text, **fields)


def response_message(turn: str = "work", number: int = 2, text: str = "Done.", **options: Any) -> ConversationMessage:
    """A response of a model, with its usage and cost."""
    message = {"kind": "response", "parts": [{"part_kind": "text", "content": text}]}
    fields: dict[str, Any] = {
        "message": message,
        "role": "assistant",
        "purpose": Purpose.WORK,
        "at": AT,
        "seconds": 1.5,
        "model": "fake:large",
        "tokens": USAGE,
        "cost": Decimal("0.0125"),
        **options,
    }
    return ConversationMessage(turn, number, "Analyst", text=text, **fields)


def produced(work: WorkOrder, data: bytes = DONE) -> Produced:
    return Produced((ProducedFile(work.checkpoint.key, "json", data),))


async def one_turn(work: WorkOrder, conversation: Conversation) -> Outcome:
    """Save one request and one response."""
    await conversation.save(request_message())
    await conversation.save(response_message(is_last=True))
    return produced(work)


def agent_checkpoint(key: str = "talk", **config: Any) -> dict[str, Any]:
    """A checkpoint with two agents."""
    agent = {"name": "Analyst", "role": "analyst", "task_prompt": "Do it."}
    config_fields = {"creation_mode": "predefined", "agents": [agent, {**agent, "name": "Critic"}], **config}
    return {
        "key": key,
        "checkpoint_name": key.capitalize(),
        "execution": {"mode": "agentic", "agent_config": config_fields},
        "outputs": [f"{key}.json"],
    }


@contextmanager
def scripted_conversations(cairn: AppServices, script: Script = one_turn) -> Generator[None]:
    """Run checkpoints whose keys start with `talk` with the script within the block."""
    runners: dict[ExecutionMode, Runner] = cairn.runners
    modes, original = cairn.runs._modes, dict(runners)  # pyright: ignore[reportPrivateUsage]

    class ConversationRunner:
        async def run(self, work: WorkOrder) -> Outcome:
            if not work.checkpoint.key.startswith("talk"):
                return await original[work.checkpoint.execution.mode].run(work)
            assert work.conversation is not None
            return await script(work, work.conversation)

    runners |= {ExecutionMode.FUNCTION: ConversationRunner(), ExecutionMode.AGENTIC: ConversationRunner()}
    cairn.runs._modes = modes | {ExecutionMode.AGENTIC.value}  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        runners.clear()
        runners |= original
        cairn.runs._modes = modes  # pyright: ignore[reportPrivateUsage]
