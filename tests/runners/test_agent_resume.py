"""Broken off after any message, a conversation goes on, and nothing that was answered is asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.ports import Outcome, Produced, WorkOrder
from tests.runners.agent_samples import Agents, Asked, FakeModels, Kept, Mind, Reply, Uses, hands_over, texts

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def replay_every_prefix(
    folder: Path, mind: Mind, make: Callable[[Agents], WorkOrder]
) -> tuple[Outcome, list[Asked]]:
    """What comes of it whole, and each time the same from any place where it may be broken off."""
    whole = Agents(folder / "whole", FakeModels(mind))
    outcome = await whole.runner.run(make(whole))
    said = whole.kept.all
    for count in range(len(said) + 1):
        bench = Agents(folder / f"after-{count}", FakeModels(mind))
        bench.kept.most = count
        if count < len(said):
            with pytest.raises(asyncio.CancelledError):
                await bench.runner.run(make(bench))
        else:
            await bench.runner.run(make(bench))
        again = Agents(bench.folder, FakeModels(mind), kept=Kept(bench.kept.all))
        assert kind_of(await again.runner.run(make(again))) == kind_of(outcome), count
        answered = sum(one.role == "assistant" for one in bench.kept.all)
        assert len(again.models.asked) == len(whole.models.asked) - answered, count
        assert sorted((one.turn, one.number, one.role, one.is_last) for one in again.kept.all) == sorted(
            (one.turn, one.number, one.role, one.is_last) for one in said
        ), count
    return outcome, whole.models.asked


def kind_of(outcome: Outcome) -> object:
    return texts(outcome.artifacts) if isinstance(outcome, Produced) else outcome


async def test_one_agent_with_tools(tmp_path: Path) -> None:
    replies: list[Reply] = [
        [Uses("write_file", {"path": "workspace/a.txt", "content": "one"}), Uses("list_files", {})],
        Uses("read_file", {"path": "workspace/a.txt"}),
        Uses("read_file", {"path": "/etc/passwd"}),
        "Is that all?",
        Uses("write_file", {"path": "report.md", "content": "# One"}),
        "Done.",
    ]
    outcome, asked = await replay_every_prefix(
        tmp_path,
        lambda asked: replies[asked.answers],
        lambda bench: bench.work("report.md", agent={"tools": ["file_operations"]}),
    )
    assert (kind_of(outcome), len(asked)) == ({"report.md": "# One"}, 6)


async def test_one_agent_that_is_corrected(tmp_path: Path) -> None:
    replies: list[Reply] = [" ", hands_over({"n": "x"}), hands_over({"n": 1})]
    outcome, asked = await replay_every_prefix(
        tmp_path,
        lambda asked: replies[asked.answers],
        lambda bench: bench.work({"name": "count", "format": "json", "schema": SCHEMA}),
    )
    assert (kind_of(outcome), len(asked)) == ({"count.json": '{"n":1}'}, 3)
