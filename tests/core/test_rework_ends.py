"""How a rework ends, and what its requester is notified of."""

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
from tests.core.harness import BROKEN, RESULT, Harness, plan_of
from tests.mentions import mentions


def with_requested_rework(key: str = "a", policies: dict[str, CheckpointPolicy] | None = None) -> Harness:
    """`b` is running and has sent `key` back."""
    harness = Harness(plan_of("a", "b", "c", policies=policies))
    harness.finish("a", "a1")
    harness.send(ReworkRequested(harness.e("b").id, 1, key, "a figure is wrong", "Add it up again"), "worker")
    return harness


def test_a_failed_rework_follows_its_policy_while_the_requester_waits() -> None:
    harness = with_requested_rework()
    harness.fail("a")
    assert (harness.run.status, harness.e("b").waiting_on) == (RunStatus.PAUSED, WaitingOn.REWORK)
    harness.send(RetryExecution(harness.e("a").id, 1))
    assert (harness.e("a").state, harness.e("b").waiting_on) == (ExecutionState.WORKING, WaitingOn.REWORK)
    harness.finish("a")
    assert harness.states["b"] == "WORKING"


def test_a_redo_of_a_failed_rework_keeps_its_parent() -> None:
    harness = with_requested_rework(policies={"a": CheckpointPolicy(on_failure=OnFailure.ROLLBACK_CHECKPOINT)})
    harness.fail("a")
    redo = harness.e("a")
    assert (redo.state, redo.parent_execution, redo.requires_new_approval) == (
        ExecutionState.PENDING,
        harness.e("b").id,
        True,
    )
    assert redo.rework == Rework("b", "Add it up again", "a figure is wrong")
    assert harness.e("b").waiting_on is WaitingOn.REWORK
    harness.send(StartExecution(redo.id))
    harness.finish("a")
    assert harness.states["b"] == "WORKING"


def check_rework_ended(harness: Harness, status: str, reason: str) -> None:
    """The requester is notified of a rework without a result."""
    assert harness.event_detail(EventType.REWORK_ENDED) == {
        "checkpoint": "a",
        "status": status,
        "reason": reason,
        "requested_by": "b",
        "execution_id": harness.e("a").id,
        "artifacts": [],
    }


def test_dismissing_a_failed_rework_resumes_its_requester() -> None:
    harness = with_requested_rework()
    harness.fail("a")
    harness.send(CancelExecution(harness.e("a").id))
    assert harness.e("b").state is ExecutionState.READY  # a pause lasts until a user resumes the run
    check_rework_ended(harness, "failed", BROKEN.message)
    harness.send(ResumeRun())
    assert harness.states["b"] == "WORKING"
    assert [e.state for e in harness.run.executions.values() if e.key == "a"] == [
        ExecutionState.COMPLETED,
        ExecutionState.CANCELLED,
    ]


def test_a_cancelled_rework_resumes_its_requester_even_before_its_start() -> None:
    harness = with_requested_rework(policies={"a": CheckpointPolicy(on_failure=OnFailure.ROLLBACK_CHECKPOINT)})
    harness.fail("a")
    harness.send(CancelExecution(harness.e("a").id))
    assert (harness.states["b"], harness.e("a").state) == ("WORKING", ExecutionState.CANCELLED)
    check_rework_ended(harness, "cancelled", mentions())


def test_a_rework_refused_at_its_start_is_cancelled_and_reported_to_the_requester() -> None:
    harness = Harness(plan_of("a", "b", policies={"a": CheckpointPolicy(requires_start_approval=True)}))
    harness.answer("a", "approve")
    harness.finish("a")
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    harness.answer("a", "refuse", feedback="not today")
    assert (harness.e("a").state, harness.states["b"]) == (ExecutionState.CANCELLED, "WORKING")
    check_rework_ended(harness, "refused", "not today")


def test_cancelling_the_requester_cancels_its_reworks() -> None:
    harness = Harness(plan_of("a", "b", "c"))
    harness.finish("a")
    harness.finish("b")
    harness.send(ReworkRequested(harness.e("c").id, 1, "b"), "worker")
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    harness.send(CancelExecution(harness.e("c").id))
    assert [harness.all(key) for key in "abc"] == [
        [ExecutionState.COMPLETED, ExecutionState.CANCELLED],
        [ExecutionState.COMPLETED, ExecutionState.CANCELLED],
        [ExecutionState.CANCELLED, ExecutionState.PENDING],
    ]


def test_rolling_back_the_requester_cancels_its_reworks() -> None:
    harness = with_requested_rework()
    rework, asker = harness.e("a"), harness.e("b")
    harness.send(RollBack("r", 0))
    assert set(harness.run.rollbacks[0].archived) == {rework.id, asker.id}
    assert harness.states == {"a": "COMPLETED", "b": "WORKING"}


def test_rolling_back_a_rework_resumes_its_requester() -> None:
    harness = Harness(plan_of("a", ("b", "c"), needs={"c": ("a",)}))
    harness.finish("a")
    harness.finish("c")
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    harness.fail("a")
    harness.send(RollBack("r", 2, reason="enough"))
    assert harness.states == {"a": "COMPLETED", "c": "COMPLETED", "b": "WORKING"}
    check_rework_ended(harness, "archived", "enough")


def test_a_rework_is_approved_like_any_other() -> None:
    harness = with_requested_rework(policies={"a": CheckpointPolicy(requires_completion_approval=False)})
    harness.run = harness.run.with_executions(
        harness.e("a").replace(policy=CheckpointPolicy(requires_completion_approval=True))
    )
    e = harness.e("a")
    harness.send(ExecutionFinished(e.id, 1, "a2", (RESULT,)), "worker")
    assert (harness.states["a"], harness.e("b").waiting_on) == ("AWAITING_COMPLETION_APPROVAL", WaitingOn.REWORK)
    harness.answer("a", "approve")
    assert harness.states["b"] == "WORKING"
