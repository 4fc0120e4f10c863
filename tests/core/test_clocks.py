"""Timeouts of checkpoints and runs count only time with a runner at work; retry delays."""

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
from tests.core.desk import BEGIN, Desk, plan_of
from tests.mentions import mentions


def timed() -> CheckpointPolicy:
    return CheckpointPolicy(timeout=60.0, on_timeout=OnFailure.FAIL_RUN)


def test_a_timeout_covers_all_dispatches_of_an_attempt() -> None:
    desk = Desk(plan_of("a", policies={"a": timed()}))
    e = desk.e("a")
    assert desk.did(ScheduleTimer) == [ScheduleTimer(60.0, ExecutionTimedOut(e.id, 1))]
    desk.send(InputRequested(e.id, 1, WaitingOn.QUESTION), "worker", after=25)
    desk.answer("a", "answer", after=1000)
    assert desk.did(ScheduleTimer) == [ScheduleTimer(35.0, ExecutionTimedOut(e.id, 2))]
    desk.send(InputRequested(e.id, 2, WaitingOn.QUESTION), "worker", after=40)
    desk.answer("a", "answer", after=1000)
    assert desk.did(ScheduleTimer) == [ScheduleTimer(0.0, ExecutionTimedOut(e.id, 3))]


def test_the_time_after_a_worker_died_does_not_count_as_work() -> None:
    """Nobody knows when it died: an hour without a server does not use up the time of what it was at."""
    desk = Desk(plan_of("a", policies={"a": timed()}, run_timeout=100.0))
    e = desk.e("a")
    assert desk.did(ScheduleTimer) == [
        ScheduleTimer(60.0, ExecutionTimedOut(e.id, 1)),
        ScheduleTimer(100.0, RunTimedOut(1)),
    ]
    desk.send(ExecutionInterrupted(e.id, 1), "worker", after=3600)
    assert desk.did(ScheduleTimer) == [
        ScheduleTimer(60.0, ExecutionTimedOut(e.id, 2)),
        ScheduleTimer(100.0, RunTimedOut(2)),
    ]


def test_a_new_attempt_has_its_full_timeout() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(timeout=60.0, max_auto_retries=1)}))
    desk.send(ExecutionFailed(desk.e("a").id, 1, Failure("x", "y")), "worker", after=50)
    desk.due("a")
    assert desk.did(ScheduleTimer) == [ScheduleTimer(60.0, ExecutionTimedOut(desk.e("a").id, 2))]


def test_a_late_timeout_is_stale() -> None:
    desk = Desk(plan_of("a", policies={"a": timed()}))
    e = desk.e("a")
    desk.send(InputRequested(e.id, 1, WaitingOn.QUESTION), "worker")
    desk.refuses(ExecutionTimedOut(e.id, 1), StaleCommand)
    desk.answer("a", "answer")
    desk.refuses(ExecutionTimedOut(e.id, 1), StaleCommand)
    desk.time_out("a")
    assert desk.states == {"a": "FAILED"}


def test_without_a_timeout_no_timer_is_set() -> None:
    assert Desk(plan_of("a")).did(ScheduleTimer) == []


def test_the_clock_of_a_run_counts_while_any_runner_works() -> None:
    desk = Desk(plan_of(("a", "b"), run_timeout=100.0))
    start = desk.at
    assert desk.did(ScheduleTimer) == [ScheduleTimer(100.0, RunTimedOut(1))]
    assert (desk.run.clock, desk.run.working_since) == (1, start)
    desk.send(InputRequested(desk.e("a").id, 1, WaitingOn.QUESTION), "worker", after=10)
    assert (desk.run.clock, desk.run.working_since) == (1, start)  # b goes on
    desk.send(InputRequested(desk.e("b").id, 1, WaitingOn.QUESTION), "worker", after=20)
    assert (desk.run.clock, desk.run.working_since, desk.run.worked) == (1, None, 30.0)
    desk.refuses(RunTimedOut(1), StaleCommand)
    desk.answer("a", "answer", after=500)
    assert (desk.run.clock, desk.run.working_since, desk.run.worked) == (2, desk.at, 30.0)
    assert desk.did(ScheduleTimer) == [ScheduleTimer(70.0, RunTimedOut(2))]
    desk.refuses(RunTimedOut(1), StaleCommand)


