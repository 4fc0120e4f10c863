"""Every kind of approval with every decision."""

from __future__ import annotations

from cairn.core.approval import Vote
from cairn.core.commands import Decide, InputRequested, IterationLimitReached, ResultInvalid, RetryExecution
from cairn.core.effects import CreateWorkspace, StageArtifacts
from cairn.core.events import EventType
from cairn.core.execution import Failure
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import (
    ApprovalStatus,
    ExecutionMode,
    ExecutionState,
    OnFailure,
    OnInvalid,
    PassDecision,
    RunStatus,
    WaitingOn,
)
from tests.core.desk import RESULT, Desk, plan_of
from tests.mentions import mentions


def asked_completion() -> Desk:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_completion=True)}))
    desk.finish("a")
    return desk


def asked_action() -> Desk:
    desk = Desk(plan_of("a"))
    desk.propose("a", "transfer")
    return desk


def asked_validation(policy: CheckpointPolicy | None = None) -> Desk:
    desk = Desk(plan_of("a", policies={"a": policy or CheckpointPolicy(on_invalid=OnInvalid.ASK_HUMAN)}))
    error = Failure("schema", "the title is missing")
    desk.send(ResultInvalid(desk.e("a").id, 1, "x", (RESULT,), error), "worker")
    return desk


def asked_escalation(digest: str | None = "x", policy: CheckpointPolicy | None = None) -> Desk:
    desk = Desk(plan_of("a", policies={"a": policy or CheckpointPolicy()}))
    desk.send(IterationLimitReached(desk.e("a").id, 1, digest, (RESULT,) if digest else ()), "worker")
    return desk


def asked_input(waiting_on: WaitingOn = WaitingOn.QUESTION) -> Desk:
    desk = Desk(plan_of("a"))
    desk.send(InputRequested(desk.e("a").id, 1, waiting_on, "question"), "worker")
    return desk


def status_of(desk: Desk) -> ApprovalStatus:
    return list(desk.run.approvals.values())[-1].status


# ---- completion ------------------------------------------------------------------------------------
def test_a_completion_is_asked_with_what_is_staged() -> None:
    desk = asked_completion()
    e = desk.e("a")
    assert (e.state, desk.asked("a").digest) == (ExecutionState.COMPLETION_ASKED, "d")
    assert desk.last.effects == (StageArtifacts(e.id),)
    assert desk.told == ["artifacts_created", "execution_completion_asked", "approval_asked"]


def test_completion_approve() -> None:
    desk = asked_completion()
    desk.answer("a", "approve", feedback="fine")
    assert (desk.states, desk.run.status) == ({"a": "COMPLETED"}, RunStatus.COMPLETED)
    (approval,) = desk.run.approvals.values()
    assert (approval.status, approval.closed_at) == (ApprovalStatus.APPROVED, desk.at)
    assert approval.votes == (Vote("ann", desk.at, "approve", "fine", "d"),)
    assert desk.detail(EventType.APPROVAL_APPROVED) == {
        "kind": "completion",
        "decision": "approve",
        "digest": "d",
        "feedback": "fine",
    }


def test_revising_a_result_keeps_the_execution_and_counts() -> None:
    desk = asked_completion()
    before = desk.e("a")
    desk.answer("a", "revise", feedback="shorter")
    e = desk.e("a")
    assert (e.id, e.revision, e.attempt, e.dispatch, e.state) == (before.id, 1, 1, 2, ExecutionState.WORKING)
    assert status_of(desk) is ApprovalStatus.REVISION_REQUESTED
    assert desk.detail(EventType.EXECUTION_REVISED) == {
        "checkpoint": "a",
        "revision_iteration": 1,
        "feedback": "shorter",
    }
    assert desk.did(CreateWorkspace) == []


def test_revising_a_result_past_the_limit_follows_on_failure() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_completion=True, max_revisions=1)}))
    desk.finish("a")
    desk.answer("a", "revise")
    desk.finish("a")
    desk.answer("a", "revise", feedback="still too long")
    assert (desk.states, desk.run.status) == ({"a": "FAILED"}, RunStatus.PAUSED)
    why = mentions("1", "still too long")
    assert desk.e("a").last_error == Failure("revisions_used_up", why)


