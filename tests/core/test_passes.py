"""Passes and the decisions of a deciding checkpoint."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.core.commands import (
    CancelRun,
    Decide,
    ExecutionFinished,
    PauseRun,
    RequestRework,
    RestartRun,
    ResultInvalid,
    ResumeRun,
    RetryExecution,
    StartExecution,
)
from cairn.core.effects import (
    ArchivePass,
    CreateWorkspace,
    DeleteWorkspaces,
    Dispatch,
    PromoteArtifacts,
    StageArtifacts,
    StopExecution,
)
from cairn.core.errors import AlreadyApplied, StaleCommand
from cairn.core.events import EventType
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ExecutionState, OnFailure, OnInvalid, PassDecision, RunStatus, WaitingOn
from tests.core.harness import RESULT, Harness, plan_of
from tests.mentions import mentions


def deciding(**settings: Any) -> Harness:
    """`a`, then `d`, which decides, then `z`. `a` is complete."""
    harness = Harness(plan_of("a", "d", "z", decides=("d",), **settings))
    harness.finish("a")
    return harness


def test_complete_continues_or_ends_the_run() -> None:
    harness = deciding()
    harness.finish("d", pass_decision=PassDecision.COMPLETE)
    assert (harness.e("d").pass_decision, harness.states["z"]) == (PassDecision.COMPLETE, "WORKING")
    assert harness.event_detail(EventType.EXECUTION_COMPLETED)["decision"] == "COMPLETE"
    harness.finish("z")
    assert (harness.run.status, harness.run.pass_number) == (RunStatus.COMPLETED, 1)


def test_without_a_pass_decision_it_counts_as_complete() -> None:
    harness = deciding()
    harness.finish("d")
    assert harness.e("d").pass_decision is PassDecision.COMPLETE


def test_a_checkpoint_that_does_not_decide_has_no_pass_decision() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.finish("a", pass_decision=PassDecision.RESTART)
    assert (harness.e("a").pass_decision, harness.run.pass_number) == (None, 1)


def test_restart_starts_the_next_pass_at_the_first_checkpoint() -> None:
    harness = deciding(auto_advance=False)
    harness.send(StartExecution(harness.e("d").id))
    harness.finish("d", pass_decision=PassDecision.RESTART)
    assert (harness.run.pass_number, harness.run.restart_count) == (2, 1)
    assert harness.states == {"a": "WORKING"}
    assert [e.pass_number for e in harness.run.executions.values()] == [1, 1, 2]
    assert harness.event_detail(EventType.PASS_STARTED) == {"pass_number": 2, "reason": mentions("d", "RESTART")}
    first = [e.id for e in harness.run.executions.values() if e.pass_number == 1]
    assert harness.last.effects == (
        PromoteArtifacts(first[1]),
        DeleteWorkspaces((first[1],)),
        ArchivePass(1),
        CreateWorkspace(harness.e("a").id),
        Dispatch(harness.e("a").id, 1),
    )


def test_restart_stops_and_cancels_open_executions() -> None:
    harness = Harness(plan_of("a", "d", "z", decides=("d",), needs={"z": ("a",)}))
    harness.finish("a")
    z = harness.e("z")
    harness.finish("d", pass_decision=PassDecision.RESTART)
    assert harness.run.executions[z.id].state is ExecutionState.CANCELLED
    assert harness.last.effects[0] == StopExecution(z.id, 1)
    harness.refuses(ExecutionFinished(z.id, 1, "late"), StaleCommand)


def test_an_earlier_pass_cannot_be_retried() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(on_failure=OnFailure.FAIL_RUN)}))
    harness.fail("a")
    failed = harness.e("a")
    harness.send(RestartRun(1))
    harness.refuses(RetryExecution(failed.id, 1), StaleCommand)


def test_a_restart_beyond_the_limit_becomes_an_escalation() -> None:
    harness = deciding(max_restarts=1)
    harness.finish("d", pass_decision=PassDecision.RESTART)
    harness.finish("a")
    harness.finish("d", pass_decision=PassDecision.RESTART)
    assert (harness.run.pass_number, harness.e("d").waiting_on) == (2, WaitingOn.ESCALATION)
    reason = mentions("1")
    assert harness.event_detail(EventType.PASS_DECISION_OVERRIDDEN) == {
        "checkpoint": "d",
        "decision": "ESCALATE",
        "reason": reason,
    }
    assert harness.pending_approval("d").reason == reason


def test_a_manual_restart_beyond_the_limit_is_counted() -> None:
    harness = deciding(max_restarts=0)
    harness.finish("d", pass_decision=PassDecision.RESTART)
    decider = harness.e("d")
    harness.answer("d", "restart")
    assert (harness.run.pass_number, harness.run.restart_count) == (2, 1)
    decider = harness.run.executions[decider.id]
    assert (decider.state, decider.pass_decision) == (
        ExecutionState.COMPLETED,
        PassDecision.RESTART,
    )  # the answer replaces the completion approval


def test_escalate_asks_before_completion_and_the_answer_replaces_its_approval() -> None:
    policies = {"d": CheckpointPolicy(requires_completion_approval=True)}
    harness = deciding(policies=policies)
    harness.finish("d", pass_decision=PassDecision.ESCALATE)
    assert (harness.e("d").waiting_on, harness.e("d").pass_decision) == (WaitingOn.ESCALATION, PassDecision.ESCALATE)
    assert harness.pending_approval("d").reason == mentions()
    assert harness.effects(StageArtifacts) == [StageArtifacts(harness.e("d").id)]
    harness.answer("d", "accept")
    assert (harness.e("d").state, harness.e("d").pass_decision, harness.states["z"]) == (
        ExecutionState.COMPLETED,
        PassDecision.COMPLETE,
        "WORKING",
    )


def test_a_retry_after_an_escalation_decides_again() -> None:
    harness = deciding()
    harness.finish("d", pass_decision=PassDecision.ESCALATE)
    harness.answer("d", "retry")
    assert (harness.e("d").state, harness.e("d").pass_decision) == (ExecutionState.WORKING, None)
    harness.finish("d", pass_decision=PassDecision.COMPLETE)
    assert harness.states["z"] == "WORKING"


# ---- a required second pass ------------------------------------------------------------------------------
def test_a_first_pass_never_completes() -> None:
    harness = deciding(require_second_pass=True)
    harness.finish("d", pass_decision=PassDecision.COMPLETE)
    assert (harness.run.pass_number, harness.states) == (2, {"a": "WORKING"})
    assert harness.event_detail(EventType.PASS_DECISION_OVERRIDDEN) == {
        "checkpoint": "d",
        "decision": "RESTART",
        "reason": mentions(),
    }
    harness.finish("a")
    harness.finish("d", pass_decision=PassDecision.COMPLETE)
    harness.finish("z")
    assert (harness.run.status, harness.run.pass_number) == (RunStatus.COMPLETED, 2)


def test_without_a_deciding_checkpoint_the_last_completion_counts() -> None:
    harness = Harness(plan_of("a", "b", require_second_pass=True))
    harness.finish("a")
    harness.finish("b")
    assert (harness.run.status, harness.run.pass_number) == (RunStatus.IN_PROGRESS, 2)
    assert harness.event_detail(EventType.PASS_STARTED)["reason"] == mentions()
    harness.finish("a")
    harness.finish("b")
    assert harness.run.status is RunStatus.COMPLETED


def test_a_first_pass_cannot_be_accepted_as_complete() -> None:
    harness = deciding(require_second_pass=True)
    harness.finish("d", pass_decision=PassDecision.ESCALATE)
    error = harness.refuses(Decide(harness.pending_approval("d").id, "accept"))
    assert error.suggestions == ("retry", "restart", "fail")
    harness.answer("d", "restart")
    assert harness.run.pass_number == 2


def test_accepting_an_invalid_decision_does_not_skip_the_second_pass() -> None:
    policies = {"d": CheckpointPolicy(on_invalid=OnInvalid.ASK_HUMAN)}
    harness = deciding(require_second_pass=True, policies=policies)
    harness.send(ResultInvalid(harness.e("d").id, 1, "x", (RESULT,)), "worker")
    harness.answer("d", "accept")
    assert harness.run.pass_number == 2


def test_approving_a_completion_applies_its_pass_decision() -> None:
    harness = deciding(policies={"d": CheckpointPolicy(requires_completion_approval=True)})
    harness.finish("d", pass_decision=PassDecision.RESTART)
    assert (
        harness.run.pass_number,
        harness.event_detail(EventType.EXECUTION_AWAITING_COMPLETION_APPROVAL)["decision"],
    ) == (
        1,
        "RESTART",
    )
    harness.answer("d", "approve")
    assert harness.run.pass_number == 2


def test_a_revision_clears_the_earlier_pass_decision() -> None:
    harness = deciding(policies={"d": CheckpointPolicy(requires_completion_approval=True)})
    harness.finish("d", pass_decision=PassDecision.RESTART)
    harness.send(PauseRun())
    harness.answer("d", "revise")
    harness.send(ResumeRun())
    assert (harness.run.pass_number, harness.e("d").state, harness.e("d").pass_decision) == (
        1,
        ExecutionState.WORKING,
        None,
    )


def test_a_pass_decision_under_rework_does_not_restart() -> None:
    harness = deciding(policies={"d": CheckpointPolicy(requires_completion_approval=True)})
    harness.finish("d", pass_decision=PassDecision.RESTART)
    harness.send(PauseRun())
    harness.answer("d", "approve")
    harness.send(RequestRework("d"))
    harness.send(ResumeRun())
    assert (harness.run.pass_number, harness.states["d"]) == (1, "WORKING")
    harness.finish("d", pass_decision=PassDecision.COMPLETE)
    harness.answer("d", "approve")
    assert harness.states["z"] == "WORKING"


# ---- manual restarts ---------------------------------------------------------------------------------
@pytest.mark.parametrize("status", ["in_progress", "paused", "failed", "completed"])
def test_a_manual_restart_is_counted_but_not_limited(status: str) -> None:
    policies = {
        "b": CheckpointPolicy(on_failure=OnFailure.FAIL_RUN if status == "failed" else OnFailure.PAUSE_PIPELINE)
    }
    harness = Harness(plan_of("a", "b", policies=policies, max_restarts=0))
    harness.finish("a")
    if status == "completed":
        harness.finish("b")
    elif status != "in_progress":
        harness.fail("b")
    assert harness.run.status.value == status
    harness.send(RestartRun(1))
    assert (harness.run.status, harness.run.pass_number, harness.run.restart_count) == (RunStatus.IN_PROGRESS, 2, 1)
    assert (harness.states, harness.run.completed_at, harness.run.paused_at) == ({"a": "WORKING"}, None, None)
    assert harness.event_detail(EventType.PASS_STARTED)["reason"] == mentions()


def test_a_repeated_restart_of_the_same_pass_counts_once() -> None:
    harness = Harness(plan_of("a"))
    harness.send(RestartRun(1))
    harness.refuses(RestartRun(1), AlreadyApplied)
    harness.refuses(RestartRun(3), StaleCommand)


def test_a_run_that_was_not_started_or_was_cancelled_cannot_be_restarted() -> None:
    harness = Harness(plan_of("a"), started=False)
    assert harness.refuses(RestartRun(1)).suggestions == ("start", "cancel")
    harness.send(CancelRun())
    assert harness.refuses(RestartRun(1)).suggestions == ("roll back",)


def test_the_first_checkpoint_of_a_pass_starts_without_auto_advance() -> None:
    harness = Harness(plan_of("a", "b", auto_advance=False))
    harness.send(RestartRun(1))
    assert harness.states == {"a": "WORKING"}
    harness.finish("a")
    assert harness.states == {"a": "COMPLETED", "b": "PENDING"}
