"""Several approvers, deadlines and rules."""

from __future__ import annotations

from datetime import timedelta

from cairn.core.commands import (
    ApprovalExpired,
    Decide,
    InputRequested,
    IterationLimitReached,
    ReminderDue,
    ResultInvalid,
)
from cairn.core.effects import ScheduleTimer
from cairn.core.errors import StaleCommand
from cairn.core.events import EventType
from cairn.core.execution import Failure
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ApprovalKind, ApprovalStatus, OnExpiry, OnInvalid, RunStatus, WaitingOn
from tests.core.desk import Desk, asking, plan_of
from tests.mentions import mentions


def asked(approvers: int = 2) -> Desk:
    desk = Desk(plan_of("a"), judge=asking(ApprovalKind.COMPLETION, needed=approvers))
    desk.finish("a")
    return desk


def proposed(approvers: int = 2) -> Desk:
    desk = Desk(plan_of("a"), judge=asking(ApprovalKind.ACTION, needed=approvers))
    desk.propose("a", "p0")
    return desk


def expiring(on_expiry: OnExpiry) -> Desk:
    judge = asking(ApprovalKind.COMPLETION, period=60.0, on_expiry=on_expiry)
    desk = Desk(plan_of(("a", "b")), judge=judge)
    desk.finish("a")
    return desk


# ---- several approvers -------------------------------------------------------------------------------
def test_several_different_users_must_approve() -> None:
    desk = asked(approvers=3)
    desk.answer("a", "approve", "ann", feedback="yes")
    assert desk.detail(EventType.APPROVAL_GIVEN) == {
        "kind": "completion",
        "decision": "approve",
        "digest": "d",
        "feedback": "yes",
        "given": 1,
        "needed": 3,
    }
    desk.answer("a", "approve", "bob")
    assert desk.states == {"a": "COMPLETION_ASKED"}
    desk.answer("a", "approve", "cleo")
    assert desk.states == {"a": "COMPLETED"}
    (approval,) = desk.run.approvals.values()
    assert [vote.by for vote in approval.votes] == ["ann", "bob", "cleo"]


def test_a_user_counts_once() -> None:
    desk = asked()
    desk.answer("a", "approve", "ann")
    refused = desk.refuses(Decide(desk.asked("a").id, "approve"), by="ann")
    assert refused.message == mentions()


def test_one_rejection_or_revision_ends_the_approval() -> None:
    desk = asked()
    desk.answer("a", "approve", "ann")
    desk.answer("a", "reject", "bob")
    assert desk.run.status is RunStatus.FAILED
    desk = asked()
    desk.answer("a", "approve", "ann")
    desk.answer("a", "revise", "ann")
    assert desk.states == {"a": "WORKING"}


def test_a_modification_restarts_the_count_of_approvals() -> None:
    desk = proposed()
    desk.answer("a", "approve", "ann")
    desk.answer("a", "modify", "bob", modified="p1", answer="parameters 1")
    assert desk.asked("a").agreeing == {"bob"}
    desk.refuses(Decide(desk.asked("a").id, "approve", "p0"), StaleCommand, by="ann")
    desk.answer("a", "approve", "ann", digest="p1")
    assert desk.states == {"a": "WORKING"}
    assert desk.e("a").answer == "parameters 1"  # what was modified, not what the last one said


def test_a_modification_back_to_the_original_content_restarts_the_count_too() -> None:
    desk = proposed(approvers=3)
    desk.answer("a", "approve", "ann")
    desk.answer("a", "modify", "bob", modified="p1")
    desk.answer("a", "modify", "cleo", modified="p0")
    assert desk.asked("a").agreeing == {"cleo"}
    desk.answer("a", "approve", "ann")
    desk.answer("a", "approve", "bob")
    assert desk.states == {"a": "WORKING"}


def test_an_approver_can_still_modify() -> None:
    desk = proposed()
    desk.answer("a", "approve", "ann")
    desk.answer("a", "modify", "ann", modified="p1")
    assert desk.asked("a").agreeing == {"ann"}


def test_accepting_an_invalid_result_takes_as_many_people() -> None:
    policies = {"a": CheckpointPolicy(on_invalid=OnInvalid.ASK_HUMAN)}
    desk = Desk(plan_of("a", policies=policies), judge=asking(ApprovalKind.VALIDATION, needed=2))
    desk.send(ResultInvalid(desk.e("a").id, 1, "x"), "worker")
    desk.answer("a", "accept", "ann")
    assert desk.e("a").waiting_on is WaitingOn.VALIDATION_FEEDBACK
    desk.refuses(Decide(desk.asked("a").id, "accept"), by="ann")
    desk.answer("a", "accept", "bob")
    assert desk.states == {"a": "COMPLETED"}


