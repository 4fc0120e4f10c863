"""Checkpoint and run timeouts count only active time. Retry delays."""

from __future__ import annotations

from datetime import timedelta

from cairn.core.commands import (
    ExecutionBlocked,
    ExecutionFailed,
    ExecutionInterrupted,
    ExecutionTimedOut,
    InputRequested,
    PauseRun,
    ResumeRun,
    RetryDue,
    RetryExecution,
    RollBack,
    RunTimedOut,
)
from cairn.core.effects import ScheduleTimer, StopExecution
from cairn.core.errors import StaleCommand
from cairn.core.events import EventType
from cairn.core.execution import Failure
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ExecutionState, OnBlocker, OnFailure, RunStatus, WaitingOn
from tests.core.harness import BEGIN, Harness, plan_of
from tests.mentions import mentions


def timed() -> CheckpointPolicy:
    return CheckpointPolicy(timeout=60.0, on_timeout=OnFailure.FAIL_RUN)


def test_a_timeout_covers_all_dispatches_of_an_attempt() -> None:
    harness = Harness(plan_of("a", policies={"a": timed()}))
    e = harness.e("a")
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(60.0, ExecutionTimedOut(e.id, 1))]
    harness.send(InputRequested(e.id, 1, WaitingOn.QUESTION), "worker", after=25)
    harness.answer("a", "answer", after=1000)
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(35.0, ExecutionTimedOut(e.id, 2))]
    harness.send(InputRequested(e.id, 2, WaitingOn.QUESTION), "worker", after=40)
    harness.answer("a", "answer", after=1000)
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(0.0, ExecutionTimedOut(e.id, 3))]


def test_the_time_after_a_worker_died_does_not_count_as_work() -> None:
    """The time of death is unknown, so downtime does not count toward the timeout."""
    harness = Harness(plan_of("a", policies={"a": timed()}, run_timeout=100.0))
    e = harness.e("a")
    assert harness.effects(ScheduleTimer) == [
        ScheduleTimer(60.0, ExecutionTimedOut(e.id, 1)),
        ScheduleTimer(100.0, RunTimedOut(1)),
    ]
    harness.send(ExecutionInterrupted(e.id, 1), "worker", after=3600)
    assert harness.effects(ScheduleTimer) == [
        ScheduleTimer(60.0, ExecutionTimedOut(e.id, 2)),
        ScheduleTimer(100.0, RunTimedOut(2)),
    ]


def test_a_new_attempt_has_its_full_timeout() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(timeout=60.0, max_auto_retries=1)}))
    harness.send(ExecutionFailed(harness.e("a").id, 1, Failure("x", "y")), "worker", after=50)
    harness.retry_due("a")
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(60.0, ExecutionTimedOut(harness.e("a").id, 2))]


def test_a_late_timeout_is_stale() -> None:
    harness = Harness(plan_of("a", policies={"a": timed()}))
    e = harness.e("a")
    harness.send(InputRequested(e.id, 1, WaitingOn.QUESTION), "worker")
    harness.refuses(ExecutionTimedOut(e.id, 1), StaleCommand)
    harness.answer("a", "answer")
    harness.refuses(ExecutionTimedOut(e.id, 1), StaleCommand)
    harness.time_out("a")
    assert harness.states == {"a": "FAILED"}


def test_without_a_timeout_no_timer_is_set() -> None:
    assert Harness(plan_of("a")).effects(ScheduleTimer) == []


def test_the_run_timeout_counts_while_any_runner_works() -> None:
    harness = Harness(plan_of(("a", "b"), run_timeout=100.0))
    start = harness.at
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(100.0, RunTimedOut(1))]
    assert (harness.run.timer_generation, harness.run.active_since) == (1, start)
    harness.send(InputRequested(harness.e("a").id, 1, WaitingOn.QUESTION), "worker", after=10)
    assert (harness.run.timer_generation, harness.run.active_since) == (1, start)  # b continues
    harness.send(InputRequested(harness.e("b").id, 1, WaitingOn.QUESTION), "worker", after=20)
    assert (harness.run.timer_generation, harness.run.active_since, harness.run.active_seconds) == (1, None, 30.0)
    harness.refuses(RunTimedOut(1), StaleCommand)
    harness.answer("a", "answer", after=500)
    assert (harness.run.timer_generation, harness.run.active_since, harness.run.active_seconds) == (2, harness.at, 30.0)
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(70.0, RunTimedOut(2))]
    harness.refuses(RunTimedOut(1), StaleCommand)


