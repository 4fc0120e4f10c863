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
from tests.core.desk import Desk, asking, plan_of

ASKING = {key: CheckpointPolicy(ask_completion=True) for key in "abc"}


def completed() -> Desk:
    """Three checkpoints, each approved."""
    desk = Desk(plan_of("a", "b", "c", policies=ASKING))
    for key in "abc":
        desk.finish(key, f"{key}1")
        desk.answer(key, "approve")
    return desk


def proposed(desk: Desk, digest: str = "pay") -> None:
    desk.propose("a", digest)


# ---- completions -------------------------------------------------------------------------------------
def test_after_a_rollback_the_approval_of_equal_content_is_reused_and_recorded() -> None:
    desk = completed()
    first = next(a for a in desk.run.approvals.values() if desk.run.executions[a.execution].key == "c")
    desk.send(RollBack("r", 0))
    desk.finish("b", "b1")
    desk.answer("b", "approve")  # the lowest that went is asked about again
    desk.finish("c", "c1")
    assert desk.states == {"a": "COMPLETED", "b": "COMPLETED", "c": "COMPLETED"}
    kept = list(desk.run.approvals.values())[-1]
    assert kept == first.changed(
        id=kept.id, execution=desk.e("c").id, asked_at=desk.at, closed_at=desk.at, kept_from=first.id
    )
    assert desk.detail(EventType.APPROVAL_KEPT) == {"kind": "completion", "digest": "c1", "kept_from": first.id}


def test_other_content_needs_a_new_approval() -> None:
    desk = completed()
    desk.send(RollBack("r", 0))
    desk.finish("b", "b1")
    desk.answer("b", "approve")
    desk.finish("c", "c2")
    assert desk.states["c"] == "COMPLETION_ASKED"


def test_the_first_checkpoint_of_a_manual_rollback_needs_a_new_approval() -> None:
    desk = completed()
    desk.send(RollBack("r", 0))
    desk.finish("b", "b1")
    assert desk.states["b"] == "COMPLETION_ASKED"


def test_cancelled_executions_before_the_target_do_not_count_as_rolled_back() -> None:
    desk = Desk(plan_of("a", "b", policies=ASKING))
    desk.send(CancelExecution(desk.e("a").id))
    desk.send(StartExecution(desk.e("a").id))
    for key in "ab":
        desk.finish(key, "x")
        desk.answer(key, "approve")
    desk.send(RollBack("r", 0))
    assert len(desk.run.rollbacks[0].archived) == 2
    desk.finish("b", "x")
    assert desk.states["b"] == "COMPLETION_ASKED"


def test_it_still_needs_a_new_approval_after_a_manual_cancel() -> None:
    desk = completed()
    desk.send(RollBack("r", 0))
    desk.send(CancelExecution(desk.e("b").id))
    desk.send(StartExecution(desk.e("b").id))
    desk.finish("b", "b1")
    assert desk.states["b"] == "COMPLETION_ASKED"


def test_an_undone_rollback_needs_no_new_approval() -> None:
    desk = completed()
    desk.send(RollBack("one", 0))
    desk.send(UndoRollback("one"))
    desk.send(RollBack("two", -1))
    desk.finish("a", "a1")
    desk.answer("a", "approve")
    desk.finish("b", "b1")
    assert desk.states["b"] == "COMPLETED"


def test_a_rework_needs_a_new_approval() -> None:
    desk = completed()
    desk.send(RequestRework("b"))
    desk.finish("b", "b1")
    assert desk.states["b"] == "COMPLETION_ASKED"


def test_approvals_are_not_reused_in_the_next_pass() -> None:
    desk = completed()
    desk.send(RestartRun(1))
    desk.finish("a", "a1")
    assert desk.states == {"a": "COMPLETION_ASKED"}


def test_approvals_are_not_reused_for_another_checkpoint() -> None:
    desk = Desk(plan_of("a", "b", policies=ASKING))
    desk.finish("a", "same")
    desk.answer("a", "approve")
    desk.finish("b", "same")
    assert desk.states["b"] == "COMPLETION_ASKED"


