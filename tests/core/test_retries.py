"""Manual retry, dismissal and cancellation after a failure."""

from __future__ import annotations

from cairn.core.commands import (
    ApprovalExpired,
    CancelExecution,
    ExecutionInterrupted,
    ResumeRun,
    RetryExecution,
    ReworkRequested,
)
from cairn.core.effects import CreateWorkspace, Dispatch, MoveToErrored, StopExecution
from cairn.core.errors import AlreadyApplied, StaleCommand
from cairn.core.events import EventType
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import (
    ApprovalKind,
    ExecutionMode,
    ExecutionState,
    OnExpiry,
    OnFailure,
    PassDecision,
    RunStatus,
    WaitingOn,
)
from tests.core.harness import RESULT, Harness, plan_of, require_approval_for
from tests.mentions import mentions


def failing(on_failure: OnFailure, *stages: str | tuple[str, ...], max_auto_retries: int = 0) -> Harness:
    policy = CheckpointPolicy(on_failure=on_failure, max_auto_retries=max_auto_retries)
    plan = plan_of(*stages)
    return Harness(plan_of(*stages, policies=dict.fromkeys(plan.by_key, policy)))


def test_a_manual_retry_keeps_the_id_and_resets_everything_else() -> None:
    harness = failing(OnFailure.FAIL_RUN, "a", max_auto_retries=1)
    harness.fail("a")
    harness.retry_due("a")
    harness.fail("a")
    failed = harness.e("a")
    assert not failed.has_workspace
    harness.send(RetryExecution(failed.id, 2))
    assert harness.run.status is RunStatus.IN_PROGRESS
    assert harness.e("a") == failed.replace(
        state=ExecutionState.WORKING,
        attempt=3,
        retries_used=0,
        dispatch=3,
        has_workspace=True,
        failed_at=None,
        active_since=harness.at,
        active_seconds=0.0,
    )
    assert harness.last.effects == (CreateWorkspace(failed.id), Dispatch(failed.id, 3))
    assert harness.event_detail(EventType.RUN_REOPENED) == {
        "from": "failed",
        "to": "in_progress",
        "transition": "retry",
    }


def test_a_retry_clears_the_results_of_the_failed_attempt() -> None:
    policy = CheckpointPolicy(
        mode=ExecutionMode.HUMAN_ONLY, requires_completion_approval=True, max_validation_retries=1
    )
    harness = Harness(plan_of("a", decides=("a",), policies={"a": policy}))
    harness.answer("a", "answer", answer="entered")
    harness.send(ExecutionInterrupted(harness.e("a").id, 1), "worker")
    harness.finish("a", pass_decision=PassDecision.RESTART, after=30)
    harness.answer("a", "revise")
    harness.answer("a", "answer", answer="entered again")
    harness.finish("a", pass_decision=PassDecision.RESTART)
    harness.answer("a", "reject")
    failed = harness.e("a")
    assert (failed.revision, failed.digest, failed.outputs, failed.pass_decision) == (
        1,
        "d",
        (RESULT.id,),
        PassDecision.RESTART,
    )
    harness.send(RetryExecution(failed.id, 1))
    assert harness.e("a") == failed.replace(
        state=ExecutionState.WAITING,
        waiting_on=WaitingOn.HUMAN_FORM,
        attempt=2,
        revision=0,
        answered=False,
        digest=None,
        outputs=(),
        pass_decision=None,
        active_seconds=0.0,
        has_workspace=True,
        failed_at=None,
    )


def test_a_retry_drops_the_requested_rework() -> None:
    harness = Harness(plan_of("a", "b", max_reworks=0))
    harness.finish("a")
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    harness.answer("b", "fail")
    harness.send(RetryExecution(harness.e("b").id, 1))
    assert (harness.states["b"], harness.e("b").pending_rework) == ("WORKING", None)


def test_a_repeated_retry_of_the_same_attempt_counts_once() -> None:
    harness = failing(OnFailure.PAUSE_PIPELINE, "a")
    harness.fail("a")
    command = RetryExecution(harness.e("a").id, 1)
    harness.send(command)
    harness.refuses(command, AlreadyApplied)
    harness.refuses(RetryExecution(harness.e("a").id, 2))
    harness.fail("a")
    harness.refuses(RetryExecution(harness.e("a").id, 3), StaleCommand)


def test_resume_with_a_failed_execution_is_refused_with_alternatives() -> None:
    harness = failing(OnFailure.PAUSE_PIPELINE, "a")
    harness.fail("a")
    assert harness.run.status is RunStatus.PAUSED
    error = harness.refuses(ResumeRun())
    assert error.message == mentions("a")
    assert error.suggestions == (mentions("retry"), mentions("cancel"), mentions(), "cancel")


def test_a_retry_of_an_unapproved_start_requests_approval_again() -> None:
    harness = Harness(
        plan_of("a"), judge=require_approval_for(ApprovalKind.START, timeout=60.0, on_expiry=OnExpiry.FAIL)
    )
    harness.send(ApprovalExpired(harness.pending_approval("a").id, 1), "timer")
    assert (harness.states, harness.run.status) == ({"a": "FAILED"}, RunStatus.FAILED)
    harness.send(RetryExecution(harness.e("a").id, 1))
    assert harness.states == {"a": "AWAITING_START_APPROVAL"}
    assert harness.pending_approval("a").attempt == 2


def test_a_retry_of_an_approved_start_needs_no_new_approval() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(requires_start_approval=True)}))
    harness.answer("a", "approve")
    harness.fail("a")
    harness.send(RetryExecution(harness.e("a").id, 1))
    assert harness.states == {"a": "WORKING"}


def test_the_checkpoint_of_a_dismissed_failure_waits_for_a_manual_start() -> None:
    harness = failing(OnFailure.FAIL_RUN, ("a", "b"))
    harness.fail("a")
    harness.send(CancelExecution(harness.e("a").id))
    assert harness.run.status is RunStatus.IN_PROGRESS
    assert harness.all("a") == [ExecutionState.CANCELLED, ExecutionState.PENDING]
    assert harness.all("b") == [
        ExecutionState.CANCELLED,
        ExecutionState.WORKING,
    ]  # cancelled executions don't count


def test_cancelling_one_execution_stops_it_and_leaves_its_checkpoint_pending() -> None:
    harness = Harness(plan_of("a"))
    e = harness.e("a")
    harness.send(CancelExecution(e.id))
    assert harness.all("a") == [ExecutionState.CANCELLED, ExecutionState.PENDING]
    assert harness.e("a").manual_start
    assert harness.last.effects == (StopExecution(e.id, 1), MoveToErrored(e.id), CreateWorkspace(harness.e("a").id))
    harness.refuses(CancelExecution(e.id))
    assert harness.refuses(CancelExecution(harness.e("a").id)).suggestions == ("start",)


def test_a_run_with_only_failed_executions_left_is_paused() -> None:
    harness = failing(OnFailure.PAUSE_PIPELINE, ("a", "b"))
    harness.fail("a")
    harness.fail("b")
    assert harness.run.status is RunStatus.PAUSED
    harness.send(RetryExecution(harness.e("a").id, 1))
    assert (harness.run.status, harness.states) == (RunStatus.IN_PROGRESS, {"a": "WORKING", "b": "FAILED"})
    harness.finish("a")
    assert harness.run.status is RunStatus.PAUSED
    assert harness.event_detail(EventType.RUN_PAUSED)["reason"] == mentions()
    harness.send(RetryExecution(harness.e("b").id, 1))
    harness.finish("b")
    assert harness.run.status is RunStatus.COMPLETED
