"""Rule evaluation before approval requests, eligible approvers, and escalations."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from cairn.core.commands import (
    ActionHeld,
    ActionProposed,
    ActionResumed,
    ApprovalExpired,
    AssignApproval,
    CommandContext,
    Decide,
    EscalationDue,
    InputRequested,
    ReminderDue,
    RetryExecution,
)
from cairn.core.decide import decide
from cairn.core.effects import ScheduleTimer, StageArtifacts
from cairn.core.errors import CommandRefused, NotAllowed, StaleCommand
from cairn.core.events import EventType
from cairn.core.execution import Failure
from cairn.core.plan import CheckpointPolicy
from cairn.core.rule_verdict import (
    ApprovalTerms,
    ConditionResult,
    EvaluatedRule,
    Judge,
    RiskLevel,
    RuleQuestion,
    RuleVerdict,
)
from cairn.core.states import ActionState, ApprovalKind, ApprovalStatus, RunStatus, WaitingOn
from tests.core.harness import BEGIN, RESULT, Harness, plan_of, request_for, require_approval_for
from tests.mentions import mentions

MET = EvaluatedRule("small", "global", "auto_approval", "approves", (ConditionResult("amount", "<= 50", "35", True),))
MISSED = EvaluatedRule("large", "global", "checkpoints", "does not match")


def answer_rules_with(verdict: RuleVerdict, seen: list[RuleQuestion] | None = None) -> Judge:
    def judge(question: RuleQuestion) -> RuleVerdict:
        if seen is not None:
            seen.append(question)
        return verdict

    return judge


APPROVES = RuleVerdict(False, "small", "global", 3, 7, evaluated_rules=(MISSED, MET), notify=True, audit=True)


# ---- start and completion --------------------------------------------------------------------------
def test_a_rule_requires_approval_where_the_setting_is_off() -> None:
    harness = Harness(plan_of("a", "b"), judge=require_approval_for(ApprovalKind.START, ApprovalKind.COMPLETION))
    assert harness.states == {"a": "AWAITING_START_APPROVAL"}
    harness.answer("a", "approve")
    harness.finish("a")
    assert harness.states == {"a": "AWAITING_COMPLETION_APPROVAL"}
    approval = harness.pending_approval("a")
    assert (approval.rule, approval.scope, approval.rules_revision) == ("careful", "global", 1)
    harness.answer("a", "approve")
    assert harness.states == {"a": "COMPLETED", "b": "AWAITING_START_APPROVAL"}


def test_a_rule_approves_where_the_setting_requires_approval_and_gives_its_reason() -> None:
    policy = CheckpointPolicy(requires_start_approval=True, requires_completion_approval=True)
    harness = Harness(plan_of("a", policies={"a": policy}, auto_advance=False), judge=answer_rules_with(APPROVES))
    assert harness.states == {"a": "WORKING"}  # the approval also starts the execution
    harness.finish("a")
    assert harness.run.status is RunStatus.COMPLETED
    assert harness.event_detail(EventType.APPROVAL_AUTO_APPROVED) == {
        "kind": "completion",
        "decision": "approve",
        "digest": "d",
        "approved_by": "rule:small",
        "conditions": [{"field": "amount", "expected": "<= 50", "actual": "35"}],
        "notify": True,
        "audit": True,
        "rule": "small",
        "scope": "global",
        "rules_revision": 3,
    }
    start, completion = harness.run.approvals.values()
    assert [a.status for a in (start, completion)] == [ApprovalStatus.AUTO_APPROVED] * 2
    assert (completion.audit, completion.priority, completion.evaluated_rules) == (True, 7, (MISSED, MET))
    assert [(vote.by, vote.decision) for vote in completion.votes] == [("rule:small", "approve")]


def test_an_approving_rule_does_not_replace_a_manual_start() -> None:
    harness = Harness(plan_of("a", "b", auto_advance=False), judge=answer_rules_with(APPROVES))
    harness.finish("a")
    assert harness.states == {"a": "COMPLETED", "b": "PENDING"}
    assert list(harness.run.approvals) == []  # no approval was requested


def test_the_rule_question_names_the_resulting_approval() -> None:
    seen: list[RuleQuestion] = []
    harness = Harness(
        plan_of("a", policies={"a": CheckpointPolicy(requires_start_approval=True)}),
        judge=answer_rules_with(RuleVerdict(), seen),
    )
    approval = harness.pending_approval("a")
    assert seen == [RuleQuestion(ApprovalKind.START, approval.id, harness.e("a").id, "a", harness.at)]


def test_a_rule_sets_the_terms_of_forms_and_escalations_without_answering_them() -> None:
    terms = ApprovalTerms(timeout=60.0, approvers=("editors",))
    harness = Harness(plan_of("a"), judge=answer_rules_with(replace(APPROVES, requires_approval=None, terms=terms)))
    harness.send(InputRequested(harness.e("a").id, 1, WaitingOn.QUESTION), "worker")
    approval = harness.pending_approval("a")
    assert (approval.status, approval.terms, approval.assigned_to) == (ApprovalStatus.PENDING, terms, ("editors",))


# ---- actions ---------------------------------------------------------------------------------------
def test_risks_are_ordered() -> None:
    assert sorted(RiskLevel, key=lambda risk: risk.rank) == [
        RiskLevel.LOW,
        RiskLevel.MEDIUM,
        RiskLevel.HIGH,
        RiskLevel.CRITICAL,
    ]


def test_a_waiting_action_requests_its_approval() -> None:
    harness = Harness(plan_of("a"))
    terms = ApprovalTerms(timeout=60.0, approvers=("finance",))
    verdict = RuleVerdict(True, "careful", "global", 3, 7, terms, (MISSED,))
    harness.propose("a", "x", confidence=0.87, verdict=verdict, reason="why", assigned_to=("cleo",))
    assert harness.e("a").waiting_on is WaitingOn.ACTION_APPROVAL
    a = harness.pending_approval("a")
    assert (a.action, a.kind, a.digest, a.reason) == ("action-1", ApprovalKind.ACTION, "x", "why")
    assert (a.operation_type, a.risk, a.confidence) == ("send_email", RiskLevel.HIGH, 0.87)
    assert (a.rule, a.scope, a.rules_revision, a.priority) == ("careful", "global", 3, 7)
    assert (a.terms, a.assigned_to, a.evaluated_rules) == (terms, ("cleo",), (MISSED,))
    assert ScheduleTimer(60.0, ApprovalExpired(a.id, 1)) in harness.effects(ScheduleTimer)


def test_a_rule_approves_an_action_without_waiting() -> None:
    harness = Harness(plan_of("a"))
    harness.report_action("a", ActionState.APPROVED, request_for(digest="x", confidence=0.92, verdict=APPROVES))
    assert (harness.states, harness.e("a").dispatch) == ({"a": "WORKING"}, 2)
    detail = harness.event_detail(EventType.APPROVAL_AUTO_APPROVED)
    assert (detail["operation_type"], detail["risk_level"], detail["confidence"]) == ("send_email", "high", 0.92)
    assert (detail["approved_by"], detail["digest"]) == ("rule:small", "x")


def test_low_risk_approves_an_action_without_a_rule() -> None:
    harness = Harness(plan_of("a"))
    harness.report_action("a", ActionState.APPROVED, request_for(verdict=RuleVerdict(requires_approval=False)))
    (approval,) = harness.run.approvals.values()
    assert (approval.status, approval.votes[0].by) == (ApprovalStatus.AUTO_APPROVED, "rule:low risk")


@pytest.mark.parametrize("state", [ActionState.REFUSED, ActionState.REUSED, ActionState.TEST, ActionState.DONE])
def test_an_action_that_needs_no_decision_continues_at_once(state: ActionState) -> None:
    harness = Harness(plan_of("a"))
    harness.report_action("a", state)
    assert (harness.states, harness.e("a").dispatch, harness.e("a").has_actions) == ({"a": "WORKING"}, 2, True)
    assert harness.run.approvals == {}


def test_an_action_that_is_stopped_waits_without_an_approval() -> None:
    harness = Harness(plan_of("a"))
    harness.report_action("a", ActionState.PROPOSED, reason="Actions are stopped.")
    e = harness.e("a")
    assert (e.waiting_on, e.has_actions, harness.run.pending) == (WaitingOn.ACTION_APPROVAL, True, ())
    assert harness.event_detail(EventType.EXECUTION_WAITING)["reason"] == "Actions are stopped."
    harness.send(ActionResumed(e.id, (request_for(),)), "worker")
    assert (harness.e("a").waiting_on, harness.pending_approval("a").action) == (WaitingOn.ACTION_APPROVAL, "action-1")
    harness.send(ActionResumed(e.id, (request_for(),)), "worker")
    assert harness.pending_approval("a").action == "action-1"  # people are asked once
    harness.decide_action("a", "approve")
    assert harness.states == {"a": "WORKING"}


def test_a_resumed_execution_continues() -> None:
    harness = Harness(plan_of("a"))
    e = harness.e("a")
    harness.send(ActionHeld(e.id, e.dispatch, "The run is paused."), "worker")
    assert harness.e("a").waiting_on is WaitingOn.ACTION_APPROVAL
    harness.send(ActionResumed(e.id), "worker")
    assert (harness.states, harness.e("a").dispatch) == ({"a": "WORKING"}, 2)


def test_an_execution_that_nothing_holds_any_more_continues() -> None:
    harness = Harness(plan_of("a"))
    e = harness.e("a")
    harness.send(ActionHeld(e.id, e.dispatch, is_over=True), "worker")
    assert (harness.states, harness.e("a").dispatch) == ({"a": "WORKING"}, 2)


def test_another_question_about_an_action_replaces_the_first_one() -> None:
    harness = Harness(plan_of("a"))
    harness.propose("a")
    e = harness.e("a")
    unknown = request_for(kind=ApprovalKind.OUTCOME)
    harness.send(ActionResumed(e.id, (unknown, request_for("another"))), "worker")
    assert [(a.action, a.kind, a.status) for a in harness.run.approvals.values()] == [
        ("action-1", ApprovalKind.ACTION, ApprovalStatus.WITHDRAWN),
        ("action-1", ApprovalKind.OUTCOME, ApprovalStatus.PENDING),
        ("another", ApprovalKind.ACTION, ApprovalStatus.PENDING),
    ]
    assert harness.e("a").waiting_on is WaitingOn.ACTION_APPROVAL


def test_resuming_an_execution_that_does_not_wait_for_actions_changes_nothing() -> None:
    harness = Harness(plan_of("a"))
    for execution in (harness.e("a").id, "nowhere"):
        before = harness.run
        harness.send(ActionResumed(execution, (request_for(),)), "worker")
        assert (harness.run, harness.last.events, harness.last.effects) == (before, (), ())
    harness.send(InputRequested(harness.e("a").id, 1, WaitingOn.QUESTION), "worker")
    before = harness.run
    harness.send(ActionResumed(harness.e("a").id), "worker")
    assert harness.run == before


def test_an_action_approval_shows_the_artifacts_so_far() -> None:
    harness = Harness(plan_of("a"))
    e = harness.e("a")
    proposed = ActionProposed(e.id, e.dispatch, ActionState.WAITING, request_for(), "", "made", (RESULT,))
    harness.send(proposed, "worker")
    assert (harness.e("a").digest, harness.e("a").outputs) == ("made", (RESULT.id,))
    assert harness.effects(StageArtifacts) == [StageArtifacts(e.id)]


# ---- unknown action outcomes -------------------------------------------------------------------------
def with_unknown_outcome() -> Harness:
    harness = Harness(plan_of("a"))
    harness.propose("a")
    harness.decide_action("a", "approve")
    e = harness.e("a")
    asked = request_for(kind=ApprovalKind.OUTCOME, reason="The mail may have left.")
    harness.send(ActionHeld(e.id, e.dispatch, "unknown", (asked,)), "worker")
    return harness


def test_people_are_asked_about_an_unknown_outcome() -> None:
    harness = with_unknown_outcome()
    assert (harness.e("a").waiting_on, harness.e("a").has_actions) == (WaitingOn.ACTION_APPROVAL, True)
    approval = harness.pending_approval("a")
    assert (approval.kind, approval.reason) == (ApprovalKind.OUTCOME, "The mail may have left.")


@pytest.mark.parametrize("decision", ["happened", "did_not_happen", "send_again"])
def test_a_decision_on_an_unknown_outcome_continues_the_attempt(decision: str) -> None:
    harness = with_unknown_outcome()
    harness.decide_action("a", decision)
    e = harness.e("a")
    assert (harness.states, e.attempt, e.revision) == ({"a": "WORKING"}, 1, 0)


def test_giving_up_on_an_unknown_outcome_follows_on_failure() -> None:
    harness = with_unknown_outcome()
    harness.decide_action("a", "give_up", feedback="lost")
    assert (harness.states, harness.run.status) == ({"a": "FAILED"}, RunStatus.PAUSED)
    assert harness.e("a").last_error == Failure("action_abandoned", mentions("ann", "lost"))


def test_a_retry_after_an_unknown_outcome_starts_without_open_approvals() -> None:
    harness = with_unknown_outcome()
    harness.decide_action("a", "give_up")
    harness.send(RetryExecution(harness.e("a").id, 1))
    assert (harness.states, harness.e("a").has_actions, harness.run.pending) == ({"a": "WORKING"}, True, ())


# ---- who may decide ----------------------------------------------------------------------------------
def answer_as(harness: Harness, by: str, *, identities: frozenset[str] | None, starter: str = "ann") -> None:
    command = Decide(harness.pending_approval("a").id, "approve")
    context = CommandContext(BEGIN, by, UUID(int=99), harness.judge, starter, identities)
    harness.run = decide(harness.run, command, context).run


def with_pending_start(**terms: object) -> Harness:
    return Harness(plan_of("a"), judge=require_approval_for(ApprovalKind.START, **terms))


def test_only_assigned_users_can_decide() -> None:
    harness = with_pending_start(approvers=("Finance", "lead@example.com"))
    with pytest.raises(NotAllowed) as raised:
        answer_as(harness, "bob", identities=frozenset({"bob", "approver"}))
    assert raised.value.message == mentions("Finance, lead@example.com")
    answer_as(harness, "bob", identities=frozenset({"bob", "finance"}))
    assert harness.states == {"a": "WORKING"}


def test_an_admin_can_always_decide() -> None:
    harness = with_pending_start(approvers=("finance",))
    answer_as(harness, "root", identities=None)
    assert harness.states == {"a": "WORKING"}


def test_a_rule_can_exclude_who_started_the_run_from_deciding() -> None:
    harness = with_pending_start(not_by_starter=True)
    with pytest.raises(NotAllowed) as raised:
        answer_as(harness, "ann", identities=None)
    assert raised.value.message == mentions()
    answer_as(harness, "bob", identities=frozenset())
    assert harness.states == {"a": "WORKING"}


def test_an_approval_is_reassigned() -> None:
    harness = with_pending_start(approvers=("finance",))
    approval = harness.pending_approval("a").id
    harness.send(AssignApproval(approval, ("legal",), "a contract"))
    assert harness.pending_approval("a").assigned_to == ("legal",)
    assert harness.event_detail(EventType.APPROVAL_ASSIGNED) == {
        "kind": "start",
        "from": ["finance"],
        "to": ["legal"],
        "reason": "a contract",
    }
    with pytest.raises(NotAllowed):
        answer_as(harness, "bob", identities=frozenset({"finance"}))
    assert harness.refuses(AssignApproval(approval, ())).message == mentions()
    harness.answer("a", "approve")
    assert harness.refuses(AssignApproval(approval, ("x",))).message == mentions("approved", "ann")
    harness.refuses(AssignApproval("none", ("x",)), CommandRefused)


# ---- reminders and escalation --------------------------------------------------------------------------
def test_approvers_are_reminded_once_per_period() -> None:
    harness = with_pending_start(timeout=60.0)
    approval = harness.pending_approval("a")
    harness.send(ReminderDue(approval.id, 1), "timer")
    assert approval.expires_at is not None
    assert harness.event_detail(EventType.APPROVAL_REMINDER_DUE) == {
        "kind": "start",
        "expires_at": approval.expires_at.isoformat(),
    }
    harness.refuses(ReminderDue(approval.id, 1), StaleCommand)
    harness.refuses(ReminderDue(approval.id, 2), StaleCommand)


def test_an_approval_is_escalated_once() -> None:
    harness = with_pending_start(
        approvers=("finance",), escalate_after=30.0, escalate_to=("manager@example.com", "finance")
    )
    approval = harness.pending_approval("a")
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(30.0, EscalationDue(approval.id))]
    harness.send(EscalationDue(approval.id), "timer")
    assert harness.pending_approval("a").assigned_to == ("finance", "manager@example.com")
    assert harness.event_detail(EventType.APPROVAL_ESCALATED) == {
        "kind": "start",
        "to": ["manager@example.com", "finance"],
        "period": 1,
        "expires_at": None,
    }
    harness.refuses(EscalationDue(approval.id), StaleCommand)
    harness.answer("a", "approve")
    harness.refuses(EscalationDue(approval.id), StaleCommand)


def test_a_due_escalation_is_recorded_before_the_deadline() -> None:
    """Both can be due when the server starts."""
    harness = with_pending_start(timeout=60.0, escalate_after=30.0, escalate_to=("manager@example.com",))
    approval = harness.pending_approval("a").id
    harness.send(ApprovalExpired(approval, 1), "timer")
    assert harness.event_types[:2] == ["approval_escalated", "approval_timeout"]
    harness.refuses(EscalationDue(approval), StaleCommand)


def test_an_escalation_after_the_deadline_is_not_recorded() -> None:
    harness = with_pending_start(timeout=60.0, escalate_after=90.0, escalate_to=("manager@example.com",))
    harness.send(ApprovalExpired(harness.pending_approval("a").id, 1), "timer")
    assert "approval_escalated" not in harness.event_types
