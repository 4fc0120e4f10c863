"""Rules are evaluated before people are asked; who can decide; escalations."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from cairn.core.commands import (
    ActionOutcomeUnknown,
    ActionProposed,
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
from cairn.core.plan import CheckpointPolicy
from cairn.core.rule_verdict import (
    ApprovalTerms,
    ConditionResult,
    EvaluatedRule,
    Judge,
    ProposedAction,
    RiskLevel,
    RuleQuestion,
    RuleVerdict,
)
from cairn.core.states import ApprovalKind, ApprovalStatus, RunStatus, WaitingOn
from tests.core.desk import ACTION, BEGIN, RESULT, Desk, asking, plan_of
from tests.mentions import mentions

MET = EvaluatedRule("small", "global", "auto_approval", "approves", (ConditionResult("amount", "<= 50", "35", True),))
MISSED = EvaluatedRule("large", "global", "checkpoints", "does not match")


def saying(verdict: RuleVerdict, seen: list[RuleQuestion] | None = None) -> Judge:
    def judge(question: RuleQuestion) -> RuleVerdict:
        if seen is not None:
            seen.append(question)
        return verdict

    return judge


APPROVES = RuleVerdict(False, "small", "global", 3, 7, considered=(MISSED, MET), notify=True, audit=True)


# ---- start and completion --------------------------------------------------------------------------
def test_a_rule_asks_where_the_setting_is_off() -> None:
    desk = Desk(plan_of("a", "b"), judge=asking(ApprovalKind.START, ApprovalKind.COMPLETION))
    assert desk.states == {"a": "START_ASKED"}
    desk.answer("a", "approve")
    desk.finish("a")
    assert desk.states == {"a": "COMPLETION_ASKED"}
    approval = desk.asked("a")
    assert (approval.rule, approval.scope, approval.rules_revision) == ("careful", "global", 1)
    desk.answer("a", "approve")
    assert desk.states == {"a": "COMPLETED", "b": "START_ASKED"}


def test_a_rule_approves_where_the_setting_asks_and_gives_its_reason() -> None:
    policy = CheckpointPolicy(ask_start=True, ask_completion=True)
    desk = Desk(plan_of("a", policies={"a": policy}, auto_advance=False), judge=saying(APPROVES))
    assert desk.states == {"a": "WORKING"}  # the approval is the start
    desk.finish("a")
    assert desk.run.status is RunStatus.COMPLETED
    assert desk.detail(EventType.APPROVAL_AUTO_APPROVED) == {
        "kind": "completion",
        "decision": "approve",
        "digest": "d",
        "approved_by": "rule:small",
        "conditions": [{"field": "amount", "wanted": "<= 50", "actual": "35"}],
        "notify": True,
        "audit": True,
        "rule": "small",
        "scope": "global",
        "rules_revision": 3,
    }
    start, completion = desk.run.approvals.values()
    assert [a.status for a in (start, completion)] == [ApprovalStatus.AUTO_APPROVED] * 2
    assert (completion.audit, completion.priority, completion.considered) == (True, 7, (MISSED, MET))
    assert [(vote.by, vote.decision) for vote in completion.votes] == [("rule:small", "approve")]


def test_an_approving_rule_does_not_replace_a_manual_start() -> None:
    desk = Desk(plan_of("a", "b", auto_advance=False), judge=saying(APPROVES))
    desk.finish("a")
    assert desk.states == {"a": "COMPLETED", "b": "PENDING"}
    assert list(desk.run.approvals) == []  # nobody asked


def test_the_question_names_the_approval_that_is_made_of_it() -> None:
    seen: list[RuleQuestion] = []
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_start=True)}), judge=saying(RuleVerdict(), seen))
    approval = desk.asked("a")
    assert seen == [RuleQuestion(ApprovalKind.START, approval.id, desk.e("a").id, "a", desk.at)]


def test_a_rule_sets_the_terms_of_forms_and_escalations_without_answering_them() -> None:
    terms = ApprovalTerms(period=60.0, approvers=("editors",))
    desk = Desk(plan_of("a"), judge=saying(replace(APPROVES, asks=None, terms=terms)))
    desk.send(InputRequested(desk.e("a").id, 1, WaitingOn.QUESTION), "worker")
    approval = desk.asked("a")
    assert (approval.status, approval.terms, approval.asked_of) == (ApprovalStatus.PENDING, terms, ("editors",))


# ---- actions ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("risk", list(RiskLevel))
def test_without_a_rule_actions_above_low_risk_need_approval(risk: RiskLevel) -> None:
    desk = Desk(plan_of("a"))
    desk.propose("a", "x", ProposedAction("send_email", {"to": "b"}, risk, 0.87))
    (approval,) = desk.run.approvals.values()
    assert (approval.operation_type, approval.risk, approval.confidence) == ("send_email", risk, 0.87)
    if risk is RiskLevel.LOW:
        assert desk.states == {"a": "WORKING"}
        assert (approval.status, approval.votes[0].by) == (ApprovalStatus.AUTO_APPROVED, "rule:low risk")
    else:
        assert desk.e("a").waiting_on is WaitingOn.ACTION_APPROVAL
        assert approval.status is ApprovalStatus.PENDING


def test_risks_are_ordered() -> None:
    assert sorted(RiskLevel, key=lambda risk: risk.rank) == [
        RiskLevel.LOW,
        RiskLevel.MEDIUM,
        RiskLevel.HIGH,
        RiskLevel.CRITICAL,
    ]


def test_artifacts_so_far_are_shown_with_the_action() -> None:
    desk = Desk(plan_of("a"))
    e = desk.e("a")
    desk.send(ActionProposed(e.id, e.dispatch, "act", ACTION, "", "made", (RESULT,)), "worker")
    assert (desk.e("a").digest, desk.e("a").outputs) == ("made", (RESULT.id,))
    assert desk.did(StageArtifacts) == [StageArtifacts(e.id)]


def test_an_emergency_stop_also_holds_low_risk_actions() -> None:
    desk = Desk(plan_of("a"), judge=saying(RuleVerdict(stopped=True)))
    desk.propose("a", "x", ProposedAction("read", {}, RiskLevel.LOW))
    assert desk.e("a").waiting_on is WaitingOn.ACTION_APPROVAL


def test_a_rule_is_given_the_action_that_it_approves() -> None:
    seen: list[RuleQuestion] = []
    desk = Desk(plan_of("a"), judge=saying(APPROVES, seen))
    action = ProposedAction("refund", {"amount": 35}, RiskLevel.MEDIUM, 0.92)
    desk.propose("a", "x", action)
    assert desk.states == {"a": "WORKING"}
    assert seen[-1].action == action
    told = desk.detail(EventType.APPROVAL_AUTO_APPROVED)
    assert (told["operation_type"], told["risk_level"], told["confidence"]) == ("refund", "medium", 0.92)


def test_another_rule_needs_a_new_approval_of_equal_content() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=1)}))
    desk.propose("a", "pay")
    desk.answer("a", "approve")
    desk.fail("a")
    desk.due("a")
    desk.judge = asking(ApprovalKind.ACTION)
    desk.propose("a", "pay")
    assert desk.e("a").waiting_on is WaitingOn.ACTION_APPROVAL


# ---- an outcome that nobody knows --------------------------------------------------------------------
def doubtful() -> Desk:
    desk = Desk(plan_of("a"))
    desk.propose("a")
    desk.answer("a", "approve")
    e = desk.e("a")
    desk.send(ActionOutcomeUnknown(e.id, e.dispatch, "The mail may have left."), "worker")
    return desk


def test_an_unknown_action_outcome_is_escalated() -> None:
    desk = doubtful()
    assert (desk.e("a").waiting_on, desk.e("a").doubts) == (WaitingOn.ESCALATION, True)
    approval = desk.asked("a")
    assert (approval.kind, approval.reason) == (ApprovalKind.ESCALATION, "The mail may have left.")


@pytest.mark.parametrize("decision", ["retry", "accept"])
def test_a_decision_resolves_an_unknown_action_outcome(decision: str) -> None:
    desk = doubtful()
    desk.answer("a", decision)
    e = desk.e("a")
    assert (desk.states, e.doubts, e.attempt) == ({"a": "WORKING"}, False, 1)


def test_a_retry_clears_an_unknown_action_outcome() -> None:
    desk = doubtful()
    desk.answer("a", "fail")
    desk.send(RetryExecution(desk.e("a").id, 1))
    assert (desk.states, desk.e("a").doubts) == ({"a": "WORKING"}, False)


# ---- who may decide ----------------------------------------------------------------------------------
def answer_as(desk: Desk, by: str, *, counts_as: frozenset[str] | None, starter: str = "ann") -> None:
    command = Decide(desk.asked("a").id, "approve")
    given = CommandContext(BEGIN, by, UUID(int=99), desk.judge, starter, counts_as)
    desk.run = decide(desk.run, command, given).run


def held(**terms: object) -> Desk:
    return Desk(plan_of("a"), judge=asking(ApprovalKind.START, **terms))


def test_only_assigned_users_can_decide() -> None:
    desk = held(approvers=("Finance", "lead@example.com"))
    with pytest.raises(NotAllowed) as refused:
        answer_as(desk, "bob", counts_as=frozenset({"bob", "approver"}))
    assert refused.value.message == mentions("Finance, lead@example.com")
    answer_as(desk, "bob", counts_as=frozenset({"bob", "finance"}))
    assert desk.states == {"a": "WORKING"}


def test_an_admin_can_always_decide() -> None:
    desk = held(approvers=("finance",))
    answer_as(desk, "root", counts_as=None)
    assert desk.states == {"a": "WORKING"}


def test_a_rule_can_exclude_who_started_the_run_from_deciding() -> None:
    desk = held(not_by_starter=True)
    with pytest.raises(NotAllowed) as refused:
        answer_as(desk, "ann", counts_as=None)
    assert refused.value.message == mentions()
    answer_as(desk, "bob", counts_as=frozenset())
    assert desk.states == {"a": "WORKING"}


def test_an_approval_is_reassigned() -> None:
    desk = held(approvers=("finance",))
    approval = desk.asked("a").id
    desk.send(AssignApproval(approval, ("legal",), "a contract"))
    assert desk.asked("a").asked_of == ("legal",)
    assert desk.detail(EventType.APPROVAL_ASSIGNED) == {
        "kind": "start",
        "from": ["finance"],
        "to": ["legal"],
        "reason": "a contract",
    }
    with pytest.raises(NotAllowed):
        answer_as(desk, "bob", counts_as=frozenset({"finance"}))
    assert desk.refuses(AssignApproval(approval, ())).message == mentions()
    desk.answer("a", "approve")
    assert desk.refuses(AssignApproval(approval, ("x",))).message == mentions("approved", "ann")
    desk.refuses(AssignApproval("none", ("x",)), CommandRefused)


# ---- reminders and escalation --------------------------------------------------------------------------
def test_approvers_are_reminded_once_per_period() -> None:
    desk = held(period=60.0)
    approval = desk.asked("a")
    desk.send(ReminderDue(approval.id, 1), "timer")
    assert approval.expires_at is not None
    assert desk.detail(EventType.APPROVAL_REMINDED) == {
        "kind": "start",
        "expires_at": approval.expires_at.isoformat(),
    }
    desk.refuses(ReminderDue(approval.id, 1), StaleCommand)
    desk.refuses(ReminderDue(approval.id, 2), StaleCommand)


def test_an_approval_is_escalated_once() -> None:
    desk = held(approvers=("finance",), escalate_after=30.0, escalate_to=("manager@example.com", "finance"))
    approval = desk.asked("a")
    assert desk.did(ScheduleTimer) == [ScheduleTimer(30.0, EscalationDue(approval.id))]
    desk.send(EscalationDue(approval.id), "timer")
    assert desk.asked("a").asked_of == ("finance", "manager@example.com")
    assert desk.detail(EventType.APPROVAL_ESCALATED) == {
        "kind": "start",
        "to": ["manager@example.com", "finance"],
        "period": 1,
        "expires_at": None,
    }
    desk.refuses(EscalationDue(approval.id), StaleCommand)
    desk.answer("a", "approve")
    desk.refuses(EscalationDue(approval.id), StaleCommand)


def test_a_due_escalation_is_recorded_before_the_deadline() -> None:
    """As after a start of the server, when both are due."""
    desk = held(period=60.0, escalate_after=30.0, escalate_to=("manager@example.com",))
    approval = desk.asked("a").id
    desk.send(ApprovalExpired(approval, 1), "timer")
    assert desk.told[:2] == ["approval_escalated", "approval_timeout"]
    desk.refuses(EscalationDue(approval), StaleCommand)


def test_an_escalation_after_the_deadline_is_not_recorded() -> None:
    desk = held(period=60.0, escalate_after=90.0, escalate_to=("manager@example.com",))
    desk.send(ApprovalExpired(desk.asked("a").id, 1), "timer")
    assert "approval_escalated" not in desk.told
