"""Available commands for a whole page of a long run."""

from __future__ import annotations

from time import thread_time

from cairn.core.available_commands import for_execution
from cairn.core.states import ExecutionState, RunStatus
from tests.core.harness import Harness, plan_of

KEYS = tuple(f"c{number}" for number in range(200))
ENOUGH = 40.0  # milliseconds for all of them; it takes a tenth of that, and took seven times as much


def finished() -> Harness:
    harness = Harness(plan_of(*KEYS))
    while harness.run.status is RunStatus.IN_PROGRESS:
        harness.finish(next(e.key for e in harness.run.open if e.state is ExecutionState.WORKING))
    return harness


def test_every_execution_of_a_long_run() -> None:
    harness = finished()
    executions = list(harness.run.executions.values())
    taken: list[float] = []
    found: list[list[str]] = []
    for _ in range(5):  # the machine may stand still for a moment
        begun = thread_time()
        found = [for_execution(harness.run, e, harness.at) for e in executions]
        taken.append((thread_time() - begun) * 1000)
    assert min(taken) < ENOUGH
    assert found == [[], *([["rework"]] * 199)]  # nothing stands before the first


def test_only_what_is_complete_can_be_sent_back() -> None:
    harness = Harness(plan_of("a", "b", "c"))
    harness.finish("a")
    (b,) = harness.run.open
    assert for_execution(harness.run, b, harness.at) == ["cancel"]  # nobody looks at it yet
    harness.finish("b")
    assert "rework" in for_execution(harness.run, harness.run.executions[b.id], harness.at)
