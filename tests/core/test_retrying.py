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
from tests.core.desk import RESULT, Desk, asking, plan_of
from tests.mentions import mentions


def failing(on_failure: OnFailure, *stages: str | tuple[str, ...], max_auto_retries: int = 0) -> Desk:
    policy = CheckpointPolicy(on_failure=on_failure, max_auto_retries=max_auto_retries)
    plan = plan_of(*stages)
    return Desk(plan_of(*stages, policies=dict.fromkeys(plan.by_key, policy)))


def test_a_manual_retry_keeps_the_id_and_resets_everything_else() -> None:
    desk = failing(OnFailure.FAIL_RUN, "a", max_auto_retries=1)
    desk.fail("a")
    desk.due("a")
    desk.fail("a")
    failed = desk.e("a")
    assert not failed.has_workspace
    desk.send(RetryExecution(failed.id, 2))
    assert desk.run.status is RunStatus.IN_PROGRESS
    assert desk.e("a") == failed.changed(
        state=ExecutionState.WORKING,
        attempt=3,
        retries_used=0,
        dispatch=3,
        has_workspace=True,
        failed_at=None,
        working_since=desk.at,
        worked=0.0,
    )
    assert desk.last.effects == (CreateWorkspace(failed.id), Dispatch(failed.id, 3))
    assert desk.detail(EventType.RUN_REOPENED) == {"from": "failed", "to": "in_progress", "by": "retry"}


def test_a_retry_forgets_what_the_failed_attempt_did() -> None:
    policy = CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, ask_completion=True, max_validation_retries=1)
    desk = Desk(plan_of("a", decides=("a",), policies={"a": policy}))
    desk.answer("a", "answer", answer="entered")
    desk.send(ExecutionInterrupted(desk.e("a").id, 1), "worker")
    desk.finish("a", ruling=PassDecision.RESTART, after=30)
    desk.answer("a", "revise")
    desk.answer("a", "answer", answer="entered again")
    desk.finish("a", ruling=PassDecision.RESTART)
    desk.answer("a", "reject")
    failed = desk.e("a")
    assert (failed.revision, failed.digest, failed.outputs, failed.ruling) == (
        1,
        "d",
        (RESULT.id,),
        PassDecision.RESTART,
    )
    desk.send(RetryExecution(failed.id, 1))
    assert desk.e("a") == failed.changed(
        state=ExecutionState.WAITING,
        waiting_on=WaitingOn.HUMAN_FORM,
        attempt=2,
        revision=0,
        answered=False,
        digest=None,
        outputs=(),
        ruling=None,
        worked=0.0,
        has_workspace=True,
        failed_at=None,
    )


def test_a_retry_drops_the_requested_rework() -> None:
    desk = Desk(plan_of("a", "b", max_reworks=0))
    desk.finish("a")
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    desk.answer("b", "fail")
    desk.send(RetryExecution(desk.e("b").id, 1))
    assert (desk.states["b"], desk.e("b").wants) == ("WORKING", None)


def test_a_repeated_retry_of_the_same_attempt_counts_once() -> None:
    desk = failing(OnFailure.PAUSE_PIPELINE, "a")
    desk.fail("a")
    command = RetryExecution(desk.e("a").id, 1)
    desk.send(command)
    desk.refuses(command, AlreadyApplied)
    desk.refuses(RetryExecution(desk.e("a").id, 2))
    desk.fail("a")
    desk.refuses(RetryExecution(desk.e("a").id, 3), StaleCommand)


def test_resume_with_a_failed_execution_is_refused_with_alternatives() -> None:
    desk = failing(OnFailure.PAUSE_PIPELINE, "a")
    desk.fail("a")
    assert desk.run.status is RunStatus.PAUSED
    refused = desk.refuses(ResumeRun())
    assert refused.message == mentions("a")
    assert refused.possible == (mentions("retry"), mentions("cancel"), mentions(), "cancel")


def test_a_retry_of_an_unapproved_start_asks_again() -> None:
    desk = Desk(plan_of("a"), judge=asking(ApprovalKind.START, period=60.0, on_expiry=OnExpiry.FAIL))
    desk.send(ApprovalExpired(desk.asked("a").id, 1), "timer")
    assert (desk.states, desk.run.status) == ({"a": "FAILED"}, RunStatus.FAILED)
    desk.send(RetryExecution(desk.e("a").id, 1))
    assert desk.states == {"a": "START_ASKED"}
    assert desk.asked("a").attempt == 2


def test_a_retry_of_an_approved_start_does_not_ask_again() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_start=True)}))
    desk.answer("a", "approve")
    desk.fail("a")
    desk.send(RetryExecution(desk.e("a").id, 1))
    assert desk.states == {"a": "WORKING"}


def test_the_checkpoint_of_a_dismissed_failure_waits_for_a_manual_start() -> None:
    desk = failing(OnFailure.FAIL_RUN, ("a", "b"))
    desk.fail("a")
    desk.send(CancelExecution(desk.e("a").id))
    assert desk.run.status is RunStatus.IN_PROGRESS
    assert desk.all("a") == [ExecutionState.CANCELLED, ExecutionState.PENDING]
    assert desk.all("b") == [ExecutionState.CANCELLED, ExecutionState.WORKING]  # a cancelled one does not count


def test_cancelling_one_execution_stops_it_and_leaves_its_checkpoint_pending() -> None:
    desk = Desk(plan_of("a"))
    e = desk.e("a")
    desk.send(CancelExecution(e.id))
    assert desk.all("a") == [ExecutionState.CANCELLED, ExecutionState.PENDING]
    assert desk.e("a").by_hand
    assert desk.last.effects == (StopExecution(e.id, 1), MoveToErrored(e.id), CreateWorkspace(desk.e("a").id))
    desk.refuses(CancelExecution(e.id))
    assert desk.refuses(CancelExecution(desk.e("a").id)).possible == ("start",)


def test_a_run_with_only_failed_executions_left_is_paused() -> None:
    desk = failing(OnFailure.PAUSE_PIPELINE, ("a", "b"))
    desk.fail("a")
    desk.fail("b")
    assert desk.run.status is RunStatus.PAUSED
    desk.send(RetryExecution(desk.e("a").id, 1))
    assert (desk.run.status, desk.states) == (RunStatus.IN_PROGRESS, {"a": "WORKING", "b": "FAILED"})
    desk.finish("a")
    assert desk.run.status is RunStatus.PAUSED
    assert desk.detail(EventType.RUN_PAUSED)["reason"] == mentions()
    desk.send(RetryExecution(desk.e("b").id, 1))
    desk.finish("b")
    assert desk.run.status is RunStatus.COMPLETED