def test_a_run_without_time_left_fails_as_soon_as_it_works() -> None:
    desk = Desk(plan_of("a", "b", run_timeout=10.0))
    desk.send(PauseRun())
    desk.finish("a", after=30)
    desk.send(ResumeRun())
    assert desk.did(ScheduleTimer) == [ScheduleTimer(0.0, RunTimedOut(2))]


def test_going_from_one_checkpoint_to_the_next_sets_no_new_timer() -> None:
    desk = Desk(plan_of("a", "b", run_timeout=100.0))
    desk.finish("a")
    assert (desk.run.clock, desk.did(ScheduleTimer)) == (1, [])


def test_a_run_timeout_fails_working_executions_and_cancels_the_others() -> None:
    desk = Desk(plan_of(("a", "b"), run_timeout=100.0))
    desk.send(InputRequested(desk.e("b").id, 1, WaitingOn.QUESTION), "worker")
    desk.send(RunTimedOut(1), "timer")
    assert (desk.run.status, desk.states) == (RunStatus.FAILED, {"a": "FAILED", "b": "CANCELLED"})
    why = mentions("100")
    assert desk.e("a").last_error == Failure("run_timeout", why)
    assert desk.last.effects[0] == StopExecution(desk.e("a").id, 1)
    assert desk.run.working_since is None


def test_a_run_that_is_taken_up_again_has_its_whole_time() -> None:
    desk = Desk(plan_of("a", "b", run_timeout=100.0))
    desk.finish("a", after=60)
    desk.send(RunTimedOut(1), "timer", after=40)
    desk.send(RetryExecution(desk.e("b").id, 1))
    assert desk.did(ScheduleTimer) == [ScheduleTimer(100.0, RunTimedOut(2))]
    desk.finish("b", after=60)
    assert desk.run.worked == 60.0
    desk.send(RollBack("r", 0))
    assert desk.did(ScheduleTimer) == [ScheduleTimer(100.0, RunTimedOut(3))]


def test_resuming_does_not_give_the_run_new_time() -> None:
    desk = Desk(plan_of("a", "b", run_timeout=100.0))
    desk.send(PauseRun())
    desk.finish("a", after=60)
    desk.send(ResumeRun())
    assert desk.did(ScheduleTimer) == [ScheduleTimer(39.0, RunTimedOut(2))]


def test_a_clock_that_goes_back_takes_nothing_away() -> None:
    desk = Desk(plan_of("a"))
    desk.finish("a", after=-30)
    assert (desk.e("a").worked, desk.run.worked) == (0.0, 0.0)
    assert desk.at < BEGIN


def test_an_external_blocker_is_retried_after_the_retry_delay() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(retry_delay=30.0)}, on_blocker=OnBlocker.WAIT))
    e = desk.e("a")
    desk.send(ExecutionBlocked(e.id, 1, "no licence"), "worker")
    assert (desk.e("a").waiting_on, desk.e("a").attempt) == (WaitingOn.EXTERNAL_BLOCKER, 1)
    assert desk.e("a").due_at == desk.at + timedelta(seconds=30)
    assert desk.last.effects == (ScheduleTimer(30.0, RetryDue(e.id, 1)),)
    assert desk.detail(EventType.EXECUTION_WAITING)["reason"] == "no licence"
    desk.send(RetryDue(e.id, 1), "ann")  # a person may do so at once
    assert (desk.e("a").state, desk.e("a").dispatch) == (ExecutionState.WORKING, 2)
    desk.refuses(RetryDue(e.id, 1), StaleCommand)


def test_an_external_blocker_escalates_if_the_pipeline_says_so() -> None:
    desk = Desk(plan_of("a", on_blocker=OnBlocker.ESCALATE))
    desk.send(ExecutionBlocked(desk.e("a").id, 1), "worker")
    assert desk.e("a").waiting_on is WaitingOn.ESCALATION
    assert desk.asked("a").reason == mentions()
    desk.answer("a", "retry")
    assert (desk.states, desk.e("a").attempt) == ({"a": "WORKING"}, 2)
