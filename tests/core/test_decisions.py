"""Every kind of approval with every decision."""

from __future__ import annotations

import pytest

from cairn.core.approval import Vote
from cairn.core.commands import (
    ActionDecided,
    ActionHeld,
    Decide,
    InputRequested,
    IterationLimitReached,
    ResultInvalid,
    RetryExecution,
)
from cairn.core.effects import CreateWorkspace, StageArtifacts
from cairn.core.events import EventType
from cairn.core.execution import Failure
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import (
    ApprovalKind,
    ApprovalStatus,
    ExecutionMode,
    ExecutionState,
    OnFailure,
    OnInvalid,
    PassDecision,
    RunStatus,
    WaitingOn,
)
from tests.core.harness import RESULT, Harness, plan_of, request_for
from tests.mentions import mentions


def with_pending_completion() -> Harness:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(requires_completion_approval=True)}))
    harness.finish("a")
    return harness


def with_pending_action() -> Harness:
    harness = Harness(plan_of("a"))
    harness.propose("a", "transfer")
    return harness


def with_pending_validation(policy: CheckpointPolicy | None = None) -> Harness:
    harness = Harness(plan_of("a", policies={"a": policy or CheckpointPolicy(on_invalid=OnInvalid.ASK_HUMAN)}))
    error = Failure("schema", "the title is missing")
    harness.send(ResultInvalid(harness.e("a").id, 1, "x", (RESULT,), error), "worker")
    return harness


def with_pending_escalation(digest: str | None = "x", policy: CheckpointPolicy | None = None) -> Harness:
    harness = Harness(plan_of("a", policies={"a": policy or CheckpointPolicy()}))
    harness.send(IterationLimitReached(harness.e("a").id, 1, digest, (RESULT,) if digest else ()), "worker")
    return harness


def with_pending_input(waiting_on: WaitingOn = WaitingOn.QUESTION) -> Harness:
    harness = Harness(plan_of("a"))
    harness.send(InputRequested(harness.e("a").id, 1, waiting_on, "question"), "worker")
    return harness


def status_of(harness: Harness) -> ApprovalStatus:
    return list(harness.run.approvals.values())[-1].status


# ---- completion ------------------------------------------------------------------------------------
def test_a_completion_approval_shows_the_staged_artifacts() -> None:
    harness = with_pending_completion()
    e = harness.e("a")
    assert (e.state, harness.pending_approval("a").digest) == (ExecutionState.AWAITING_COMPLETION_APPROVAL, "d")
    assert harness.last.effects == (StageArtifacts(e.id),)
    assert harness.event_types == ["artifacts_created", "execution_awaiting_completion_approval", "approval_requested"]


def test_approving_a_result_completes_the_execution() -> None:
    harness = with_pending_completion()
    harness.answer("a", "approve", feedback="fine")
    assert (harness.states, harness.run.status) == ({"a": "COMPLETED"}, RunStatus.COMPLETED)
    (approval,) = harness.run.approvals.values()
    assert (approval.status, approval.closed_at) == (ApprovalStatus.APPROVED, harness.at)
    assert approval.votes == (Vote("ann", harness.at, "approve", "fine", "d"),)
    assert harness.event_detail(EventType.APPROVAL_APPROVED) == {
        "kind": "completion",
        "decision": "approve",
        "digest": "d",
        "feedback": "fine",
    }


def test_revising_a_result_keeps_the_execution_and_counts() -> None:
    harness = with_pending_completion()
    before = harness.e("a")
    harness.answer("a", "revise", feedback="shorter")
    e = harness.e("a")
    assert (e.id, e.revision, e.attempt, e.dispatch, e.state) == (before.id, 1, 1, 2, ExecutionState.WORKING)
    assert status_of(harness) is ApprovalStatus.REVISION_REQUESTED
    assert harness.event_detail(EventType.EXECUTION_REVISED) == {
        "checkpoint": "a",
        "revision_iteration": 1,
        "feedback": "shorter",
    }
    assert harness.effects(CreateWorkspace) == []


def test_revising_a_result_past_the_limit_follows_on_failure() -> None:
    harness = Harness(
        plan_of("a", policies={"a": CheckpointPolicy(requires_completion_approval=True, max_revisions=1)})
    )
    harness.finish("a")
    harness.answer("a", "revise")
    harness.finish("a")
    harness.answer("a", "revise", feedback="still too long")
    assert (harness.states, harness.run.status) == ({"a": "FAILED"}, RunStatus.PAUSED)
    reason = mentions("1", "still too long")
    assert harness.e("a").last_error == Failure("revision_limit_reached", reason)


