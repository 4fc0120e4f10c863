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
from tests.core.harness import Harness, plan_of, require_approval_for
from tests.mentions import mentions


def completion_approval(approvers: int = 2) -> Harness:
    harness = Harness(plan_of("a"), judge=require_approval_for(ApprovalKind.COMPLETION, required_approvals=approvers))
    harness.finish("a")
    return harness


def expiring(on_expiry: OnExpiry) -> Harness:
    judge = require_approval_for(ApprovalKind.COMPLETION, timeout=60.0, on_expiry=on_expiry)
    harness = Harness(plan_of(("a", "b")), judge=judge)
    harness.finish("a")
    return harness


# ---- several approvers -------------------------------------------------------------------------------
def test_several_different_users_must_approve() -> None:
    harness = completion_approval(approvers=3)
    harness.answer("a", "approve", "ann", feedback="yes")
    assert harness.event_detail(EventType.APPROVAL_VOTE_CAST) == {
        "kind": "completion",
        "decision": "approve",
        "digest": "d",
        "feedback": "yes",
        "received_approvals": 1,
        "required_approvals": 3,
    }
    harness.answer("a", "approve", "bob")
    assert harness.states == {"a": "AWAITING_COMPLETION_APPROVAL"}
    harness.answer("a", "approve", "cleo")
    assert harness.states == {"a": "COMPLETED"}
    (approval,) = harness.run.approvals.values()
    assert [vote.by for vote in approval.votes] == ["ann", "bob", "cleo"]


def test_a_user_counts_once() -> None:
    harness = completion_approval()
    harness.answer("a", "approve", "ann")
    error = harness.refuses(Decide(harness.pending_approval("a").id, "approve"), by="ann")
    assert error.message == mentions()


def test_one_rejection_or_revision_ends_the_approval() -> None:
    harness = completion_approval()
    harness.answer("a", "approve", "ann")
    harness.answer("a", "reject", "bob")
    assert harness.run.status is RunStatus.FAILED
    harness = completion_approval()
    harness.answer("a", "approve", "ann")
    harness.answer("a", "revise", "ann")
    assert harness.states == {"a": "WORKING"}


def test_accepting_an_invalid_result_takes_as_many_people() -> None:
    policies = {"a": CheckpointPolicy(on_invalid=OnInvalid.ASK_HUMAN)}
    harness = Harness(
        plan_of("a", policies=policies), judge=require_approval_for(ApprovalKind.VALIDATION, required_approvals=2)
    )
    harness.send(ResultInvalid(harness.e("a").id, 1, "x"), "worker")
    harness.answer("a", "accept", "ann")
    assert harness.e("a").waiting_on is WaitingOn.VALIDATION_FEEDBACK
    harness.refuses(Decide(harness.pending_approval("a").id, "accept"), by="ann")
    harness.answer("a", "accept", "bob")
    assert harness.states == {"a": "COMPLETED"}


def test_an_input_and_an_escalation_take_one_person() -> None:
    harness = Harness(plan_of(("a", "b")), judge=require_approval_for(*ApprovalKind, required_approvals=2))
    harness.answer("a", "approve", "ann")
    harness.answer("a", "approve", "bob")
    harness.answer("b", "approve", "ann")
    harness.answer("b", "approve", "bob")
    harness.send(InputRequested(harness.e("a").id, 1, WaitingOn.QUESTION), "worker")
    harness.send(IterationLimitReached(harness.e("b").id, 1, "x"), "worker")
    harness.answer("a", "answer")
    harness.answer("b", "accept")
    assert harness.states == {"a": "WORKING", "b": "COMPLETED"}


def test_only_approvals_by_a_rule_are_auto_approvals() -> None:
    harness = completion_approval(approvers=1)
    harness.answer("a", "approve", "rule:small-amounts")
    (approval,) = harness.run.approvals.values()
    assert approval.status is ApprovalStatus.AUTO_APPROVED
    harness = completion_approval(approvers=1)
    harness.answer("a", "reject", "rule:small-amounts")
    assert next(iter(harness.run.approvals.values())).status is ApprovalStatus.REJECTED


# ---- deadlines ---------------------------------------------------------------------------------------
def test_an_approval_has_a_deadline_only_with_a_period() -> None:
    harness = expiring(OnExpiry.FAIL)
    approval = harness.pending_approval("a")
    assert approval.expires_at == harness.at + timedelta(seconds=60)
    assert harness.effects(ScheduleTimer) == [
        ScheduleTimer(60.0, ApprovalExpired(approval.id, 1)),
        ScheduleTimer(30.0, ReminderDue(approval.id, 1)),
    ]
    harness = completion_approval()
    assert (harness.pending_approval("a").expires_at, harness.effects(ScheduleTimer)) == (None, [])


def test_expiry_with_fail_acts_as_reject() -> None:
    harness = expiring(OnExpiry.FAIL)
    approval = harness.pending_approval("a").id
    expired = ApprovalExpired(approval, 1)
    harness.send(expired, "timer")
    assert (harness.run.status, harness.states) == (RunStatus.FAILED, {"a": "FAILED", "b": "CANCELLED"})
    assert harness.run.approvals[approval].status is ApprovalStatus.TIMEOUT
    assert harness.e("a").last_error == Failure("approval_timeout", mentions())
    harness.refuses(expired, StaleCommand)
    error = harness.refuses(Decide(approval, "approve"))
    assert error.message == mentions("timeout")


def test_expiry_with_cancel_cancels_the_run() -> None:
    harness = expiring(OnExpiry.CANCEL)
    harness.send(ApprovalExpired(harness.pending_approval("a").id, 1), "timer")
    assert (harness.run.status, harness.states) == (RunStatus.CANCELLED, {"a": "CANCELLED", "b": "CANCELLED"})
    assert harness.event_detail(EventType.RUN_CANCELLED)["reason"] == mentions()


def test_expiry_with_escalate_gives_one_more_period_then_fails() -> None:
    harness = expiring(OnExpiry.ESCALATE)
    approval = harness.pending_approval("a").id
    harness.send(ApprovalExpired(approval, 1), "timer", after=60)
    escalated = harness.pending_approval("a")
    assert (escalated.period, escalated.expires_at) == (2, harness.at + timedelta(seconds=60))
    assert harness.last.effects == (ScheduleTimer(60.0, ApprovalExpired(approval, 2)),)
    assert harness.event_detail(EventType.APPROVAL_ESCALATED) == {
        "kind": "completion",
        "to": [],
        "period": 2,
        "expires_at": (harness.at + timedelta(seconds=60)).isoformat(),
    }
    harness.refuses(ApprovalExpired(approval, 1), StaleCommand)
    harness.send(ApprovalExpired(approval, 2), "timer")
    assert harness.run.status is RunStatus.FAILED
    harness.refuses(ApprovalExpired("nowhere", 1), StaleCommand)


def test_a_decision_in_the_second_period_counts() -> None:
    harness = expiring(OnExpiry.ESCALATE)
    harness.send(ApprovalExpired(harness.pending_approval("a").id, 1), "timer")
    approval = harness.pending_approval("a").id
    harness.answer("a", "approve")
    assert harness.states["a"] == "COMPLETED"
    harness.refuses(ApprovalExpired(approval, 2), StaleCommand)