def test_an_input_and_an_escalation_take_one_person() -> None:
    desk = Desk(plan_of(("a", "b")), judge=asking(*ApprovalKind, needed=2))
    desk.answer("a", "approve", "ann")
    desk.answer("a", "approve", "bob")
    desk.answer("b", "approve", "ann")
    desk.answer("b", "approve", "bob")
    desk.send(InputRequested(desk.e("a").id, 1, WaitingOn.QUESTION), "worker")
    desk.send(IterationLimitReached(desk.e("b").id, 1, "x"), "worker")
    desk.answer("a", "answer")
    desk.answer("b", "accept")
    assert desk.states == {"a": "WORKING", "b": "COMPLETED"}


def test_only_approvals_by_a_rule_are_auto_approvals() -> None:
    desk = asked(approvers=1)
    desk.answer("a", "approve", "rule:small-amounts")
    (approval,) = desk.run.approvals.values()
    assert approval.status is ApprovalStatus.AUTO_APPROVED
    desk = asked(approvers=1)
    desk.answer("a", "reject", "rule:small-amounts")
    assert next(iter(desk.run.approvals.values())).status is ApprovalStatus.REJECTED


# ---- deadlines ---------------------------------------------------------------------------------------
def test_an_approval_has_a_deadline_only_with_a_period() -> None:
    desk = expiring(OnExpiry.FAIL)
    approval = desk.asked("a")
    assert approval.expires_at == desk.at + timedelta(seconds=60)
    assert desk.did(ScheduleTimer) == [
        ScheduleTimer(60.0, ApprovalExpired(approval.id, 1)),
        ScheduleTimer(30.0, ReminderDue(approval.id, 1)),
    ]
    desk = asked()
    assert (desk.asked("a").expires_at, desk.did(ScheduleTimer)) == (None, [])


def test_expiry_with_fail_acts_as_reject() -> None:
    desk = expiring(OnExpiry.FAIL)
    approval = desk.asked("a").id
    expired = ApprovalExpired(approval, 1)
    desk.send(expired, "timer")
    assert (desk.run.status, desk.states) == (RunStatus.FAILED, {"a": "FAILED", "b": "CANCELLED"})
    assert desk.run.approvals[approval].status is ApprovalStatus.TIMEOUT
    assert desk.e("a").last_error == Failure("approval_timeout", mentions())
    desk.refuses(expired, StaleCommand)
    refused = desk.refuses(Decide(approval, "approve"))
    assert refused.message == mentions("timeout")


def test_expiry_with_cancel_cancels_the_run() -> None:
    desk = expiring(OnExpiry.CANCEL)
    desk.send(ApprovalExpired(desk.asked("a").id, 1), "timer")
    assert (desk.run.status, desk.states) == (RunStatus.CANCELLED, {"a": "CANCELLED", "b": "CANCELLED"})
    assert desk.detail(EventType.RUN_CANCELLED)["reason"] == mentions()


def test_expiry_with_escalate_gives_one_more_period_then_fails() -> None:
    desk = expiring(OnExpiry.ESCALATE)
    approval = desk.asked("a").id
    desk.send(ApprovalExpired(approval, 1), "timer", after=60)
    asked = desk.asked("a")
    assert (asked.period, asked.expires_at) == (2, desk.at + timedelta(seconds=60))
    assert desk.last.effects == (ScheduleTimer(60.0, ApprovalExpired(approval, 2)),)
    assert desk.detail(EventType.APPROVAL_ESCALATED) == {
        "kind": "completion",
        "to": [],
        "period": 2,
        "expires_at": (desk.at + timedelta(seconds=60)).isoformat(),
    }
    desk.refuses(ApprovalExpired(approval, 1), StaleCommand)
    desk.send(ApprovalExpired(approval, 2), "timer")
    assert desk.run.status is RunStatus.FAILED
    desk.refuses(ApprovalExpired("nowhere", 1), StaleCommand)


def test_a_decision_in_the_second_period_counts() -> None:
    desk = expiring(OnExpiry.ESCALATE)
    desk.send(ApprovalExpired(desk.asked("a").id, 1), "timer")
    approval = desk.asked("a").id
    desk.answer("a", "approve")
    assert desk.states["a"] == "COMPLETED"
    desk.refuses(ApprovalExpired(approval, 2), StaleCommand)
