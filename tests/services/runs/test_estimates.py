"""Estimates of the remaining time from earlier runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cairn.core.execution import Execution
from cairn.core.plan import Checkpoint, Plan
from cairn.core.run import Run
from cairn.core.states import ExecutionState, RunStatus
from cairn.services.runs.queries.estimates import seconds_left

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
# plan ┬ write ┬ check      write and draw share a stage
#      └ draw ─┘
CHECKPOINTS = (("plan", "plan"), ("write", "work"), ("draw", "work"), ("check", "check"))
PLAN = Plan(
    tuple(
        Checkpoint(key=key, position=position, stage=stage, id=key, name=key)
        for position, (key, stage) in enumerate(CHECKPOINTS)
    )
)
USUAL = {"plan": 60.0, "write": 100.0, "draw": 30.0, "check": 5.0}


def run(**states: tuple[ExecutionState, int]) -> Run:
    """Return a run with executions in these states, each created this many seconds ago."""
    executions = [
        Execution(
            id=key,
            key=key,
            position=PLAN[key].position,
            pass_number=1,
            ordinal=number,
            state=state,
            created_at=NOW - timedelta(seconds=age),
        )
        for number, (key, (state, age)) in enumerate(states.items())
    ]
    return Run("run", PLAN, RunStatus.IN_PROGRESS, executions={e.id: e for e in executions})


def test_a_new_run_takes_as_long_as_its_longest_path() -> None:
    assert seconds_left(run(), USUAL, NOW) == 165.0


def test_elapsed_time_is_subtracted_for_running_executions() -> None:
    assert seconds_left(run(plan=(ExecutionState.WORKING, 20)), USUAL, NOW) == 145.0


def test_an_overdue_execution_has_no_remaining_time() -> None:
    assert seconds_left(run(plan=(ExecutionState.WAITING, 9000)), USUAL, NOW) == 105.0


def test_the_slowest_execution_of_a_stage_counts() -> None:
    current = run(
        plan=(ExecutionState.COMPLETED, 100), write=(ExecutionState.COMPLETED, 50), draw=(ExecutionState.WORKING, 10)
    )
    assert seconds_left(current, USUAL, NOW) == 25.0


def test_there_is_no_estimate_without_earlier_times() -> None:
    assert seconds_left(run(), {"plan": 60.0}, NOW) is None
    assert seconds_left(run(plan=(ExecutionState.COMPLETED, 9)), {"write": 1, "draw": 2, "check": 3}, NOW) == 5.0


def test_a_completed_run_has_no_remaining_time() -> None:
    done = {key: (ExecutionState.COMPLETED, 10) for key, _ in CHECKPOINTS}
    assert seconds_left(run(**done), {}, NOW) == 0.0