def test_rejecting_a_result_fails_execution_and_run_and_skips_on_failure() -> None:
    policy = CheckpointPolicy(requires_completion_approval=True, on_failure=OnFailure.ROLLBACK_CHECKPOINT)
    harness = Harness(plan_of("a", policies={"a": policy}))
    harness.finish("a")
    harness.answer("a", "reject", feedback="wrong customer")
    assert (harness.states, harness.run.status) == ({"a": "FAILED"}, RunStatus.FAILED)
    assert harness.e("a").last_error == Failure("rejected", mentions("ann", "wrong customer"))
    assert harness.event_detail(EventType.RUN_FAILED)["reason"] == mentions("ann", "wrong customer")
    assert status_of(harness) is ApprovalStatus.REJECTED


# ---- action ----------------------------------------------------------------------------------------
def test_approving_an_action_returns_to_its_proposer() -> None:
    harness = with_pending_action()
    assert (harness.e("a").waiting_on, harness.pending_approval("a").digest) == (WaitingOn.ACTION_APPROVAL, "transfer")
    harness.decide_action("a", "approve", feedback="fine")
    assert (harness.states, harness.e("a").dispatch, harness.e("a").answer) == ({"a": "WORKING"}, 2, None)
    assert harness.event_detail(EventType.APPROVAL_APPROVED) == {
        "kind": "action",
        "decision": "approve",
        "digest": "transfer",
        "feedback": "fine",
    }


def test_modifying_an_action_binds_the_approval_to_the_new_parameters() -> None:
    harness = with_pending_action()
    approval = harness.pending_approval("a")
    harness.decide_action("a", "modify", digest="transfer less", answer="checksum")
    assert harness.states == {"a": "WORKING"}
    approval = harness.run.approvals[approval.id]
    assert (approval.status, approval.digest) == (ApprovalStatus.APPROVED, "transfer less")
    assert approval.votes == (Vote("ann", harness.at, "modify", "", "transfer less", "checksum"),)


def test_a_vote_on_an_action_waits_for_the_other_seats() -> None:
    harness = with_pending_action()
    approval = harness.pending_approval("a").id
    harness.send(ActionDecided(approval, "approve", digest="transfer", required=3, filled=2))
    assert harness.event_detail(EventType.APPROVAL_VOTE_CAST) == {
        "kind": "action",
        "decision": "approve",
        "digest": "transfer",
        "feedback": "",
        "received_approvals": 2,
        "required_approvals": 3,
    }
    assert harness.e("a").waiting_on is WaitingOn.ACTION_APPROVAL
    harness.decide_action("a", "approve", "bob")
    (closed,) = harness.run.approvals.values()
    assert [vote.by for vote in closed.votes] == ["ann", "bob"]
    harness.refuses(ActionDecided(approval, "approve", ApprovalStatus.APPROVED))


def test_revising_an_action_counts_as_a_revision() -> None:
    harness = with_pending_action()
    harness.decide_action("a", "revise", feedback="ask finance first")
    assert (harness.states, harness.e("a").revision) == ({"a": "WORKING"}, 1)


def test_revising_an_action_past_the_limit_follows_on_failure() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(max_revisions=0)}))
    harness.propose("a")
    harness.decide_action("a", "revise", feedback="again")
    assert (harness.states, harness.run.status) == ({"a": "FAILED"}, RunStatus.PAUSED)
    assert harness.e("a").last_error == Failure("revision_limit_reached", mentions("0", "again"))


def test_rejecting_an_action_fails_the_execution() -> None:
    harness = with_pending_action()
    harness.decide_action("a", "reject", feedback="no")
    assert (harness.states, harness.run.status) == ({"a": "FAILED"}, RunStatus.FAILED)
    assert harness.e("a").last_error == Failure("rejected", mentions("ann", "no"))


def test_using_an_earlier_result_continues_the_execution() -> None:
    harness = with_pending_action()
    approval = harness.pending_approval("a").id
    harness.send(ActionDecided(approval, "use_earlier", ApprovalStatus.APPROVED))
    assert (harness.states, status_of(harness)) == ({"a": "WORKING"}, ApprovalStatus.APPROVED)


