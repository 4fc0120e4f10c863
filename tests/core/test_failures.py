"""Errors, retries, and `on_failure` when the retries are used up."""

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
from tests.core.harness import BROKEN, RESULT, Harness, plan_of
from tests.mentions import mentions


def failing(on_failure: OnFailure, *stages: str | tuple[str, ...]) -> Harness:
    policies = dict.fromkeys(plan_of(*stages).by_key, CheckpointPolicy(on_failure=on_failure))
    return Harness(plan_of(*stages, policies=policies))


# ---- automatic retries ---------------------------------------------------------------------------
def test_a_failed_attempt_is_retried_after_the_delay_with_the_same_id_and_workspace() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=1, retry_delay=7.0)}))
    before = harness.e("a")
    harness.fail("a")
    assert harness.e("a") == before.replace(
        state=ExecutionState.WAITING,
        waiting_on=WaitingOn.RETRY_DELAY,
        due_at=harness.at + timedelta(seconds=7),
        attempt=2,
        retries_used=1,
        errors=1,
        last_error=BROKEN,
        active_since=None,
    )
    assert harness.last.effects == (ScheduleTimer(7.0, RetryDue(before.id, 1)),)
    assert harness.event_types == ["execution_retried", "execution_waiting"]
    harness.refuses(RetryDue(before.id, 0), StaleCommand)
    harness.retry_due("a")
    assert (harness.e("a").state, harness.e("a").dispatch, harness.e("a").due_at) == (ExecutionState.WORKING, 2, None)
    assert harness.effects(CreateWorkspace) == []


def test_a_permanent_error_is_not_retried() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=3)}))
    e = harness.e("a")
    harness.send(
        ExecutionFailed(e.id, e.dispatch, Failure("authentication", "The key is wrong.", is_final=True)), "worker"
    )
    assert (harness.e("a").state, harness.e("a").attempt, harness.e("a").retries_used) == (ExecutionState.FAILED, 1, 0)
    assert harness.e("a").last_error == Failure("authentication", "The key is wrong.")


def test_max_attempts_is_one_more_than_the_retries() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=2)}))
    for _ in range(2):
        harness.fail("a")
        harness.retry_due("a")
    assert harness.e("a").attempt == 3
    harness.fail("a")
    assert (harness.e("a").state, harness.e("a").attempt, harness.e("a").errors) == (ExecutionState.FAILED, 3, 3)
    assert harness.e("a").failed_at == harness.at


def test_a_validation_retry_is_an_attempt_limited_only_by_its_own_limit() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=0, max_validation_retries=2)}))
    for attempt in (2, 3):
        e = harness.e("a")
        harness.send(ResultInvalid(e.id, e.dispatch, "x"), "worker")
        assert (harness.e("a").state, harness.e("a").attempt) == (ExecutionState.WORKING, attempt)
        assert harness.event_types == ["execution_validation_retried", "execution_dispatched"]
    e = harness.e("a")
    harness.send(ResultInvalid(e.id, e.dispatch, "x", (RESULT,)), "worker")
    assert (harness.e("a").state, harness.e("a").attempt, harness.e("a").validations_used) == (
        ExecutionState.FAILED,
        3,
        2,
    )


def test_a_validation_retry_is_a_new_attempt_with_its_own_timeout_and_interruptions() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, timeout=60.0)}))
    harness.answer("a", "answer")
    harness.send(ExecutionInterrupted(harness.e("a").id, 1), "worker")
    harness.send(ResultInvalid(harness.e("a").id, 2, "x"), "worker", after=30)
    e = harness.e("a")
    assert (e.waiting_on, e.interruptions, e.active_seconds, e.answered) == (WaitingOn.HUMAN_FORM, 0, 0.0, False)


