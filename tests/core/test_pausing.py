"""Pause, resume and cancel."""

from __future__ import annotations

import pytest

from cairn.core.commands import (
    ApprovalExpired,
    CancelExecution,
    CancelRun,
    InputRequested,
    IterationLimitReached,
    PauseRun,
    RequestRework,
    RestartRun,
    ResumeRun,
    RetryExecution,
    RollBack,
    StartExecution,
    StartRun,
)
from cairn.core.effects import Dispatch, MoveToErrored, PromoteArtifacts, StopExecution
from cairn.core.errors import CommandRefused
from cairn.core.events import EventType
from cairn.core.plan import CheckpointPolicy
from cairn.core.rule_verdict import Judge, no_rules
from cairn.core.states import ApprovalKind, ExecutionMode, ExecutionState, OnFailure, PassDecision, RunStatus, WaitingOn
from tests.core.desk import Desk, asking, plan_of
from tests.mentions import mentions


def paused(policy: CheckpointPolicy, judge: Judge = no_rules) -> Desk:
    """A run that was paused while `a` waits for a person, with `b` to come."""
    desk = Desk(plan_of("a", "b", policies={"a": policy}), judge=judge)
    if desk.states == {"a": "WORKING"}:
        desk.finish("a")
    desk.send(PauseRun())
    assert desk.run.status is RunStatus.PAUSED
    return desk


def test_a_pause_takes_effect_at_once_when_no_runner_is_working() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    desk.send(PauseRun())
    assert (desk.run.status, desk.run.paused_at, desk.run.pause_requested) == (RunStatus.PAUSED, desk.at, False)
    assert desk.told == ["pause_requested", "run_paused"]
    desk.refuses(PauseRun())


def test_a_pause_waits_for_current_work_and_starts_nothing() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.send(PauseRun())
    assert (desk.run.status, desk.run.pause_requested) == (RunStatus.IN_PROGRESS, True)
    assert desk.refuses(PauseRun()).possible == ("resume", "cancel")
    desk.finish("a")
    assert (desk.run.status, desk.states) == (RunStatus.PAUSED, {"a": "COMPLETED"})
    desk.send(ResumeRun())
    assert (desk.run.status, desk.states) == (RunStatus.IN_PROGRESS, {"a": "COMPLETED", "b": "WORKING"})
    assert (desk.run.last_resumed_at, desk.run.paused_at) == (desk.at, None)


def test_an_execution_waiting_for_people_does_not_delay_a_pause() -> None:
    desk = Desk(plan_of(("a", "b")))
    desk.send(InputRequested(desk.e("a").id, 1, WaitingOn.QUESTION), "worker")
    desk.send(PauseRun())
    desk.send(InputRequested(desk.e("b").id, 1, WaitingOn.QUESTION), "worker")
    assert desk.run.status is RunStatus.PAUSED


def test_resume_withdraws_a_pause_request() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.send(PauseRun())
    desk.send(ResumeRun())
    assert (desk.run.pause_requested, desk.told) == (False, ["pause_withdrawn"])
    desk.finish("a")
    assert desk.states["b"] == "WORKING"
    desk.refuses(ResumeRun())


def test_completing_the_run_beats_a_requested_pause() -> None:
    desk = Desk(plan_of("a"))
    desk.send(PauseRun())
    desk.finish("a")
    assert (desk.run.status, desk.run.pause_requested) == (RunStatus.COMPLETED, False)
    assert desk.detail(EventType.PAUSE_WITHDRAWN) == {"reason": "complete"}


def test_a_required_second_pass_does_not_begin_while_a_pause_is_requested() -> None:
    desk = Desk(plan_of("a", require_second_pass=True))
    desk.send(PauseRun())
    desk.finish("a")
    assert (desk.run.status, desk.run.pass_number) == (RunStatus.PAUSED, 1)
    desk.send(ResumeRun())
    assert (desk.run.status, desk.run.pass_number) == (RunStatus.IN_PROGRESS, 2)


