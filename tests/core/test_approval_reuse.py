"""Approvals that are reused for equal content."""

from __future__ import annotations

import pytest

from cairn.core.commands import (
    CancelExecution,
    RequestRework,
    RestartRun,
    RetryExecution,
    RollBack,
    StartExecution,
    UndoRollback,
)
from cairn.core.events import EventType
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ApprovalKind, ApprovalStatus
from tests.core.harness import Harness, plan_of, require_approval_for

ASKING = {key: CheckpointPolicy(requires_completion_approval=True) for key in "abc"}


def completed() -> Harness:
    """Three checkpoints, each approved."""
    harness = Harness(plan_of("a", "b", "c", policies=ASKING))
    for key in "abc":
        harness.finish(key, f"{key}1")
        harness.answer(key, "approve")
    return harness


# ---- completions -------------------------------------------------------------------------------------
def test_after_a_rollback_the_approval_of_equal_content_is_reused_and_recorded() -> None:
    harness = completed()
    first = next(a for a in harness.run.approvals.values() if harness.run.executions[a.execution].key == "c")
    harness.send(RollBack("r", 0))
    harness.finish("b", "b1")
    harness.answer("b", "approve")  # the lowest checkpoint that was rolled back needs a new approval
    harness.finish("c", "c1")
    assert harness.states == {"a": "COMPLETED", "b": "COMPLETED", "c": "COMPLETED"}
    reused = list(harness.run.approvals.values())[-1]
    assert reused == first.replace(
        id=reused.id, execution=harness.e("c").id, requested_at=harness.at, closed_at=harness.at, reused_from=first.id
    )
    assert harness.event_detail(EventType.APPROVAL_REUSED) == {
        "kind": "completion",
        "digest": "c1",
        "reused_from": first.id,
    }


def test_other_content_needs_a_new_approval() -> None:
    harness = completed()
    harness.send(RollBack("r", 0))
    harness.finish("b", "b1")
    harness.answer("b", "approve")
    harness.finish("c", "c2")
    assert harness.states["c"] == "AWAITING_COMPLETION_APPROVAL"


def test_the_first_checkpoint_of_a_manual_rollback_needs_a_new_approval() -> None:
    harness = completed()
    harness.send(RollBack("r", 0))
    harness.finish("b", "b1")
    assert harness.states["b"] == "AWAITING_COMPLETION_APPROVAL"


def test_cancelled_executions_before_the_target_do_not_count_as_rolled_back() -> None:
    harness = Harness(plan_of("a", "b", policies=ASKING))
    harness.send(CancelExecution(harness.e("a").id))
    harness.send(StartExecution(harness.e("a").id))
    for key in "ab":
        harness.finish(key, "x")
        harness.answer(key, "approve")
    harness.send(RollBack("r", 0))
    assert len(harness.run.rollbacks[0].archived) == 2
    harness.finish("b", "x")
    assert harness.states["b"] == "AWAITING_COMPLETION_APPROVAL"


def test_it_still_needs_a_new_approval_after_a_manual_cancel() -> None:
    harness = completed()
    harness.send(RollBack("r", 0))
    harness.send(CancelExecution(harness.e("b").id))
    harness.send(StartExecution(harness.e("b").id))
    harness.finish("b", "b1")
    assert harness.states["b"] == "AWAITING_COMPLETION_APPROVAL"


def test_an_undone_rollback_needs_no_new_approval() -> None:
    harness = completed()
    harness.send(RollBack("one", 0))
    harness.send(UndoRollback("one"))
    harness.send(RollBack("two", -1))
    harness.finish("a", "a1")
    harness.answer("a", "approve")
    harness.finish("b", "b1")
    assert harness.states["b"] == "COMPLETED"


def test_a_rework_needs_a_new_approval() -> None:
    harness = completed()
    harness.send(RequestRework("b"))
    harness.finish("b", "b1")
    assert harness.states["b"] == "AWAITING_COMPLETION_APPROVAL"


def test_approvals_are_not_reused_in_the_next_pass() -> None:
    harness = completed()
    harness.send(RestartRun(1))
    harness.finish("a", "a1")
    assert harness.states == {"a": "AWAITING_COMPLETION_APPROVAL"}


def test_approvals_are_not_reused_for_another_checkpoint() -> None:
    harness = Harness(plan_of("a", "b", policies=ASKING))
    harness.finish("a", "same")
    harness.answer("a", "approve")
    harness.finish("b", "same")
    assert harness.states["b"] == "AWAITING_COMPLETION_APPROVAL"


@pytest.mark.parametrize("decision", ["revise", "reject"])
def test_the_latest_decision_on_the_content_counts(decision: str) -> None:
    """Content that was sent back or rejected after its approval needs a new approval."""
    harness = completed()
    harness.send(RequestRework("c"))
    harness.finish("c", "c1")
    harness.answer("c", decision)
    harness.send(RollBack("r", 0))
    harness.finish("b", "b2")
    harness.answer("b", "approve")
    harness.finish("c", "c1")
    assert harness.states["c"] == "AWAITING_COMPLETION_APPROVAL"


def test_a_newer_approval_is_reused_again() -> None:
    harness = completed()
    harness.send(RollBack("one", 1))
    harness.finish("c", "c1")
    harness.answer("c", "reject")  # it stays the lowest rolled back checkpoint until it is completed
    harness.send(RetryExecution(harness.e("c").id, 1))
    harness.finish("c", "c1")
    harness.answer("c", "approve")
    harness.send(RollBack("two", 0))
    harness.finish("b", "b2")
    harness.answer("b", "approve")
    harness.finish("c", "c1")
    assert harness.states["c"] == "COMPLETED"


def test_an_approval_with_fewer_votes_than_needed_now_is_not_reused() -> None:
    harness = completed()
    harness.judge = require_approval_for(ApprovalKind.COMPLETION, required_approvals=2)
    harness.send(RollBack("r", 0))
    harness.finish("b", "b2")
    for person in ("ann", "bob"):
        harness.answer("b", "approve", person)
    harness.finish("c", "c1")
    assert harness.states["c"] == "AWAITING_COMPLETION_APPROVAL"


def test_a_reused_approval_has_no_deadline() -> None:
    harness = Harness(plan_of("a", "b", "c"), judge=require_approval_for(ApprovalKind.COMPLETION, timeout=60.0))
    for key in "abc":
        harness.finish(key, "x")
        harness.answer(key, "approve")
    harness.send(RollBack("r", 0))
    harness.finish("b", "x")
    harness.answer("b", "approve")
    harness.finish("c", "x")
    reused = list(harness.run.approvals.values())[-1]
    assert (reused.reused_from is not None, reused.expires_at) == (True, None)


def test_a_reused_automatic_approval_stays_automatic() -> None:
    harness = Harness(plan_of("a", "b", "c", policies=ASKING))
    for key in "abc":
        harness.finish(key, "x")
        harness.answer(key, "approve", "rule:1")
    harness.send(RollBack("r", 0))
    harness.finish("b", "y")
    harness.answer("b", "approve")
    harness.finish("c", "x")
    assert list(harness.run.approvals.values())[-1].status is ApprovalStatus.AUTO_APPROVED
