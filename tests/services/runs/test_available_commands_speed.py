"""Computing the available commands of a long run is fast."""

from __future__ import annotations

from time import thread_time

from cairn.core.available_commands import for_execution
from cairn.core.states import ExecutionState, RunStatus
from tests.core.harness import Harness, plan_of

KEYS = tuple(f"c{number}" for number in range(200))
LIMIT = 40.0  # milliseconds for all executions. It usually takes a tenth of that.


def completed_run() -> Harness:
    harness = Harness(plan_of(*KEYS))
    while harness.run.status is RunStatus.IN_PROGRESS:
        harness.finish(next(e.key for e in harness.run.open if e.state is ExecutionState.WORKING))
    return harness


def test_available_commands_of_a_long_run_are_computed_quickly() -> None:
    harness = completed_run()
    executions = list(harness.run.executions.values())
    times: list[float] = []
    found: list[list[str]] = []
    for _ in range(5):  # the machine may be busy for a moment
        started = thread_time()
        found = [for_execution(harness.run, e, harness.at) for e in executions]
        times.append((thread_time() - started) * 1000)
    assert min(times) < LIMIT
    assert found == [[], *([["rework"]] * 199)]  # the first checkpoint has no inputs to send back


def test_only_completed_executions_can_request_rework() -> None:
    harness = Harness(plan_of("a", "b", "c"))
    harness.finish("a")
    (b,) = harness.run.open
    assert for_execution(harness.run, b, harness.at) == ["cancel"]  # it is not waiting for a review yet
    harness.finish("b")
    assert "rework" in for_execution(harness.run, harness.run.executions[b.id], harness.at)