def test_rejecting_a_result_fails_execution_and_run_and_skips_on_failure() -> None:
    policy = CheckpointPolicy(ask_completion=True, on_failure=OnFailure.ROLLBACK_CHECKPOINT)
    desk = Desk(plan_of("a", policies={"a": policy}))
    desk.finish("a")
    desk.answer("a", "reject", feedback="wrong customer")
    assert (desk.states, desk.run.status) == ({"a": "FAILED"}, RunStatus.FAILED)
    assert desk.e("a").last_error == Failure("rejected", mentions("ann", "wrong customer"))
    assert desk.detail(EventType.RUN_FAILED)["reason"] == mentions("ann", "wrong customer")
    assert status_of(desk) is ApprovalStatus.REJECTED


# ---- action ----------------------------------------------------------------------------------------
def test_approving_an_action_returns_to_its_proposer() -> None:
    desk = asked_action()
    assert (desk.e("a").waiting_on, desk.asked("a").digest) == (WaitingOn.ACTION_APPROVAL, "transfer")
    desk.answer("a", "approve")
    assert (desk.states, desk.e("a").dispatch, desk.e("a").answer) == ({"a": "WORKING"}, 2, None)


def test_modifying_an_action_binds_the_approval_to_the_new_parameters() -> None:
    desk = asked_action()
    approval = desk.asked("a")
    desk.answer("a", "modify", modified="transfer less", answer="checksum")
    assert (desk.states, desk.e("a").answer) == ({"a": "WORKING"}, "checksum")
    approval = desk.run.approvals[approval.id]
    assert (approval.status, approval.digest) == (ApprovalStatus.APPROVED, "transfer less")
    assert approval.votes == (Vote("ann", desk.at, "modify", "", "transfer less", "checksum"),)


def test_action_modify_has_to_change_something() -> None:
    desk = asked_action()
    desk.refuses(Decide(desk.asked("a").id, "modify"))
    desk.refuses(Decide(desk.asked("a").id, "modify", modified="transfer"))


def test_revising_an_action_counts_as_a_revision() -> None:
    desk = asked_action()
    desk.answer("a", "revise", feedback="ask finance first")
    assert (desk.states, desk.e("a").revision) == ({"a": "WORKING"}, 1)


def test_action_reject() -> None:
    desk = asked_action()
    desk.answer("a", "reject", feedback="no")
    assert (desk.states, desk.run.status) == ({"a": "FAILED"}, RunStatus.FAILED)


# ---- validation --------------------------------------------------------------------------------------
def test_validation_is_asked_with_the_finding() -> None:
    desk = asked_validation()
    assert desk.e("a").waiting_on is WaitingOn.VALIDATION_FEEDBACK
    assert (desk.asked("a").digest, desk.asked("a").reason) == ("x", "the title is missing")
    assert desk.last.effects == (StageArtifacts(desk.e("a").id),)
    assert (desk.e("a").errors, desk.e("a").outputs) == (1, (RESULT.id,))


def test_validation_accept_completes() -> None:
    desk = asked_validation()
    desk.answer("a", "accept")
    assert (desk.states, desk.run.status) == ({"a": "COMPLETED"}, RunStatus.COMPLETED)


def test_validation_accept_still_asks_for_the_completion() -> None:
    desk = asked_validation(CheckpointPolicy(on_invalid=OnInvalid.ASK_HUMAN, ask_completion=True))
    desk.answer("a", "accept")
    assert desk.states == {"a": "COMPLETION_ASKED"}


def test_validation_feedback_tries_again() -> None:
    desk = asked_validation()
    desk.answer("a", "feedback", feedback="add a title")
    e = desk.e("a")
    assert (e.state, e.attempt, e.validations_used, e.revision) == (ExecutionState.WORKING, 2, 1, 0)
    assert status_of(desk) is ApprovalStatus.REVISION_REQUESTED
    assert desk.detail(EventType.EXECUTION_REVALIDATED)["reason"] == "add a title"


def test_validation_reject() -> None:
    desk = asked_validation()
    desk.answer("a", "reject")
    assert (desk.states, desk.run.status) == ({"a": "FAILED"}, RunStatus.FAILED)


def test_max_validation_retries_also_limits_ask_human() -> None:
    desk = asked_validation(CheckpointPolicy(on_invalid=OnInvalid.ASK_HUMAN, max_validation_retries=1))
    desk.answer("a", "feedback")
    desk.send(ResultInvalid(desk.e("a").id, 2, "x"), "worker")
    assert desk.states == {"a": "FAILED"}