def test_while_paused_an_approval_completes_and_the_next_execution_waits() -> None:
    desk = paused(CheckpointPolicy(ask_completion=True))
    desk.answer("a", "approve")
    assert (desk.run.status, desk.states) == (RunStatus.PAUSED, {"a": "COMPLETED"})
    assert desk.last.effects == (PromoteArtifacts(desk.e("a").id),)
    desk.send(ResumeRun())
    assert desk.states == {"a": "COMPLETED", "b": "WORKING"}


def test_a_paused_run_never_completes() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_completion=True)}))
    desk.finish("a")
    desk.send(PauseRun())
    desk.answer("a", "approve")
    assert desk.run.status is RunStatus.PAUSED
    desk.send(ResumeRun())
    assert desk.run.status is RunStatus.COMPLETED


def test_while_paused_a_form_is_stored_and_nothing_is_dispatched() -> None:
    desk = paused(CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY))
    desk.answer("a", "answer", answer="checksum")
    assert (desk.e("a").state, desk.e("a").answer) == (ExecutionState.READY, "checksum")
    assert (desk.last.effects, desk.told) == ((), ["approval_approved", "execution_ready"])
    desk.send(ResumeRun())
    assert desk.last.effects == (Dispatch(desk.e("a").id, 1),)


@pytest.mark.parametrize(
    ("decision", "state"),
    [("approve", ExecutionState.COMPLETED), ("revise", ExecutionState.READY), ("reject", ExecutionState.FAILED)],
)
def test_while_paused_every_decision_takes_effect(decision: str, state: ExecutionState) -> None:
    desk = paused(CheckpointPolicy(ask_completion=True))
    desk.answer("a", decision)
    assert desk.e("a").state is state
    assert desk.did(Dispatch) == []
    assert desk.run.status is (RunStatus.FAILED if decision == "reject" else RunStatus.PAUSED)


def test_while_paused_a_start_is_approved_and_waits_for_resume() -> None:
    desk = paused(CheckpointPolicy(ask_start=True))
    desk.answer("a", "approve")
    assert desk.states == {"a": "READY"}
    desk.send(ResumeRun())
    assert desk.states == {"a": "WORKING"}


def test_while_paused_an_escalation_can_decide_on_a_restart_that_waits_for_resume() -> None:
    desk = Desk(plan_of("a", "b", decides=("a",)))
    desk.finish("a", ruling=PassDecision.ESCALATE)
    desk.send(PauseRun())
    desk.answer("a", "restart")
    assert (desk.run.status, desk.run.pass_number) == (RunStatus.PAUSED, 1)
    desk.send(ResumeRun())
    assert (desk.run.pass_number, desk.states) == (2, {"a": "WORKING"})


def test_while_paused_a_restart_can_be_decided_without_a_result() -> None:
    desk = Desk(plan_of("a"))
    desk.send(IterationLimitReached(desk.e("a").id, 1), "worker")
    desk.send(PauseRun())
    desk.answer("a", "restart")
    assert (desk.run.status, desk.run.pass_number, desk.states) == (RunStatus.PAUSED, 1, {"a": "READY"})
    desk.send(ResumeRun())
    assert (desk.run.pass_number, desk.all("a")) == (2, [ExecutionState.CANCELLED, ExecutionState.WORKING])
    assert desk.detail(EventType.PASS_BEGUN) == {"pass_number": 2, "reason": mentions("RESTART", "a")}


def test_while_paused_a_retry_delay_ends_and_nothing_starts() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=1)}))
    desk.fail("a")
    desk.send(PauseRun())
    assert desk.run.status is RunStatus.PAUSED
    desk.due("a")
    assert desk.states == {"a": "READY"}
    desk.send(ResumeRun())
    assert desk.states == {"a": "WORKING"}


def test_while_paused_deadlines_continue() -> None:
    desk = paused(CheckpointPolicy(), asking(ApprovalKind.COMPLETION, period=60.0))
    desk.send(ApprovalExpired(desk.asked("a").id, 1), "timer")
    assert (desk.run.status, desk.states) == (RunStatus.FAILED, {"a": "FAILED"})