def test_a_run_without_time_left_fails_at_its_next_dispatch() -> None:
    harness = Harness(plan_of("a", "b", run_timeout=10.0))
    harness.send(PauseRun())
    harness.finish("a", after=30)
    harness.send(ResumeRun())
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(0.0, RunTimedOut(2))]


def test_advancing_to_the_next_checkpoint_sets_no_new_timer() -> None:
    harness = Harness(plan_of("a", "b", run_timeout=100.0))
    harness.finish("a")
    assert (harness.run.timer_generation, harness.effects(ScheduleTimer)) == (1, [])


def test_a_run_timeout_fails_working_executions_and_cancels_the_others() -> None:
    harness = Harness(plan_of(("a", "b"), run_timeout=100.0))
    harness.send(InputRequested(harness.e("b").id, 1, WaitingOn.QUESTION), "worker")
    harness.send(RunTimedOut(1), "timer")
    assert (harness.run.status, harness.states) == (RunStatus.FAILED, {"a": "FAILED", "b": "CANCELLED"})
    reason = mentions("100")
    assert harness.e("a").last_error == Failure("run_timeout", reason)
    assert harness.last.effects[0] == StopExecution(harness.e("a").id, 1)
    assert harness.run.active_since is None


def test_a_reopened_run_has_its_full_timeout() -> None:
    harness = Harness(plan_of("a", "b", run_timeout=100.0))
    harness.finish("a", after=60)
    harness.send(RunTimedOut(1), "timer", after=40)
    harness.send(RetryExecution(harness.e("b").id, 1))
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(100.0, RunTimedOut(2))]
    harness.finish("b", after=60)
    assert harness.run.active_seconds == 60.0
    harness.send(RollBack("r", 0))
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(100.0, RunTimedOut(3))]


def test_resuming_does_not_give_the_run_new_time() -> None:
    harness = Harness(plan_of("a", "b", run_timeout=100.0))
    harness.send(PauseRun())
    harness.finish("a", after=60)
    harness.send(ResumeRun())
    assert harness.effects(ScheduleTimer) == [ScheduleTimer(39.0, RunTimedOut(2))]


def test_a_clock_that_moves_backwards_does_not_reduce_active_time() -> None:
    harness = Harness(plan_of("a"))
    harness.finish("a", after=-30)
    assert (harness.e("a").active_seconds, harness.run.active_seconds) == (0.0, 0.0)
    assert harness.at < BEGIN


def test_an_external_blocker_is_retried_after_the_retry_delay() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(retry_delay=30.0)}, on_blocker=OnBlocker.WAIT))
    e = harness.e("a")
    harness.send(ExecutionBlocked(e.id, 1, "no licence"), "worker")
    assert (harness.e("a").waiting_on, harness.e("a").attempt) == (WaitingOn.EXTERNAL_BLOCKER, 1)
    assert harness.e("a").due_at == harness.at + timedelta(seconds=30)
    assert harness.last.effects == (ScheduleTimer(30.0, RetryDue(e.id, 1)),)
    assert harness.event_detail(EventType.EXECUTION_WAITING)["reason"] == "no licence"
    harness.send(RetryDue(e.id, 1), "ann")  # a user can retry at once
    assert (harness.e("a").state, harness.e("a").dispatch) == (ExecutionState.WORKING, 2)
    harness.refuses(RetryDue(e.id, 1), StaleCommand)


def test_an_external_blocker_escalates_if_the_pipeline_requires_it() -> None:
    harness = Harness(plan_of("a", on_blocker=OnBlocker.ESCALATE))
    harness.send(ExecutionBlocked(harness.e("a").id, 1), "worker")
    assert harness.e("a").waiting_on is WaitingOn.ESCALATION
    assert harness.pending_approval("a").reason == mentions()
    harness.answer("a", "retry")
    assert (harness.states, harness.e("a").attempt) == ({"a": "WORKING"}, 2)
