"""Checkpoints that talk: what a runner of agents does with a conversation, without agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from cairn.bootstrap import Cairn
from cairn.core.states import Mode
from cairn.ports import Content, Conversation, Outcome, Produced, Purpose, Runner, Said, Work
from cairn.ports.models import Tokens

Script = Callable[[Work, Conversation], Awaitable[Outcome]]
AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
USED = Tokens(input=100, output=20, cache_read=40, cache_write=5)
DONE = b'{"value":1}'


def asked(turn: str = "work", number: int = 1, text: str = "Do it.", **more: Any) -> Said:
    """What a model was given."""
    message = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": text}]}
    given: dict[str, Any] = {"message": message, "role": "user", "purpose": Purpose.WORK, "at": AT, **more}
    return Said(turn, number, "Cairn", text=text, **given)


def answered(turn: str = "work", number: int = 2, text: str = "Done.", **more: Any) -> Said:
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
    return Said(turn, number, "Analyst", text=text, **given)


def produced(work: Work, data: bytes = DONE) -> Produced:
    return Produced((Content(work.checkpoint.key, "json", data),))


async def one_turn(work: Work, conversation: Conversation) -> Outcome:
    """A question and its answer."""
    await conversation.keep(asked())
    await conversation.keep(answered(is_last=True))
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
def talking(cairn: Cairn, script: Script = one_turn) -> Generator[None]:
    """Meanwhile checkpoints whose keys begin with `talk` are carried out by the script."""
    runners: dict[Mode, Runner] = cairn.runners
    modes, own = cairn.runs._modes, dict(runners)  # pyright: ignore[reportPrivateUsage]

    class Talker:
        async def carry_out(self, work: Work) -> Outcome:
            if not work.checkpoint.key.startswith("talk"):
                return await own[work.checkpoint.execution.mode].carry_out(work)
            assert work.conversation is not None
            return await script(work, work.conversation)

    runners |= {Mode.FUNCTION: Talker(), Mode.AGENTIC: Talker()}
    cairn.runs._modes = modes | {Mode.AGENTIC.value}  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        runners.clear()
        runners |= own
        cairn.runs._modes = modes  # pyright: ignore[reportPrivateUsage]
