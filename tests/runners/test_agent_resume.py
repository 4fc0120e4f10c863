"""A conversation that is interrupted after any message resumes there and repeats no model call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.ports import Outcome, Produced, WorkOrder
from tests.runners.agent_samples import (
    AgentBench,
    FakeConversation,
    FakeModels,
    ReceivedRequest,
    Reply,
    Responder,
    ToolCall,
    final_result,
    texts,
)

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def replay_every_prefix(
    folder: Path, respond: Responder, make: Callable[[AgentBench], WorkOrder]
) -> tuple[Outcome, list[ReceivedRequest]]:
    """Run without interruption, then interrupt after every message. The outcome must always be the same."""
    complete = AgentBench(folder / "complete", FakeModels(respond))
    outcome = await complete.runner.run(make(complete))
    messages = complete.conversation.saved
    for count in range(len(messages) + 1):
        bench = AgentBench(folder / f"after-{count}", FakeModels(respond))
        bench.conversation.max_messages = count
        if count < len(messages):
            with pytest.raises(asyncio.CancelledError):
                await bench.runner.run(make(bench))
        else:
            await bench.runner.run(make(bench))
        again = AgentBench(bench.folder, FakeModels(respond), conversation=FakeConversation(bench.conversation.saved))
        assert result_of(await again.runner.run(make(again))) == result_of(outcome), count
        answered = sum(message.role == "assistant" for message in bench.conversation.saved)
        assert len(again.models.requests) == len(complete.models.requests) - answered, count
        assert sorted(
            (message.turn, message.number, message.role, message.is_last) for message in again.conversation.saved
        ) == sorted((message.turn, message.number, message.role, message.is_last) for message in messages), count
    return outcome, complete.models.requests


def result_of(outcome: Outcome) -> object:
    return texts(outcome.artifacts) if isinstance(outcome, Produced) else outcome


async def test_an_interrupted_agent_with_tools_resumes_after_any_message(tmp_path: Path) -> None:
    replies: list[Reply] = [
        [ToolCall("write_file", {"path": "workspace/a.txt", "content": "one"}), ToolCall("list_files", {})],
        ToolCall("read_file", {"path": "workspace/a.txt"}),
        ToolCall("read_file", {"path": "/etc/passwd"}),
        "Is that all?",
        ToolCall("write_file", {"path": "report.md", "content": "# One"}),
        "Done.",
    ]
    outcome, requests = await replay_every_prefix(
        tmp_path,
        lambda request: replies[request.answers],
        lambda bench: bench.work("report.md", agent={"tools": ["file_operations"]}),
    )
    assert (result_of(outcome), len(requests)) == ({"report.md": "# One"}, 6)


async def test_an_interrupted_correction_resumes_after_any_message(tmp_path: Path) -> None:
    replies: list[Reply] = [" ", final_result({"n": "x"}), final_result({"n": 1})]
    outcome, requests = await replay_every_prefix(
        tmp_path,
        lambda request: replies[request.answers],
        lambda bench: bench.work({"name": "count", "format": "json", "schema": SCHEMA}),
    )
    assert (result_of(outcome), len(requests)) == ({"count.json": '{"n":1}'}, 3)