def test_the_two_ways_to_decide_are_kept_apart() -> None:
    harness = with_pending_action()
    harness.refuses(Decide(harness.pending_approval("a").id, "approve"))
    harness = with_pending_completion()
    harness.refuses(ActionDecided(harness.pending_approval("a").id, "approve", ApprovalStatus.APPROVED))
    harness.refuses(ActionDecided("nowhere", "approve", ApprovalStatus.APPROVED))


# ---- several actions of one execution -------------------------------------------------------------------
def with_two_pending_actions() -> Harness:
    harness = Harness(plan_of("a"))
    e = harness.e("a")
    asked = (request_for("first"), request_for("second", "act", ApprovalKind.OUTCOME))
    harness.send(ActionHeld(e.id, e.dispatch, "why", asked), "worker")
    return harness


def decide_first(harness: Harness, decision: str, status: ApprovalStatus) -> None:
    first = next(a for a in harness.run.pending if a.action == "first")
    harness.send(ActionDecided(first.id, decision, status))


def test_an_execution_waits_for_decisions_on_all_its_actions() -> None:
    harness = with_two_pending_actions()
    decide_first(harness, "approve", ApprovalStatus.APPROVED)
    assert harness.e("a").waiting_on is WaitingOn.ACTION_APPROVAL
    harness.decide_action("a", "happened")
    assert harness.states == {"a": "WORKING"}


@pytest.mark.parametrize(
    ("decision", "status"), [("revise", ApprovalStatus.REVISION_REQUESTED), ("reject", ApprovalStatus.REJECTED)]
)
def test_refusing_one_action_withdraws_the_approvals_of_the_others(decision: str, status: ApprovalStatus) -> None:
    harness = with_two_pending_actions()
    decide_first(harness, decision, status)
    assert [(a.action, a.status) for a in harness.run.approvals.values()] == [
        ("first", status),
        ("second", ApprovalStatus.WITHDRAWN),
    ]


# ---- validation --------------------------------------------------------------------------------------
def test_a_validation_approval_shows_the_finding() -> None:
    harness = with_pending_validation()
    assert harness.e("a").waiting_on is WaitingOn.VALIDATION_FEEDBACK
    assert (harness.pending_approval("a").digest, harness.pending_approval("a").reason) == ("x", "the title is missing")
    assert harness.last.effects == (StageArtifacts(harness.e("a").id),)
    assert (harness.e("a").errors, harness.e("a").outputs) == (1, (RESULT.id,))


def test_accepting_an_invalid_result_completes_the_execution() -> None:
    harness = with_pending_validation()
    harness.answer("a", "accept")
    assert (harness.states, harness.run.status) == ({"a": "COMPLETED"}, RunStatus.COMPLETED)


def test_an_accepted_invalid_result_still_needs_completion_approval() -> None:
    harness = with_pending_validation(
        CheckpointPolicy(on_invalid=OnInvalid.ASK_HUMAN, requires_completion_approval=True)
    )
    harness.answer("a", "accept")
    assert harness.states == {"a": "AWAITING_COMPLETION_APPROVAL"}


def test_validation_feedback_starts_a_new_attempt() -> None:
    harness = with_pending_validation()
    harness.answer("a", "feedback", feedback="add a title")
    e = harness.e("a")
    assert (e.state, e.attempt, e.validations_used, e.revision) == (ExecutionState.WORKING, 2, 1, 0)
    assert status_of(harness) is ApprovalStatus.REVISION_REQUESTED
    assert harness.event_detail(EventType.EXECUTION_VALIDATION_RETRIED)["reason"] == "add a title"


def test_rejecting_an_invalid_result_fails_the_execution() -> None:
    harness = with_pending_validation()
    harness.answer("a", "reject")
    assert (harness.states, harness.run.status) == ({"a": "FAILED"}, RunStatus.FAILED)


def test_max_validation_retries_also_limits_ask_human() -> None:
    harness = with_pending_validation(CheckpointPolicy(on_invalid=OnInvalid.ASK_HUMAN, max_validation_retries=1))
    harness.answer("a", "feedback")
    harness.send(ResultInvalid(harness.e("a").id, 2, "x"), "worker")
    assert harness.states == {"a": "FAILED"}


