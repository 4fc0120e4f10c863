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
from tests.core.harness import Harness, plan_of, require_approval_for
from tests.mentions import mentions


def paused(policy: CheckpointPolicy, judge: Judge = no_rules) -> Harness:
    """Return a run that was paused while `a` waits for a person. `b` has not started."""
    harness = Harness(plan_of("a", "b", policies={"a": policy}), judge=judge)
    if harness.states == {"a": "WORKING"}:
        harness.finish("a")
    harness.send(PauseRun())
    assert harness.run.status is RunStatus.PAUSED
    return harness


def test_a_pause_takes_effect_at_once_when_no_runner_is_working() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    harness.send(PauseRun())
    assert (harness.run.status, harness.run.paused_at, harness.run.pause_requested) == (
        RunStatus.PAUSED,
        harness.at,
        False,
    )
    assert harness.event_types == ["pause_requested", "run_paused"]
    harness.refuses(PauseRun())


def test_a_pause_waits_for_current_work_and_starts_nothing() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.send(PauseRun())
    assert (harness.run.status, harness.run.pause_requested) == (RunStatus.IN_PROGRESS, True)
    assert harness.refuses(PauseRun()).suggestions == ("resume", "cancel")
    harness.finish("a")
    assert (harness.run.status, harness.states) == (RunStatus.PAUSED, {"a": "COMPLETED"})
    harness.send(ResumeRun())
    assert (harness.run.status, harness.states) == (RunStatus.IN_PROGRESS, {"a": "COMPLETED", "b": "WORKING"})
    assert (harness.run.last_resumed_at, harness.run.paused_at) == (harness.at, None)


def test_an_execution_waiting_for_people_does_not_delay_a_pause() -> None:
    harness = Harness(plan_of(("a", "b")))
    harness.send(InputRequested(harness.e("a").id, 1, WaitingOn.QUESTION), "worker")
    harness.send(PauseRun())
    harness.send(InputRequested(harness.e("b").id, 1, WaitingOn.QUESTION), "worker")
    assert harness.run.status is RunStatus.PAUSED


def test_resume_withdraws_a_pause_request() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.send(PauseRun())
    harness.send(ResumeRun())
    assert (harness.run.pause_requested, harness.event_types) == (False, ["pause_cancelled"])
    harness.finish("a")
    assert harness.states["b"] == "WORKING"
    harness.refuses(ResumeRun())


def test_completing_the_run_beats_a_requested_pause() -> None:
    harness = Harness(plan_of("a"))
    harness.send(PauseRun())
    harness.finish("a")
    assert (harness.run.status, harness.run.pause_requested) == (RunStatus.COMPLETED, False)
    assert harness.event_detail(EventType.PAUSE_CANCELLED) == {"reason": "complete"}


def test_a_required_second_pass_does_not_start_while_a_pause_is_requested() -> None:
    harness = Harness(plan_of("a", require_second_pass=True))
    harness.send(PauseRun())
    harness.finish("a")
    assert (harness.run.status, harness.run.pass_number) == (RunStatus.PAUSED, 1)
    harness.send(ResumeRun())
    assert (harness.run.status, harness.run.pass_number) == (RunStatus.IN_PROGRESS, 2)


def test_while_paused_an_approval_completes_and_the_next_execution_waits() -> None:
    harness = paused(CheckpointPolicy(requires_completion_approval=True))
    harness.answer("a", "approve")
    assert (harness.run.status, harness.states) == (RunStatus.PAUSED, {"a": "COMPLETED"})
    assert harness.last.effects == (PromoteArtifacts(harness.e("a").id),)
    harness.send(ResumeRun())
    assert harness.states == {"a": "COMPLETED", "b": "WORKING"}


def test_a_paused_run_never_completes() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(requires_completion_approval=True)}))
    harness.finish("a")
    harness.send(PauseRun())
    harness.answer("a", "approve")
    assert harness.run.status is RunStatus.PAUSED
    harness.send(ResumeRun())
    assert harness.run.status is RunStatus.COMPLETED


def test_while_paused_a_form_is_stored_and_nothing_is_dispatched() -> None:
    harness = paused(CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY))
    harness.answer("a", "answer", answer="checksum")
    assert (harness.e("a").state, harness.e("a").answer) == (ExecutionState.READY, "checksum")
    assert (harness.last.effects, harness.event_types) == ((), ["approval_approved", "execution_ready"])
    harness.send(ResumeRun())
    assert harness.last.effects == (Dispatch(harness.e("a").id, 1),)


@pytest.mark.parametrize(
    ("decision", "state"),
    [("approve", ExecutionState.COMPLETED), ("revise", ExecutionState.READY), ("reject", ExecutionState.FAILED)],
)
def test_while_paused_every_decision_takes_effect(decision: str, state: ExecutionState) -> None:
    harness = paused(CheckpointPolicy(requires_completion_approval=True))
    harness.answer("a", decision)
    assert harness.e("a").state is state
    assert harness.effects(Dispatch) == []
    assert harness.run.status is (RunStatus.FAILED if decision == "reject" else RunStatus.PAUSED)


def test_while_paused_a_start_is_approved_and_waits_for_resume() -> None:
    harness = paused(CheckpointPolicy(requires_start_approval=True))
    harness.answer("a", "approve")
    assert harness.states == {"a": "READY"}
    harness.send(ResumeRun())
    assert harness.states == {"a": "WORKING"}


def test_while_paused_an_escalation_can_decide_on_a_restart_that_waits_for_resume() -> None:
    harness = Harness(plan_of("a", "b", decides=("a",)))
    harness.finish("a", pass_decision=PassDecision.ESCALATE)
    harness.send(PauseRun())
    harness.answer("a", "restart")
    assert (harness.run.status, harness.run.pass_number) == (RunStatus.PAUSED, 1)
    harness.send(ResumeRun())
    assert (harness.run.pass_number, harness.states) == (2, {"a": "WORKING"})