def test_on_validation_failure_fail_fails_at_once() -> None:
    policy = CheckpointPolicy(on_invalid=OnInvalid.FAIL_CHECKPOINT, max_auto_retries=3)
    harness = Harness(plan_of("a", policies={"a": policy}))
    harness.send(ResultInvalid(harness.e("a").id, 1, "x", error=Failure("schema", "no title")), "worker")
    assert harness.e("a").state is ExecutionState.FAILED
    assert harness.event_detail(EventType.EXECUTION_FAILED) == {
        "checkpoint": "a",
        "attempt_number": 1,
        "error_type": "schema",
        "error": "no title",
    }


def test_only_errors_are_retried_automatically() -> None:
    """Timeout, decline and validation follow `on_failure` at once, even with retries left."""
    policy = CheckpointPolicy(max_auto_retries=3, timeout=10.0, max_validation_retries=0)
    harness = Harness(plan_of(("a", "b", "c"), policies=dict.fromkeys("abc", policy)))
    harness.time_out("a")
    e = harness.e("b")
    harness.send(ResultInvalid(e.id, e.dispatch, "x"), "worker")
    e = harness.e("c")
    harness.send(InputRequested(e.id, e.dispatch, WaitingOn.SCRIPT_INPUT), "worker")
    harness.answer("c", "decline")
    assert harness.states == {"a": "FAILED", "b": "FAILED", "c": "FAILED"}


def test_a_revision_renews_the_retry_limits() -> None:
    policy = CheckpointPolicy(requires_completion_approval=True, max_auto_retries=1, max_validation_retries=1)
    harness = Harness(plan_of("a", policies={"a": policy}, max_interruptions=1))
    harness.fail("a")
    harness.retry_due("a")
    harness.send(ResultInvalid(harness.e("a").id, 2, "x"), "worker")
    harness.send(ExecutionInterrupted(harness.e("a").id, 3), "worker")
    harness.finish("a")
    e = harness.e("a")
    assert (e.retries_used, e.validations_used, e.interruptions, e.attempt) == (1, 1, 1, 3)
    harness.answer("a", "revise")
    e = harness.e("a")
    assert (e.retries_used, e.validations_used, e.interruptions, e.attempt, e.active_seconds) == (0, 0, 0, 3, 0.0)


# ---- dead workers ----------------------------------------------------------------------------------
def test_the_dispatch_of_a_dead_worker_is_repeated_and_its_processes_are_stopped() -> None:
    harness = Harness(plan_of("a"))
    e = harness.e("a")
    harness.send(ExecutionInterrupted(e.id, 1), "worker")
    assert harness.last.effects == (StopExecution(e.id, 1), Dispatch(e.id, 2))
    assert (harness.e("a").attempt, harness.e("a").interruptions, harness.e("a").errors) == (1, 1, 0)
    assert harness.event_types == ["execution_interrupted", "execution_dispatched"]


def test_an_attempt_fails_after_its_fourth_interruption() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=1)}))
    for dispatch in (1, 2, 3):
        harness.send(ExecutionInterrupted(harness.e("a").id, dispatch), "worker")
        assert harness.states == {"a": "WORKING"}
    harness.send(ExecutionInterrupted(harness.e("a").id, 4), "worker")
    e = harness.e("a")
    assert (e.waiting_on, e.attempt, e.interruptions) == (WaitingOn.RETRY_DELAY, 2, 0)
    assert e.last_error == Failure("interrupted", mentions("4"))
    harness.retry_due("a")
    for dispatch in (5, 6, 7):
        harness.send(ExecutionInterrupted(harness.e("a").id, dispatch), "worker")
    assert harness.states == {"a": "WORKING"}
    harness.send(ExecutionInterrupted(harness.e("a").id, 8), "worker")
    assert harness.states == {"a": "FAILED"}


# ---- on_failure ------------------------------------------------------------------------------------
def test_pause_pipeline_lets_running_executions_finish_and_then_pauses() -> None:
    harness = failing(OnFailure.PAUSE_PIPELINE, ("a", "b"), "c")
    harness.fail("a")
    assert (harness.run.status, harness.run.pause_requested) == (RunStatus.IN_PROGRESS, True)
    assert harness.states == {"a": "FAILED", "b": "WORKING"}
    assert harness.effects(MoveToErrored) == [MoveToErrored(harness.e("a").id)]
    assert harness.effects(StopExecution) == []
    harness.finish("b")
    assert (harness.run.status, harness.run.pause_requested) == (RunStatus.PAUSED, False)
    assert harness.states == {"a": "FAILED", "b": "COMPLETED"}


