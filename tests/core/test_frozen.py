"""Frozen values: copies, properties, and the index of executions."""

from __future__ import annotations

import pytest

from cairn.core.execution import Execution, ExecutionIndex
from cairn.core.plan import CheckpointPolicy, Plan
from cairn.core.run import Run
from cairn.core.states import ExecutionState
from tests.core.harness import plan_of


def execution(key: str, ordinal: int, state: ExecutionState = ExecutionState.COMPLETED, **more: object) -> Execution:
    return Execution(f"{key}{ordinal}", key, 0, 1, ordinal, state=state).replace(**more)


def run_of(*executions: Execution) -> Run:
    return Run("run", plan_of("a", "b"), executions={e.id: e for e in executions})


def test_a_changed_copy_does_not_change_the_original() -> None:
    e = execution("a", 1)
    assert e.replace(attempt=2) == Execution("a1", "a", 0, 1, 1, state=ExecutionState.COMPLETED, attempt=2)
    assert e.attempt == 1
    with pytest.raises(AttributeError):
        e.attempt = 2  # type: ignore[misc]


def test_replacing_an_unknown_field_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"Execution\b.*\bcolour"):
        execution("a", 1).replace(colour="red")


def test_current_open_failed_and_completed_executions() -> None:
    old = execution("a", 1, pass_number=0)
    archived = execution("a", 2, archived_by="r")
    first, again = execution("a", 3), execution("a", 4)
    failed, working = execution("b", 5, ExecutionState.FAILED), execution("b", 6, ExecutionState.WORKING)
    run = run_of(old, archived, first, again, failed, working)
    assert run.current == (first, again, failed, working)
    assert (run.open, run.failed, run.is_working) == ((working,), (failed,), True)
    assert (run.latest("a"), run.latest("b")) == (again, None)
    assert (run.complete, run.active_keys) == (frozenset({"a"}), {"b"})


@pytest.mark.parametrize(
    "change",
    [
        {"state": ExecutionState.COMPLETED},
        {"state": ExecutionState.FAILED},
        {"state": ExecutionState.CANCELLED},
        {"state": ExecutionState.WAITING},
        {"archived_by": "r"},
        {"has_workspace": False},
    ],
)
@pytest.mark.parametrize("state", list(ExecutionState))
def test_the_execution_index_follows_every_change(state: ExecutionState, change: dict[str, object]) -> None:
    executions = [execution("a", 1), execution("a", 2, state), execution("b", 3, ExecutionState.FAILED)]
    for e in executions:
        run = run_of(*executions)
        assert run.current
        changed = run.with_executions(e.replace(**change))
        assert changed.index == ExecutionIndex.from_executions(changed.executions.values(), 1)
        assert list(changed.index.open) == list(ExecutionIndex.from_executions(changed.executions.values(), 1).open)


def test_a_restored_execution_returns_to_its_original_position() -> None:
    run = run_of(execution("a", 1, archived_by="r"), execution("a", 2))
    back = run.with_executions(execution("a", 1))
    assert [e.ordinal for e in back.current] == [1, 2]
    assert back.latest("a") == execution("a", 2)


def test_several_executions_change_at_once_and_a_new_pass_has_none() -> None:
    run = run_of(execution("a", 1))
    more = run.with_executions(execution("b", 2), execution("a", 1, ExecutionState.FAILED))
    assert (more.failed, more.complete) == ((execution("a", 1, ExecutionState.FAILED),), {"b"})
    assert more.replace(pass_number=2).current == ()


def test_a_missing_policy_is_the_default() -> None:
    plan = Plan((), {"a": CheckpointPolicy(max_revisions=9)})
    assert (plan.policy("a").max_revisions, plan.policy("b")) == (9, CheckpointPolicy())
