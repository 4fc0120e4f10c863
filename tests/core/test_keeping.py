"""Approvals that are kept for equal content: H3a, D25, D60."""

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
def test_after_a_rollback_equal_content_keeps_its_approval_and_that_is_on_record_h3a() -> None:
    desk = completed()
    first = next(a for a in desk.run.approvals.values() if desk.run.executions[a.execution].key == "c")
    desk.send(RollBack("r", 0))
    desk.finish("b", "b1")
    desk.answer("b", "approve")  # the lowest that went is asked about again (D60)
    desk.finish("c", "c1")
    assert desk.states == {"a": "COMPLETED", "b": "COMPLETED", "c": "COMPLETED"}
    kept = list(desk.run.approvals.values())[-1]
    assert kept == first.changed(
        id=kept.id, execution=desk.e("c").id, asked_at=desk.at, closed_at=desk.at, kept_from=first.id
    )
    assert desk.detail(EventType.APPROVAL_KEPT) == {"kind": "completion", "digest": "c1", "kept_from": first.id}


def test_other_content_is_asked_about_again_h3a() -> None:
    desk = completed()
    desk.send(RollBack("r", 0))
    desk.finish("b", "b1")
    desk.answer("b", "approve")
    desk.finish("c", "c2")
    assert desk.states["c"] == "COMPLETION_ASKED"


def test_the_lowest_that_a_persons_rollback_took_away_asks_anew_d60() -> None:
    desk = completed()
    desk.send(RollBack("r", 0))
    desk.finish("b", "b1")
    assert desk.states["b"] == "COMPLETION_ASKED"


def test_what_was_cancelled_below_the_target_is_not_the_lowest_that_went_d60() -> None:
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


def test_it_still_asks_anew_after_it_was_cancelled_by_hand_d60() -> None:
    desk = completed()
    desk.send(RollBack("r", 0))
    desk.send(CancelExecution(desk.e("b").id))
    desk.send(StartExecution(desk.e("b").id))
    desk.finish("b", "b1")
    assert desk.states["b"] == "COMPLETION_ASKED"


def test_a_rollback_that_was_undone_does_not_ask_anew_d60() -> None:
    desk = completed()
    desk.send(RollBack("one", 0))
    desk.send(UndoRollback("one"))
    desk.send(RollBack("two", -1))
    desk.finish("a", "a1")
    desk.answer("a", "approve")
    desk.finish("b", "b1")
    assert desk.states["b"] == "COMPLETED"


def test_a_rework_asks_anew_d60() -> None:
    desk = completed()
    desk.send(RequestRework("b"))
    desk.finish("b", "b1")
    assert desk.states["b"] == "COMPLETION_ASKED"


def test_approvals_do_not_reach_into_the_next_pass_d25_d32() -> None:
    desk = completed()
    desk.send(RestartRun(1))
    desk.finish("a", "a1")
    assert desk.states == {"a": "COMPLETION_ASKED"}


def test_approvals_do_not_reach_to_another_checkpoint_d25() -> None:
    desk = Desk(plan_of("a", "b", policies=ASKING))
    desk.finish("a", "same")
    desk.answer("a", "approve")
    desk.finish("b", "same")
    assert desk.states["b"] == "COMPLETION_ASKED"


@pytest.mark.parametrize("said", ["revise", "reject"])
def test_what_counts_is_what_was_said_last_h3a(said: str) -> None:
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


def test_once_it_was_asked_about_again_its_approval_is_kept_d60() -> None:
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


def test_an_approval_by_fewer_people_than_are_asked_now_is_not_kept_h3a() -> None:
    desk = completed()
    desk.judge = asking(ApprovalKind.COMPLETION, needed=2)
    desk.send(RollBack("r", 0))
    desk.finish("b", "b2")
    for person in ("ann", "bob"):
        desk.answer("b", "approve", person)
    desk.finish("c", "c1")
    assert desk.states["c"] == "COMPLETION_ASKED"


def test_a_kept_approval_has_no_deadline_h3a() -> None:
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


def test_an_automatic_approval_is_kept_as_one_h3a() -> None:
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
def test_after_a_retry_the_same_action_keeps_its_approval_h3a() -> None:
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


def test_proposed_twice_in_one_attempt_it_is_a_second_action_h3a() -> None:
    desk = Desk(plan_of("a"))
    proposed(desk)
    desk.answer("a", "approve")
    proposed(desk)
    assert desk.states == {"a": "WAITING"}


def test_each_attempt_may_do_it_as_often_as_an_earlier_one_h3a() -> None:
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


def test_an_action_of_other_content_is_asked_about_h3a() -> None:
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