@pytest.mark.parametrize("said", ["revise", "reject"])
def test_the_latest_decision_on_the_content_counts(said: str) -> None:
    """The same content was approved, then sent back or rejected by somebody: it is asked about again."""
    desk = completed()
    desk.send(RequestRework("c"))
    desk.finish("c", "c1")
    desk.answer("c", said)
    desk.send(RollBack("r", 0))
    desk.finish("b", "b2")
    desk.answer("b", "approve")
    desk.finish("c", "c1")
    assert desk.states["c"] == "COMPLETION_ASKED"


def test_a_newer_approval_is_reused_again() -> None:
    desk = completed()
    desk.send(RollBack("one", 1))
    desk.finish("c", "c1")
    desk.answer("c", "reject")  # it was the lowest that went, and is so until it is completed
    desk.send(RetryExecution(desk.e("c").id, 1))
    desk.finish("c", "c1")
    desk.answer("c", "approve")
    desk.send(RollBack("two", 0))
    desk.finish("b", "b2")
    desk.answer("b", "approve")
    desk.finish("c", "c1")
    assert desk.states["c"] == "COMPLETED"


def test_an_approval_with_fewer_votes_than_needed_now_is_not_reused() -> None:
    desk = completed()
    desk.judge = asking(ApprovalKind.COMPLETION, needed=2)
    desk.send(RollBack("r", 0))
    desk.finish("b", "b2")
    for person in ("ann", "bob"):
        desk.answer("b", "approve", person)
    desk.finish("c", "c1")
    assert desk.states["c"] == "COMPLETION_ASKED"


def test_a_reused_approval_has_no_deadline() -> None:
    desk = Desk(plan_of("a", "b", "c"), judge=asking(ApprovalKind.COMPLETION, period=60.0))
    for key in "abc":
        desk.finish(key, "x")
        desk.answer(key, "approve")
    desk.send(RollBack("r", 0))
    desk.finish("b", "x")
    desk.answer("b", "approve")
    desk.finish("c", "x")
    kept = list(desk.run.approvals.values())[-1]
    assert (kept.kept_from is not None, kept.expires_at) == (True, None)


def test_a_reused_automatic_approval_stays_automatic() -> None:
    desk = Desk(plan_of("a", "b", "c", policies=ASKING))
    for key in "abc":
        desk.finish(key, "x")
        desk.answer(key, "approve", "rule:1")
    desk.send(RollBack("r", 0))
    desk.finish("b", "y")
    desk.answer("b", "approve")
    desk.finish("c", "x")
    assert list(desk.run.approvals.values())[-1].status is ApprovalStatus.AUTO_APPROVED


# ---- actions -----------------------------------------------------------------------------------------
def test_after_a_retry_the_approval_of_the_same_action_is_reused() -> None:
    desk = Desk(plan_of("a"))
    proposed(desk)
    desk.answer("a", "approve")
    desk.fail("a")
    desk.send(RetryExecution(desk.e("a").id, 1))
    proposed(desk)
    assert desk.states == {"a": "WORKING"}
    assert (desk.e("a").dispatch, desk.told) == (4, ["approval_kept", "execution_dispatched"])
    kept = list(desk.run.approvals.values())[-1]
    assert (kept.status, kept.attempt) == (ApprovalStatus.APPROVED, 2)


def test_an_action_proposed_twice_in_one_attempt_is_two_actions() -> None:
    desk = Desk(plan_of("a"))
    proposed(desk)
    desk.answer("a", "approve")
    proposed(desk)
    assert desk.states == {"a": "WAITING"}


def test_each_attempt_can_repeat_the_actions_of_an_earlier_one() -> None:
    desk = Desk(plan_of("a"))
    for _ in range(2):
        proposed(desk)
        desk.answer("a", "approve")
    for attempt in (1, 2):
        desk.fail("a")
        desk.send(RetryExecution(desk.e("a").id, attempt))
        for _ in range(2):
            proposed(desk)
            assert desk.states == {"a": "WORKING"}
    proposed(desk)
    assert desk.states == {"a": "WAITING"}


def test_an_action_with_other_content_needs_a_new_approval() -> None:
    desk = Desk(plan_of("a"))
    proposed(desk)
    desk.answer("a", "modify", modified="pay less")
    desk.fail("a")
    desk.send(RetryExecution(desk.e("a").id, 1))
    proposed(desk)
    assert desk.states == {"a": "WAITING"}
    desk.answer("a", "approve")
    proposed(desk, "pay less")  # the content that was approved in the first attempt
    assert desk.states == {"a": "WORKING"}