def test_while_paused_a_restart_can_be_decided_without_a_result() -> None:
    harness = Harness(plan_of("a"))
    harness.send(IterationLimitReached(harness.e("a").id, 1), "worker")
    harness.send(PauseRun())
    harness.answer("a", "restart")
    assert (harness.run.status, harness.run.pass_number, harness.states) == (RunStatus.PAUSED, 1, {"a": "READY"})
    harness.send(ResumeRun())
    assert (harness.run.pass_number, harness.all("a")) == (2, [ExecutionState.CANCELLED, ExecutionState.WORKING])
    assert harness.event_detail(EventType.PASS_STARTED) == {"pass_number": 2, "reason": mentions("RESTART", "a")}


def test_while_paused_a_retry_delay_ends_and_nothing_starts() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=1)}))
    harness.fail("a")
    harness.send(PauseRun())
    assert harness.run.status is RunStatus.PAUSED
    harness.retry_due("a")
    assert harness.states == {"a": "READY"}
    harness.send(ResumeRun())
    assert harness.states == {"a": "WORKING"}


def test_while_paused_deadlines_continue() -> None:
    harness = paused(CheckpointPolicy(), require_approval_for(ApprovalKind.COMPLETION, timeout=60.0))
    harness.send(ApprovalExpired(harness.pending_approval("a").id, 1), "timer")
    assert (harness.run.status, harness.states) == (RunStatus.FAILED, {"a": "FAILED"})


@pytest.mark.parametrize("on_failure", list(OnFailure))
def test_while_paused_a_failure_follows_its_policy(on_failure: OnFailure) -> None:
    harness = paused(CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, on_failure=on_failure))
    harness.answer("a", "decline")
    assert (harness.run.status, harness.states) == {
        OnFailure.PAUSE_PIPELINE: (RunStatus.PAUSED, {"a": "FAILED"}),
        OnFailure.ROLLBACK_CHECKPOINT: (RunStatus.PAUSED, {"a": "PENDING"}),
        OnFailure.FAIL_RUN: (RunStatus.FAILED, {"a": "FAILED"}),
    }[on_failure]


def test_nothing_can_be_started_manually_while_paused_or_pausing() -> None:
    harness = Harness(plan_of(("a", "b"), "c", auto_advance=False, needs={"c": ("a",)}))
    harness.finish("a")
    start = StartExecution(harness.e("c").id)
    harness.send(PauseRun())
    assert harness.refuses(start).message == mentions()
    harness.finish("b")
    error = harness.refuses(start)
    assert error.message == mentions("paused")
    assert "resume" in error.suggestions


def test_a_manual_retry_ends_a_pause() -> None:
    harness = Harness(plan_of(("a", "b")))
    harness.fail("a")
    assert harness.run.pause_requested
    harness.send(RetryExecution(harness.e("a").id, 1))
    assert (harness.run.status, harness.run.pause_requested) == (RunStatus.IN_PROGRESS, False)
    assert harness.event_detail(EventType.PAUSE_CANCELLED) == {"reason": "retry"}


def test_a_rework_and_a_dismissal_do_not_end_a_pause() -> None:
    harness = Harness(plan_of("a", ("b", "c")))
    harness.finish("a")
    harness.fail("b")
    assert harness.run.pause_requested
    harness.send(CancelExecution(harness.e("b").id))
    assert harness.run.pause_requested
    harness.send(RequestRework("a"))
    assert harness.run.pause_requested
    harness.finish("c")
    assert (harness.run.status, harness.states["a"]) == (RunStatus.PAUSED, "READY")


def test_cancel_stops_everything() -> None:
    harness = Harness(plan_of(("a", "b"), policies={"b": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    a, b = harness.e("a").id, harness.e("b").id
    harness.send(CancelRun())
    assert (harness.run.status, harness.states) == (RunStatus.CANCELLED, {"a": "CANCELLED", "b": "CANCELLED"})
    assert harness.last.effects == (StopExecution(a, 1), MoveToErrored(a), MoveToErrored(b))
    assert harness.run.completed_at == harness.at
    for command in (CancelRun(), PauseRun(), ResumeRun(), RestartRun(1), StartRun()):
        assert harness.refuses(command).suggestions == ("roll back",)


def test_a_run_that_never_started_can_be_cancelled_and_reopened() -> None:
    harness = Harness(plan_of("a"), started=False)
    harness.send(CancelRun())
    assert (harness.run.status, harness.run.started_at) == (RunStatus.CANCELLED, None)
    harness.send(RollBack("r", -1))
    assert (harness.run.status, harness.run.started_at, harness.states) == (
        RunStatus.IN_PROGRESS,
        harness.at,
        {"a": "WORKING"},
    )


def test_failing_or_cancelling_a_paused_run_is_not_resuming_it() -> None:
    harness = paused(CheckpointPolicy(requires_completion_approval=True))
    harness.send(CancelRun())
    assert (harness.run.last_resumed_at, harness.run.paused_at) == (None, None)


def test_a_cancelled_run_with_a_failed_execution_can_be_rolled_back_but_not_retried() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.finish("a")
    harness.fail("b")
    failed = harness.e("b")
    harness.send(CancelRun())
    for command in (RetryExecution(failed.id, 1), CancelExecution(failed.id), ResumeRun()):
        assert harness.refuses(command, CommandRefused).suggestions == ("roll back",)
    harness.send(RollBack("r", 0))
    assert (harness.run.status, harness.states) == (RunStatus.IN_PROGRESS, {"a": "COMPLETED", "b": "WORKING"})
    assert harness.run.executions[failed.id].archived_by == "r"