def test_fail_run_stops_and_cancels_open_executions() -> None:
    harness = failing(OnFailure.FAIL_RUN, ("a", "b", "c"))
    harness.send(InputRequested(harness.e("c").id, 1, WaitingOn.QUESTION), "worker")
    question = harness.pending_approval("c")
    harness.fail("a")
    assert harness.states == {"a": "FAILED", "b": "CANCELLED", "c": "CANCELLED"}
    assert (harness.run.status, harness.run.completed_at) == (RunStatus.FAILED, harness.at)
    a, b, c = (harness.e(key).id for key in "abc")
    assert harness.last.effects == (StopExecution(b, 1), MoveToErrored(a), MoveToErrored(b), MoveToErrored(c))
    assert harness.run.approvals[question.id].status.value == "withdrawn"
    assert harness.event_detail(EventType.RUN_FAILED) == {
        "from": "in_progress",
        "to": "failed",
        "reason": mentions("a"),
    }


def test_rollback_checkpoint_archives_only_the_failed_execution_and_waits_for_a_manual_start() -> None:
    harness = failing(OnFailure.ROLLBACK_CHECKPOINT, "a", ("b", "c"))
    harness.finish("a")
    failed = harness.e("b")
    harness.fail("b")
    assert (harness.run.status, harness.run.pause_requested) == (RunStatus.IN_PROGRESS, False)
    assert harness.states == {"a": "COMPLETED", "c": "WORKING", "b": "PENDING"}
    (rollback,) = harness.run.rollbacks
    assert harness.run.executions[failed.id].archived_by == rollback.id
    assert (rollback.target, rollback.archived, rollback.triggered_by) == (
        0,
        (failed.id,),
        RollbackTrigger.CHECKPOINT_FAILURE,
    )
    assert harness.e("b").manual_start
    assert harness.last.effects == (
        MoveToErrored(failed.id),
        ArchiveFiles(rollback.id),
        CreateWorkspace(harness.e("b").id),
    )
    harness.finish("c")
    assert harness.states["b"] == "PENDING"
    harness.send(StartExecution(harness.e("b").id))
    assert harness.states["b"] == "WORKING"


def test_rollback_checkpoint_of_the_first_checkpoint_rolls_back_to_the_start() -> None:
    harness = failing(OnFailure.ROLLBACK_CHECKPOINT, "a")
    harness.fail("a")
    assert harness.run.rollbacks[0].target == -1
    assert harness.states == {"a": "PENDING"}


@pytest.mark.parametrize("on_timeout", list(OnFailure))
def test_on_timeout_has_its_own_policy_and_stops_the_work(on_timeout: OnFailure) -> None:
    policy = CheckpointPolicy(on_failure=OnFailure.FAIL_RUN, timeout=10.0, on_timeout=on_timeout)
    harness = Harness(plan_of(("a", "b"), policies=dict.fromkeys("ab", policy)))
    e = harness.e("a")
    harness.time_out("a")
    error = harness.run.executions[e.id].last_error
    assert error == Failure("timeout", mentions("10"))
    assert harness.last.effects[0] == StopExecution(e.id, 1)
    assert {
        OnFailure.PAUSE_PIPELINE: (RunStatus.IN_PROGRESS, True, {"a": "FAILED", "b": "WORKING"}),
        OnFailure.ROLLBACK_CHECKPOINT: (RunStatus.IN_PROGRESS, False, {"a": "PENDING", "b": "WORKING"}),
        OnFailure.FAIL_RUN: (RunStatus.FAILED, False, {"a": "FAILED", "b": "CANCELLED"}),
    }[on_timeout] == (harness.run.status, harness.run.pause_requested, harness.states)