# ---- escalation --------------------------------------------------------------------------------------
def test_retrying_after_an_escalation_renews_the_retry_limits() -> None:
    desk = asked_escalation(policy=CheckpointPolicy(max_auto_retries=1, max_validation_retries=1, timeout=60.0))
    e = desk.e("a")
    desk.run = desk.run.with_executions(e.changed(retries_used=1, validations_used=1, interruptions=2, worked=50.0))
    desk.answer("a", "retry")
    e = desk.e("a")
    assert (e.state, e.attempt) == (ExecutionState.WORKING, 2)
    assert (e.retries_used, e.validations_used, e.interruptions, e.worked) == (0, 0, 0, 0.0)
    assert desk.detail(EventType.EXECUTION_RETRIED) == {"checkpoint": "a", "attempt_number": 2}


def test_retrying_after_an_escalation_asks_a_form_again() -> None:
    desk = Desk(plan_of("a", decides=("a",), policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    desk.answer("a", "answer")
    desk.finish("a", ruling=PassDecision.ESCALATE)
    desk.answer("a", "retry")
    assert desk.e("a").waiting_on is WaitingOn.HUMAN_FORM


def test_accepting_after_an_escalation_completes_and_replaces_the_approval() -> None:
    desk = asked_escalation(policy=CheckpointPolicy(ask_completion=True))
    assert desk.last.effects == (StageArtifacts(desk.e("a").id),)
    desk.answer("a", "accept")
    assert (desk.states, desk.run.status) == ({"a": "COMPLETED"}, RunStatus.COMPLETED)


def test_accepting_without_a_result_is_refused() -> None:
    desk = asked_escalation(digest=None)
    assert desk.last.effects == ()
    refused = desk.refuses(Decide(desk.asked("a").id, "accept"))
    assert (refused.message, refused.possible) == (mentions(), ("retry", "restart", "fail"))


def test_restarting_after_an_escalation_begins_the_next_pass() -> None:
    desk = asked_escalation()
    desk.answer("a", "restart")
    assert (desk.run.pass_number, desk.run.restart_count) == (2, 1)
    assert desk.all("a") == [ExecutionState.CANCELLED, ExecutionState.WORKING]


def test_failing_after_an_escalation_follows_on_failure() -> None:
    desk = asked_escalation()
    desk.answer("a", "fail", feedback="hopeless")
    assert (desk.states, desk.run.status) == ({"a": "FAILED"}, RunStatus.PAUSED)
    assert desk.e("a").last_error == Failure("escalation", mentions("ann", "hopeless"))
    assert status_of(desk) is ApprovalStatus.REJECTED


# ---- input -----------------------------------------------------------------------------------------
def test_input_answer() -> None:
    desk = asked_input()
    desk.answer("a", "answer", answer="checksum")
    assert (desk.states, desk.e("a").answer) == ({"a": "WORKING"}, "checksum")


def test_the_agent_is_informed_of_a_declined_question() -> None:
    desk = asked_input()
    desk.answer("a", "decline")
    assert (desk.states, status_of(desk)) == ({"a": "WORKING"}, ApprovalStatus.REJECTED)


def test_a_declined_script_input_follows_on_failure() -> None:
    desk = asked_input(WaitingOn.SCRIPT_INPUT)
    desk.answer("a", "decline", feedback="not mine")
    assert (desk.states, desk.run.status) == ({"a": "FAILED"}, RunStatus.PAUSED)
    assert desk.e("a").last_error == Failure("declined", mentions("ann", "not mine"))


def test_a_declined_form_follows_on_failure_and_a_retry_asks_again() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    desk.answer("a", "decline")
    assert desk.states == {"a": "FAILED"}
    desk.send(RetryExecution(desk.e("a").id, 1))
    assert desk.e("a").waiting_on is WaitingOn.HUMAN_FORM


def test_a_revised_form_is_filled_in_again() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, ask_completion=True)}))
    desk.answer("a", "answer", answer="first")
    desk.finish("a")
    desk.answer("a", "revise")
    assert (desk.e("a").waiting_on, desk.e("a").answer) == (WaitingOn.HUMAN_FORM, "first")
