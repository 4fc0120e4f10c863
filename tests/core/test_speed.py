"""A decision is fast, however many checkpoints a run has. The bounds are generous; `-s` shows the figures."""

from __future__ import annotations

from statistics import median
from time import thread_time
from uuid import UUID

import pytest

from cairn.core.commands import CommandContext
from cairn.core.draft import Draft
from cairn.core.plan import CheckpointPolicy
from cairn.core.settle import ready_checkpoints, settle
from cairn.core.states import ExecutionState, RunStatus
from tests.core.harness import Harness, plan_of

KEYS = tuple(f"c{number}" for number in range(200))
SHAPES: dict[str, tuple[str | tuple[str, ...], ...]] = {"sequential": KEYS, "parallel": (KEYS,)}
ENOUGH = 1.0  # milliseconds


def walk(harness: Harness) -> list[float]:
    """Milliseconds of each `Finished`, to the end of the run."""
    durations: list[float] = []
    while harness.run.status is RunStatus.IN_PROGRESS:
        e = next(e for e in harness.run.open if e.state is ExecutionState.WORKING)
        start = thread_time()
        harness.finish(e.key)
        durations.append((thread_time() - start) * 1000)
    return durations


@pytest.mark.parametrize("shape", SHAPES)
def test_from_finished_to_the_next_dispatch(shape: str) -> None:
    duration = walk(Harness(plan_of(*SHAPES[shape])))
    print(f"\n200 {shape}: median {median(duration):.3f} ms, longest {max(duration):.3f} ms")  # noqa: T201
    assert len(duration) == 200
    assert median(duration) < ENOUGH


@pytest.mark.parametrize("shape", SHAPES)
def test_settle_and_readiness(shape: str) -> None:
    harness = Harness(plan_of(*SHAPES[shape]))
    for key in KEYS[:100]:
        harness.finish(key)
    context = CommandContext(harness.at, "ann", UUID(int=1))
    start = thread_time()
    for _ in range(100):
        settle(Draft(harness.run, context))
    assert (thread_time() - start) * 10 < ENOUGH
    start = thread_time()
    for _ in range(100):
        ready_checkpoints(harness.run)
    assert (thread_time() - start) * 10 < ENOUGH


def test_decisions_among_many_approvals() -> None:
    policies = dict.fromkeys(KEYS, CheckpointPolicy(requires_start_approval=True, requires_completion_approval=True))
    harness = Harness(plan_of(*KEYS, policies=policies))
    durations: list[float] = []
    for key in KEYS:
        harness.answer(key, "approve")
        harness.finish(key)
        start = thread_time()
        harness.answer(key, "approve")
        durations.append((thread_time() - start) * 1000)
    print(f"\n200 with 400 approvals: median {median(durations):.3f} ms, longest {max(durations):.3f} ms")  # noqa: T201
    assert harness.run.status is RunStatus.COMPLETED
    assert median(durations) < ENOUGH
