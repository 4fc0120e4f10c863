"""Checkpoints that talk: what a runner of agents does with a conversation, without agents."""

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
USED = TokenUsage(input=100, output=20, cache_read=40, cache_write=5)
DONE = b'{"value":1}'


def asked(turn: str = "work", number: int = 1, text: str = "Do it.", **more: Any) -> ConversationMessage:
    """What a model was given."""
    message = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}]}
    given: dict[str, Any] = {"message": message, "role": "user", "purpose": Purpose.WORK, "at": AT, **more}
    return ConversationMessage(turn, number, "Cairn", text=text, **given)


def answered(turn: str = "work", number: int = 2, text: str = "Done.", **more: Any) -> ConversationMessage:
    """What it said, and what that cost."""
    message = {"kind": "response", "parts": [{"part_kind": "text", "content": text}]}
    given: dict[str, Any] = {
        "message": message,
        "role": "assistant",
        "purpose": Purpose.WORK,
        "at": AT,
        "seconds": 1.5,
        "model": "fake:large",
        "tokens": USED,
        "cost": Decimal("0.0125"),
        **more,
    }
    return ConversationMessage(turn, number, "Analyst", text=text, **given)


def produced(work: WorkOrder, data: bytes = DONE) -> Produced:
    return Produced((ProducedFile(work.checkpoint.key, "json", data),))


async def one_turn(work: WorkOrder, conversation: Conversation) -> Outcome:
    """A question and its answer."""
    await conversation.save(asked())
    await conversation.save(answered(is_last=True))
    return produced(work)


def agents(key: str = "talk", **config: Any) -> dict[str, Any]:
    """A checkpoint that agents carry out."""
    agent = {"name": "Analyst", "role": "analyst", "task_prompt": "Do it."}
    two = {"creation_mode": "predefined", "agents": [agent, {**agent, "name": "Critic"}], **config}
    return {
        "key": key,
        "checkpoint_name": key.capitalize(),
        "execution": {"mode": "agentic", "agent_config": two},
        "outputs": [f"{key}.json"],
    }


@contextmanager
def talking(cairn: AppServices, script: Script = one_turn) -> Generator[None]:
    """Meanwhile checkpoints whose keys begin with `talk` are carried out by the script."""
    runners: dict[ExecutionMode, Runner] = cairn.runners
    modes, own = cairn.runs._modes, dict(runners)  # pyright: ignore[reportPrivateUsage]

    class Talker:
        async def run(self, work: WorkOrder) -> Outcome:
            if not work.checkpoint.key.startswith("talk"):
                return await own[work.checkpoint.execution.mode].run(work)
            assert work.conversation is not None
            return await script(work, work.conversation)

    runners |= {ExecutionMode.FUNCTION: Talker(), ExecutionMode.AGENTIC: Talker()}
    cairn.runs._modes = modes | {ExecutionMode.AGENTIC.value}  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        runners.clear()
        runners |= own
        cairn.runs._modes = modes  # pyright: ignore[reportPrivateUsage]