# ---- escalation --------------------------------------------------------------------------------------
def test_retrying_after_an_escalation_renews_the_retry_limits() -> None:
    harness = with_pending_escalation(
        policy=CheckpointPolicy(max_auto_retries=1, max_validation_retries=1, timeout=60.0)
    )
    e = harness.e("a")
    harness.run = harness.run.with_executions(
        e.replace(retries_used=1, validations_used=1, interruptions=2, active_seconds=50.0)
    )
    harness.answer("a", "retry")
    e = harness.e("a")
    assert (e.state, e.attempt) == (ExecutionState.WORKING, 2)
    assert (e.retries_used, e.validations_used, e.interruptions, e.active_seconds) == (0, 0, 0, 0.0)
    assert harness.event_detail(EventType.EXECUTION_RETRIED) == {"checkpoint": "a", "attempt_number": 2}


def test_retrying_after_an_escalation_requests_a_form_again() -> None:
    harness = Harness(plan_of("a", decides=("a",), policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    harness.answer("a", "answer")
    harness.finish("a", pass_decision=PassDecision.ESCALATE)
    harness.answer("a", "retry")
    assert harness.e("a").waiting_on is WaitingOn.HUMAN_FORM


def test_accepting_after_an_escalation_completes_and_replaces_the_approval() -> None:
    harness = with_pending_escalation(policy=CheckpointPolicy(requires_completion_approval=True))
    assert harness.last.effects == (StageArtifacts(harness.e("a").id),)
    harness.answer("a", "accept")
    assert (harness.states, harness.run.status) == ({"a": "COMPLETED"}, RunStatus.COMPLETED)


def test_accepting_without_a_result_is_refused() -> None:
    harness = with_pending_escalation(digest=None)
    assert harness.last.effects == ()
    error = harness.refuses(Decide(harness.pending_approval("a").id, "accept"))
    assert (error.message, error.suggestions) == (mentions(), ("retry", "restart", "fail"))


def test_restarting_after_an_escalation_starts_the_next_pass() -> None:
    harness = with_pending_escalation()
    harness.answer("a", "restart")
    assert (harness.run.pass_number, harness.run.restart_count) == (2, 1)
    assert harness.all("a") == [ExecutionState.CANCELLED, ExecutionState.WORKING]


def test_failing_after_an_escalation_follows_on_failure() -> None:
    harness = with_pending_escalation()
    harness.answer("a", "fail", feedback="hopeless")
    assert (harness.states, harness.run.status) == ({"a": "FAILED"}, RunStatus.PAUSED)
    assert harness.e("a").last_error == Failure("failed_by_decision", mentions("ann", "hopeless"))
    assert status_of(harness) is ApprovalStatus.REJECTED


# ---- input -----------------------------------------------------------------------------------------
def test_answering_a_question_continues_the_execution() -> None:
    harness = with_pending_input()
    harness.answer("a", "answer", answer="checksum")
    assert (harness.states, harness.e("a").answer) == ({"a": "WORKING"}, "checksum")


def test_the_agent_is_informed_of_a_declined_question() -> None:
    harness = with_pending_input()
    harness.answer("a", "decline")
    assert (harness.states, status_of(harness)) == ({"a": "WORKING"}, ApprovalStatus.REJECTED)


def test_a_declined_script_input_follows_on_failure() -> None:
    harness = with_pending_input(WaitingOn.SCRIPT_INPUT)
    harness.answer("a", "decline", feedback="not mine")
    assert (harness.states, harness.run.status) == ({"a": "FAILED"}, RunStatus.PAUSED)
    assert harness.e("a").last_error == Failure("declined", mentions("ann", "not mine"))


def test_a_declined_form_follows_on_failure_and_a_retry_requests_it_again() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    harness.answer("a", "decline")
    assert harness.states == {"a": "FAILED"}
    harness.send(RetryExecution(harness.e("a").id, 1))
    assert harness.e("a").waiting_on is WaitingOn.HUMAN_FORM


def test_a_revised_form_is_filled_in_again() -> None:
    harness = Harness(
        plan_of("a", policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, requires_completion_approval=True)})
    )
    harness.answer("a", "answer", answer="first")
    harness.finish("a")
    harness.answer("a", "revise")
    assert (harness.e("a").waiting_on, harness.e("a").answer) == (WaitingOn.HUMAN_FORM, "first")
