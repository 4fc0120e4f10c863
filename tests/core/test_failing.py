"""Errors, retries, and what follows when they are used up."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cairn.core.commands import (
    ExecutionFailed,
    ExecutionInterrupted,
    InputRequested,
    ResultInvalid,
    RetryDue,
    StartExecution,
)
from cairn.core.effects import ArchiveFiles, CreateWorkspace, Dispatch, MoveToErrored, ScheduleTimer, StopExecution
from cairn.core.errors import StaleCommand
from cairn.core.events import EventType
from cairn.core.execution import Failure
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ExecutionMode, ExecutionState, OnFailure, OnInvalid, RollbackTrigger, RunStatus, WaitingOn
from tests.core.desk import BROKEN, RESULT, Desk, plan_of
from tests.mentions import mentions


def failing(on_failure: OnFailure, *stages: str | tuple[str, ...]) -> Desk:
    policies = dict.fromkeys(plan_of(*stages).by_key, CheckpointPolicy(on_failure=on_failure))
    return Desk(plan_of(*stages, policies=policies))


# ---- automatic retries ---------------------------------------------------------------------------
def test_a_failed_attempt_is_retried_after_the_delay_with_the_same_id_and_workspace() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=1, retry_delay=7.0)}))
    before = desk.e("a")
    desk.fail("a")
    assert desk.e("a") == before.changed(
        state=ExecutionState.WAITING,
        waiting_on=WaitingOn.RETRY_DELAY,
        due_at=desk.at + timedelta(seconds=7),
        attempt=2,
        retries_used=1,
        errors=1,
        last_error=BROKEN,
        working_since=None,
    )
    assert desk.last.effects == (ScheduleTimer(7.0, RetryDue(before.id, 1)),)
    assert desk.told == ["execution_retried", "execution_waiting"]
    desk.refuses(RetryDue(before.id, 0), StaleCommand)
    desk.due("a")
    assert (desk.e("a").state, desk.e("a").dispatch, desk.e("a").due_at) == (ExecutionState.WORKING, 2, None)
    assert desk.did(CreateWorkspace) == []


def test_a_permanent_error_is_not_retried() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=3)}))
    e = desk.e("a")
    desk.send(
        ExecutionFailed(e.id, e.dispatch, Failure("authentication", "The key is wrong.", is_final=True)), "worker"
    )
    assert (desk.e("a").state, desk.e("a").attempt, desk.e("a").retries_used) == (ExecutionState.FAILED, 1, 0)
    assert desk.e("a").last_error == Failure("authentication", "The key is wrong.")


def test_max_attempts_is_one_more_than_the_retries() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=2)}))
    for _ in range(2):
        desk.fail("a")
        desk.due("a")
    assert desk.e("a").attempt == 3
    desk.fail("a")
    assert (desk.e("a").state, desk.e("a").attempt, desk.e("a").errors) == (ExecutionState.FAILED, 3, 3)
    assert desk.e("a").failed_at == desk.at


def test_a_validation_retry_is_an_attempt_limited_only_by_its_own_limit() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=0, max_validation_retries=2)}))
    for attempt in (2, 3):
        e = desk.e("a")
        desk.send(ResultInvalid(e.id, e.dispatch, "x"), "worker")
        assert (desk.e("a").state, desk.e("a").attempt) == (ExecutionState.WORKING, attempt)
        assert desk.told == ["execution_revalidated", "execution_dispatched"]
    e = desk.e("a")
    desk.send(ResultInvalid(e.id, e.dispatch, "x", (RESULT,)), "worker")
    assert (desk.e("a").state, desk.e("a").attempt, desk.e("a").validations_used) == (ExecutionState.FAILED, 3, 2)


def test_a_validation_retry_is_a_new_attempt_with_its_own_timeout_and_interruptions() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, timeout=60.0)}))
    desk.answer("a", "answer")
    desk.send(ExecutionInterrupted(desk.e("a").id, 1), "worker")
    desk.send(ResultInvalid(desk.e("a").id, 2, "x"), "worker", after=30)
    e = desk.e("a")
    assert (e.waiting_on, e.interruptions, e.worked, e.answered) == (WaitingOn.HUMAN_FORM, 0, 0.0, False)


def test_on_validation_failure_fail_gives_up_at_once() -> None:
    policy = CheckpointPolicy(on_invalid=OnInvalid.FAIL_CHECKPOINT, max_auto_retries=3)
    desk = Desk(plan_of("a", policies={"a": policy}))
    desk.send(ResultInvalid(desk.e("a").id, 1, "x", error=Failure("schema", "no title")), "worker")
    assert desk.e("a").state is ExecutionState.FAILED
    assert desk.detail(EventType.EXECUTION_FAILED) == {
        "checkpoint": "a",
        "attempt_number": 1,
        "error_type": "schema",
        "error": "no title",
    }


def test_only_errors_are_retried_automatically() -> None:
    """Timeout, decline and validation go straight to `on_failure`, whatever is left of the retries."""
    policy = CheckpointPolicy(max_auto_retries=3, timeout=10.0, max_validation_retries=0)
    desk = Desk(plan_of(("a", "b", "c"), policies=dict.fromkeys("abc", policy)))
    desk.time_out("a")
    e = desk.e("b")
    desk.send(ResultInvalid(e.id, e.dispatch, "x"), "worker")
    e = desk.e("c")
    desk.send(InputRequested(e.id, e.dispatch, WaitingOn.SCRIPT_INPUT), "worker")
    desk.answer("c", "decline")
    assert desk.states == {"a": "FAILED", "b": "FAILED", "c": "FAILED"}


def test_a_revision_renews_the_budgets() -> None:
    policy = CheckpointPolicy(ask_completion=True, max_auto_retries=1, max_validation_retries=1)
    desk = Desk(plan_of("a", policies={"a": policy}, max_interruptions=1))
    desk.fail("a")
    desk.due("a")
    desk.send(ResultInvalid(desk.e("a").id, 2, "x"), "worker")
    desk.send(ExecutionInterrupted(desk.e("a").id, 3), "worker")
    desk.finish("a")
    e = desk.e("a")
    assert (e.retries_used, e.validations_used, e.interruptions, e.attempt) == (1, 1, 1, 3)
    desk.answer("a", "revise")
    e = desk.e("a")
    assert (e.retries_used, e.validations_used, e.interruptions, e.attempt, e.worked) == (0, 0, 0, 3, 0.0)


# ---- a worker that died ----------------------------------------------------------------------------
def test_the_dispatch_of_a_dead_worker_is_repeated_and_its_processes_are_stopped() -> None:
    desk = Desk(plan_of("a"))
    e = desk.e("a")
    desk.send(ExecutionInterrupted(e.id, 1), "worker")
    assert desk.last.effects == (StopExecution(e.id, 1), Dispatch(e.id, 2))
    assert (desk.e("a").attempt, desk.e("a").interruptions, desk.e("a").errors) == (1, 1, 0)
    assert desk.told == ["execution_interrupted", "execution_dispatched"]


def test_an_attempt_fails_after_its_fourth_interruption() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=1)}))
    for dispatch in (1, 2, 3):
        desk.send(ExecutionInterrupted(desk.e("a").id, dispatch), "worker")
        assert desk.states == {"a": "WORKING"}
    desk.send(ExecutionInterrupted(desk.e("a").id, 4), "worker")
    e = desk.e("a")
    assert (e.waiting_on, e.attempt, e.interruptions) == (WaitingOn.RETRY_DELAY, 2, 0)
    assert e.last_error == Failure("interrupted", mentions("4"))
    desk.due("a")
    for dispatch in (5, 6, 7):
        desk.send(ExecutionInterrupted(desk.e("a").id, dispatch), "worker")
    assert desk.states == {"a": "WORKING"}
    desk.send(ExecutionInterrupted(desk.e("a").id, 8), "worker")
    assert desk.states == {"a": "FAILED"}


# ---- on_failure ------------------------------------------------------------------------------------
def test_pause_pipeline_lets_running_executions_finish_and_then_pauses() -> None:
    desk = failing(OnFailure.PAUSE_PIPELINE, ("a", "b"), "c")
    desk.fail("a")
    assert (desk.run.status, desk.run.pause_requested) == (RunStatus.IN_PROGRESS, True)
    assert desk.states == {"a": "FAILED", "b": "WORKING"}
    assert desk.did(MoveToErrored) == [MoveToErrored(desk.e("a").id)]
    assert desk.did(StopExecution) == []
    desk.finish("b")
    assert (desk.run.status, desk.run.pause_requested) == (RunStatus.PAUSED, False)
    assert desk.states == {"a": "FAILED", "b": "COMPLETED"}


def test_fail_run_stops_and_cancels_what_is_open() -> None:
    desk = failing(OnFailure.FAIL_RUN, ("a", "b", "c"))
    desk.send(InputRequested(desk.e("c").id, 1, WaitingOn.QUESTION), "worker")
    question = desk.asked("c")
    desk.fail("a")
    assert desk.states == {"a": "FAILED", "b": "CANCELLED", "c": "CANCELLED"}
    assert (desk.run.status, desk.run.completed_at) == (RunStatus.FAILED, desk.at)
    a, b, c = (desk.e(key).id for key in "abc")
    assert desk.last.effects == (StopExecution(b, 1), MoveToErrored(a), MoveToErrored(b), MoveToErrored(c))
    assert desk.run.approvals[question.id].status.value == "withdrawn"
    assert desk.detail(EventType.RUN_FAILED) == {"from": "in_progress", "to": "failed", "reason": mentions("a")}


def test_rollback_checkpoint_archives_only_the_failed_execution_and_waits_for_a_manual_start() -> None:
    desk = failing(OnFailure.ROLLBACK_CHECKPOINT, "a", ("b", "c"))
    desk.finish("a")
    failed = desk.e("b")
    desk.fail("b")
    assert (desk.run.status, desk.run.pause_requested) == (RunStatus.IN_PROGRESS, False)
    assert desk.states == {"a": "COMPLETED", "c": "WORKING", "b": "PENDING"}
    (rollback,) = desk.run.rollbacks
    assert desk.run.executions[failed.id].archived_by == rollback.id
    assert (rollback.target, rollback.archived, rollback.triggered_by) == (
        0,
        (failed.id,),
        RollbackTrigger.CHECKPOINT_FAILURE,
    )
    assert desk.e("b").by_hand
    assert desk.last.effects == (
        MoveToErrored(failed.id),
        ArchiveFiles(rollback.id),
        CreateWorkspace(desk.e("b").id),
    )
    desk.finish("c")
    assert desk.states["b"] == "PENDING"
    desk.send(StartExecution(desk.e("b").id))
    assert desk.states["b"] == "WORKING"


def test_rollback_checkpoint_of_the_first_checkpoint_goes_to_the_beginning() -> None:
    desk = failing(OnFailure.ROLLBACK_CHECKPOINT, "a")
    desk.fail("a")
    assert desk.run.rollbacks[0].target == -1
    assert desk.states == {"a": "PENDING"}


@pytest.mark.parametrize("on_timeout", list(OnFailure))
def test_on_timeout_has_its_own_policy_and_stops_the_work(on_timeout: OnFailure) -> None:
    policy = CheckpointPolicy(on_failure=OnFailure.FAIL_RUN, timeout=10.0, on_timeout=on_timeout)
    desk = Desk(plan_of(("a", "b"), policies=dict.fromkeys("ab", policy)))
    e = desk.e("a")
    desk.time_out("a")
    error = desk.run.executions[e.id].last_error
    assert error == Failure("timeout", mentions("10"))
    assert desk.last.effects[0] == StopExecution(e.id, 1)
    assert {
        OnFailure.PAUSE_PIPELINE: (RunStatus.IN_PROGRESS, True, {"a": "FAILED", "b": "WORKING"}),
        OnFailure.ROLLBACK_CHECKPOINT: (RunStatus.IN_PROGRESS, False, {"a": "PENDING", "b": "WORKING"}),
        OnFailure.FAIL_RUN: (RunStatus.FAILED, False, {"a": "FAILED", "b": "CANCELLED"}),
    }[on_timeout] == (desk.run.status, desk.run.pause_requested, desk.states)
