"""How a rework ends, and what its requester learns."""

from __future__ import annotations

from cairn.core.commands import (
    CancelExecution,
    ExecutionFinished,
    ResumeRun,
    RetryExecution,
    ReworkRequested,
    RollBack,
    StartExecution,
)
from cairn.core.events import EventType
from cairn.core.execution import Rework
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ExecutionState, OnFailure, RunStatus, WaitingOn
from tests.core.desk import BROKEN, RESULT, Desk, plan_of
from tests.mentions import mentions


def wanted(key: str = "a", policies: dict[str, CheckpointPolicy] | None = None) -> Desk:
    """`b` works and has sent `key` back."""
    desk = Desk(plan_of("a", "b", "c", policies=policies))
    desk.finish("a", "a1")
    desk.send(ReworkRequested(desk.e("b").id, 1, key, "a figure is wrong", "Add it up again"), "worker")
    return desk


def test_a_failed_rework_follows_its_policy_while_the_requester_waits() -> None:
    desk = wanted()
    desk.fail("a")
    assert (desk.run.status, desk.e("b").waiting_on) == (RunStatus.PAUSED, WaitingOn.REWORK)
    desk.send(RetryExecution(desk.e("a").id, 1))
    assert (desk.e("a").state, desk.e("b").waiting_on) == (ExecutionState.WORKING, WaitingOn.REWORK)
    desk.finish("a")
    assert desk.states["b"] == "WORKING"


def test_a_redo_of_a_failed_rework_keeps_its_parent() -> None:
    desk = wanted(policies={"a": CheckpointPolicy(on_failure=OnFailure.ROLLBACK_CHECKPOINT)})
    desk.fail("a")
    redo = desk.e("a")
    assert (redo.state, redo.asked_by, redo.asks_anew) == (ExecutionState.PENDING, desk.e("b").id, True)
    assert redo.rework == Rework("b", "Add it up again", "a figure is wrong")
    assert desk.e("b").waiting_on is WaitingOn.REWORK
    desk.send(StartExecution(redo.id))
    desk.finish("a")
    assert desk.states["b"] == "WORKING"


def told(desk: Desk, ended: str, reason: str) -> None:
    """Who asked is told of a rework that has put nothing out."""
    assert desk.detail(EventType.REWORK_TOLD) == {
        "checkpoint": "a",
        "ended": ended,
        "reason": reason,
        "requested_by": "b",
        "execution_id": desk.e("a").id,
        "artifacts": [],
    }


def test_dismissing_a_failed_rework_resumes_its_requester() -> None:
    desk = wanted()
    desk.fail("a")
    desk.send(CancelExecution(desk.e("a").id))
    assert desk.e("b").state is ExecutionState.READY  # a pause holds until somebody resumes
    told(desk, "failed", BROKEN.message)
    desk.send(ResumeRun())
    assert desk.states["b"] == "WORKING"
    assert [e.state for e in desk.run.executions.values() if e.key == "a"] == [
        ExecutionState.COMPLETED,
        ExecutionState.CANCELLED,
    ]


def test_a_cancelled_rework_resumes_its_requester_even_before_its_start() -> None:
    desk = wanted(policies={"a": CheckpointPolicy(on_failure=OnFailure.ROLLBACK_CHECKPOINT)})
    desk.fail("a")
    desk.send(CancelExecution(desk.e("a").id))
    assert (desk.states["b"], desk.e("a").state) == ("WORKING", ExecutionState.CANCELLED)
    told(desk, "cancelled", mentions())


def test_a_rework_refused_at_its_start_is_cancelled_and_reported_to_the_requester() -> None:
    desk = Desk(plan_of("a", "b", policies={"a": CheckpointPolicy(ask_start=True)}))
    desk.answer("a", "approve")
    desk.finish("a")
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    desk.answer("a", "refuse", feedback="not today")
    assert (desk.e("a").state, desk.states["b"]) == (ExecutionState.CANCELLED, "WORKING")
    told(desk, "refused", "not today")


def test_cancelling_the_requester_cancels_its_reworks() -> None:
    desk = Desk(plan_of("a", "b", "c"))
    desk.finish("a")
    desk.finish("b")
    desk.send(ReworkRequested(desk.e("c").id, 1, "b"), "worker")
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    desk.send(CancelExecution(desk.e("c").id))
    assert [desk.all(key) for key in "abc"] == [
        [ExecutionState.COMPLETED, ExecutionState.CANCELLED],
        [ExecutionState.COMPLETED, ExecutionState.CANCELLED],
        [ExecutionState.CANCELLED, ExecutionState.PENDING],
    ]


def test_rolling_back_the_requester_cancels_its_reworks() -> None:
    desk = wanted()
    rework, asker = desk.e("a"), desk.e("b")
    desk.send(RollBack("r", 0))
    assert set(desk.run.rollbacks[0].archived) == {rework.id, asker.id}
    assert desk.states == {"a": "COMPLETED", "b": "WORKING"}


def test_rolling_back_a_rework_resumes_its_requester() -> None:
    desk = Desk(plan_of("a", ("b", "c"), needs={"c": ("a",)}))
    desk.finish("a")
    desk.finish("c")
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    desk.fail("a")
    desk.send(RollBack("r", 2, reason="enough"))
    assert desk.states == {"a": "COMPLETED", "c": "COMPLETED", "b": "WORKING"}
    told(desk, "archived", "enough")


def test_a_rework_is_approved_like_any_other() -> None:
    desk = wanted(policies={"a": CheckpointPolicy(ask_completion=False)})
    desk.run = desk.run.with_executions(desk.e("a").changed(policy=CheckpointPolicy(ask_completion=True)))
    e = desk.e("a")
    desk.send(ExecutionFinished(e.id, 1, "a2", (RESULT,)), "worker")
    assert (desk.states["a"], desk.e("b").waiting_on) == ("COMPLETION_ASKED", WaitingOn.REWORK)
    desk.answer("a", "approve")
    assert desk.states["b"] == "WORKING"
