"""Estimates of the remaining time from earlier runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cairn.core.execution import Execution
from cairn.core.plan import Checkpoint, Plan
from cairn.core.run import Run
from cairn.core.states import ExecutionState, RunStatus
from cairn.services.runs.queries.estimates import seconds_left

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
# plan ┬ write ┬ check      write and draw stand in one stage
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
    """A run whose executions are in these states since so many seconds."""
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


def test_nothing_done_is_the_longest_way_through() -> None:
    assert seconds_left(run(), USUAL, NOW) == 165.0


def test_what_is_under_way_counts_what_is_left_of_it() -> None:
    assert seconds_left(run(plan=(ExecutionState.WORKING, 20)), USUAL, NOW) == 145.0


def test_what_takes_longer_than_usual_is_done_any_moment() -> None:
    assert seconds_left(run(plan=(ExecutionState.WAITING, 9000)), USUAL, NOW) == 105.0


def test_side_by_side_the_slower_one_counts() -> None:
    going = run(
        plan=(ExecutionState.COMPLETED, 100), write=(ExecutionState.COMPLETED, 50), draw=(ExecutionState.WORKING, 10)
    )
    assert seconds_left(going, USUAL, NOW) == 25.0


def test_what_was_never_timed_cannot_be_told() -> None:
    assert seconds_left(run(), {"plan": 60.0}, NOW) is None
    assert seconds_left(run(plan=(ExecutionState.COMPLETED, 9)), {"write": 1, "draw": 2, "check": 3}, NOW) == 5.0


def test_done_is_done() -> None:
    done = {key: (ExecutionState.COMPLETED, 10) for key, _ in CHECKPOINTS}
    assert seconds_left(run(**done), {}, NOW) == 0.0