@pytest.mark.parametrize("on_failure", list(OnFailure))
def test_while_paused_a_failure_follows_its_policy(on_failure: OnFailure) -> None:
    desk = paused(CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, on_failure=on_failure))
    desk.answer("a", "decline")
    assert (desk.run.status, desk.states) == {
        OnFailure.PAUSE_PIPELINE: (RunStatus.PAUSED, {"a": "FAILED"}),
        OnFailure.ROLLBACK_CHECKPOINT: (RunStatus.PAUSED, {"a": "PENDING"}),
        OnFailure.FAIL_RUN: (RunStatus.FAILED, {"a": "FAILED"}),
    }[on_failure]


def test_nothing_can_be_started_manually_while_paused_or_pausing() -> None:
    desk = Desk(plan_of(("a", "b"), "c", auto_advance=False, needs={"c": ("a",)}))
    desk.finish("a")
    start = StartExecution(desk.e("c").id)
    desk.send(PauseRun())
    assert desk.refuses(start).message == mentions()
    desk.finish("b")
    refused = desk.refuses(start)
    assert refused.message == mentions("paused")
    assert "resume" in refused.possible


def test_a_manual_retry_ends_a_pause() -> None:
    desk = Desk(plan_of(("a", "b")))
    desk.fail("a")
    assert desk.run.pause_requested
    desk.send(RetryExecution(desk.e("a").id, 1))
    assert (desk.run.status, desk.run.pause_requested) == (RunStatus.IN_PROGRESS, False)
    assert desk.detail(EventType.PAUSE_WITHDRAWN) == {"reason": "retry"}


def test_a_rework_and_a_dismissal_do_not_end_a_pause() -> None:
    desk = Desk(plan_of("a", ("b", "c")))
    desk.finish("a")
    desk.fail("b")
    assert desk.run.pause_requested
    desk.send(CancelExecution(desk.e("b").id))
    assert desk.run.pause_requested
    desk.send(RequestRework("a"))
    assert desk.run.pause_requested
    desk.finish("c")
    assert (desk.run.status, desk.states["a"]) == (RunStatus.PAUSED, "READY")


def test_cancel_stops_everything() -> None:
    desk = Desk(plan_of(("a", "b"), policies={"b": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    a, b = desk.e("a").id, desk.e("b").id
    desk.send(CancelRun())
    assert (desk.run.status, desk.states) == (RunStatus.CANCELLED, {"a": "CANCELLED", "b": "CANCELLED"})
    assert desk.last.effects == (StopExecution(a, 1), MoveToErrored(a), MoveToErrored(b))
    assert desk.run.completed_at == desk.at
    for command in (CancelRun(), PauseRun(), ResumeRun(), RestartRun(1), StartRun()):
        assert desk.refuses(command).possible == ("roll back",)


def test_a_run_that_never_started_can_be_cancelled_and_reopened() -> None:
    desk = Desk(plan_of("a"), started=False)
    desk.send(CancelRun())
    assert (desk.run.status, desk.run.started_at) == (RunStatus.CANCELLED, None)
    desk.send(RollBack("r", -1))
    assert (desk.run.status, desk.run.started_at, desk.states) == (RunStatus.IN_PROGRESS, desk.at, {"a": "WORKING"})


def test_failing_or_cancelling_a_paused_run_is_not_resuming_it() -> None:
    desk = paused(CheckpointPolicy(ask_completion=True))
    desk.send(CancelRun())
    assert (desk.run.last_resumed_at, desk.run.paused_at) == (None, None)


def test_a_cancelled_run_with_a_failed_execution_can_be_rolled_back_but_not_retried() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.finish("a")
    desk.fail("b")
    failed = desk.e("b")
    desk.send(CancelRun())
    for command in (RetryExecution(failed.id, 1), CancelExecution(failed.id), ResumeRun()):
        assert desk.refuses(command, CommandRefused).possible == ("roll back",)
    desk.send(RollBack("r", 0))
    assert (desk.run.status, desk.states) == (RunStatus.IN_PROGRESS, {"a": "COMPLETED", "b": "WORKING"})
    assert desk.run.executions[failed.id].archived_by == "r"
