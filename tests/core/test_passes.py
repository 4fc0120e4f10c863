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
from tests.core.desk import RESULT, Desk, plan_of
from tests.mentions import mentions


def deciding(**settings: Any) -> Desk:
    """`a`, then `d`, which decides, then `z`. `a` is complete."""
    desk = Desk(plan_of("a", "d", "z", decides=("d",), **settings))
    desk.finish("a")
    return desk


def test_complete_continues_or_ends_the_run() -> None:
    desk = deciding()
    desk.finish("d", ruling=PassDecision.COMPLETE)
    assert (desk.e("d").ruling, desk.states["z"]) == (PassDecision.COMPLETE, "WORKING")
    assert desk.detail(EventType.EXECUTION_COMPLETED)["decision"] == "COMPLETE"
    desk.finish("z")
    assert (desk.run.status, desk.run.pass_number) == (RunStatus.COMPLETED, 1)


def test_without_a_pass_decision_it_counts_as_complete() -> None:
    desk = deciding()
    desk.finish("d")
    assert desk.e("d").ruling is PassDecision.COMPLETE


def test_who_does_not_decide_has_no_ruling() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.finish("a", ruling=PassDecision.RESTART)
    assert (desk.e("a").ruling, desk.run.pass_number) == (None, 1)


def test_restart_begins_the_next_pass_at_the_first_checkpoint() -> None:
    desk = deciding(auto_advance=False)
    desk.send(StartExecution(desk.e("d").id))
    desk.finish("d", ruling=PassDecision.RESTART)
    assert (desk.run.pass_number, desk.run.restart_count) == (2, 1)
    assert desk.states == {"a": "WORKING"}
    assert [e.pass_number for e in desk.run.executions.values()] == [1, 1, 2]
    assert desk.detail(EventType.PASS_BEGUN) == {"pass_number": 2, "reason": mentions("d", "RESTART")}
    first = [e.id for e in desk.run.executions.values() if e.pass_number == 1]
    assert desk.last.effects == (
        PromoteArtifacts(first[1]),
        DeleteWorkspaces((first[1],)),
        ArchivePass(1),
        CreateWorkspace(desk.e("a").id),
        Dispatch(desk.e("a").id, 1),
    )


def test_restart_stops_and_cancels_what_is_open() -> None:
    desk = Desk(plan_of("a", "d", "z", decides=("d",), needs={"z": ("a",)}))
    desk.finish("a")
    z = desk.e("z")
    desk.finish("d", ruling=PassDecision.RESTART)
    assert desk.run.executions[z.id].state is ExecutionState.CANCELLED
    assert desk.last.effects[0] == StopExecution(z.id, 1)
    desk.refuses(ExecutionFinished(z.id, 1, "late"), StaleCommand)


def test_an_earlier_pass_cannot_be_retried() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(on_failure=OnFailure.FAIL_RUN)}))
    desk.fail("a")
    failed = desk.e("a")
    desk.send(RestartRun(1))
    desk.refuses(RetryExecution(failed.id, 1), StaleCommand)


def test_a_restart_beyond_the_limit_becomes_an_escalation() -> None:
    desk = deciding(max_restarts=1)
    desk.finish("d", ruling=PassDecision.RESTART)
    desk.finish("a")
    desk.finish("d", ruling=PassDecision.RESTART)
    assert (desk.run.pass_number, desk.e("d").waiting_on) == (2, WaitingOn.ESCALATION)
    why = mentions("1")
    assert desk.detail(EventType.RULING_CHANGED) == {"checkpoint": "d", "decision": "ESCALATE", "reason": why}
    assert desk.asked("d").reason == why


def test_a_manual_restart_beyond_the_limit_is_counted() -> None:
    desk = deciding(max_restarts=0)
    desk.finish("d", ruling=PassDecision.RESTART)
    decider = desk.e("d")
    desk.answer("d", "restart")
    assert (desk.run.pass_number, desk.run.restart_count) == (2, 1)
    decider = desk.run.executions[decider.id]
    assert (decider.state, decider.ruling) == (
        ExecutionState.COMPLETED,
        PassDecision.RESTART,
    )  # the answer stands for its completion


def test_escalate_asks_before_completion_and_the_answer_replaces_its_approval() -> None:
    policies = {"d": CheckpointPolicy(ask_completion=True)}
    desk = deciding(policies=policies)
    desk.finish("d", ruling=PassDecision.ESCALATE)
    assert (desk.e("d").waiting_on, desk.e("d").ruling) == (WaitingOn.ESCALATION, PassDecision.ESCALATE)
    assert desk.asked("d").reason == mentions()
    assert desk.did(StageArtifacts) == [StageArtifacts(desk.e("d").id)]
    desk.answer("d", "accept")
    assert (desk.e("d").state, desk.e("d").ruling, desk.states["z"]) == (
        ExecutionState.COMPLETED,
        PassDecision.COMPLETE,
        "WORKING",
    )


def test_a_retry_after_an_escalation_decides_again() -> None:
    desk = deciding()
    desk.finish("d", ruling=PassDecision.ESCALATE)
    desk.answer("d", "retry")
    assert (desk.e("d").state, desk.e("d").ruling) == (ExecutionState.WORKING, None)
    desk.finish("d", ruling=PassDecision.COMPLETE)
    assert desk.states["z"] == "WORKING"


# ---- a required second pass ------------------------------------------------------------------------------
def test_a_first_pass_never_completes() -> None:
    desk = deciding(require_second_pass=True)
    desk.finish("d", ruling=PassDecision.COMPLETE)
    assert (desk.run.pass_number, desk.states) == (2, {"a": "WORKING"})
    assert desk.detail(EventType.RULING_CHANGED) == {
        "checkpoint": "d",
        "decision": "RESTART",
        "reason": mentions(),
    }
    desk.finish("a")
    desk.finish("d", ruling=PassDecision.COMPLETE)
    desk.finish("z")
    assert (desk.run.status, desk.run.pass_number) == (RunStatus.COMPLETED, 2)


def test_without_a_deciding_checkpoint_the_last_completion_counts() -> None:
    desk = Desk(plan_of("a", "b", require_second_pass=True))
    desk.finish("a")
    desk.finish("b")
    assert (desk.run.status, desk.run.pass_number) == (RunStatus.IN_PROGRESS, 2)
    assert desk.detail(EventType.PASS_BEGUN)["reason"] == mentions()
    desk.finish("a")
    desk.finish("b")
    assert desk.run.status is RunStatus.COMPLETED


def test_a_first_pass_cannot_be_accepted_as_complete() -> None:
    desk = deciding(require_second_pass=True)
    desk.finish("d", ruling=PassDecision.ESCALATE)
    refused = desk.refuses(Decide(desk.asked("d").id, "accept"))
    assert refused.possible == ("retry", "restart", "fail")
    desk.answer("d", "restart")
    assert desk.run.pass_number == 2


def test_accepting_an_invalid_decision_does_not_skip_the_second_pass() -> None:
    policies = {"d": CheckpointPolicy(on_invalid=OnInvalid.ASK_HUMAN)}
    desk = deciding(require_second_pass=True, policies=policies)
    desk.send(ResultInvalid(desk.e("d").id, 1, "x", (RESULT,)), "worker")
    desk.answer("d", "accept")
    assert desk.run.pass_number == 2


def test_a_completion_that_is_approved_carries_its_ruling_out() -> None:
    desk = deciding(policies={"d": CheckpointPolicy(ask_completion=True)})
    desk.finish("d", ruling=PassDecision.RESTART)
    assert (desk.run.pass_number, desk.detail(EventType.EXECUTION_COMPLETION_ASKED)["decision"]) == (1, "RESTART")
    desk.answer("d", "approve")
    assert desk.run.pass_number == 2


def test_a_revision_of_a_decision_forgets_the_first_one() -> None:
    desk = deciding(policies={"d": CheckpointPolicy(ask_completion=True)})
    desk.finish("d", ruling=PassDecision.RESTART)
    desk.send(PauseRun())
    desk.answer("d", "revise")
    desk.send(ResumeRun())
    assert (desk.run.pass_number, desk.e("d").state, desk.e("d").ruling) == (1, ExecutionState.WORKING, None)


def test_a_decision_that_is_being_reworked_does_not_restart() -> None:
    desk = deciding(policies={"d": CheckpointPolicy(ask_completion=True)})
    desk.finish("d", ruling=PassDecision.RESTART)
    desk.send(PauseRun())
    desk.answer("d", "approve")
    desk.send(RequestRework("d"))
    desk.send(ResumeRun())
    assert (desk.run.pass_number, desk.states["d"]) == (1, "WORKING")
    desk.finish("d", ruling=PassDecision.COMPLETE)
    desk.answer("d", "approve")
    assert desk.states["z"] == "WORKING"


# ---- by hand -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("status", ["in_progress", "paused", "failed", "completed"])
def test_a_manual_restart_is_counted_but_not_limited(status: str) -> None:
    policies = {
        "b": CheckpointPolicy(on_failure=OnFailure.FAIL_RUN if status == "failed" else OnFailure.PAUSE_PIPELINE)
    }
    desk = Desk(plan_of("a", "b", policies=policies, max_restarts=0))
    desk.finish("a")
    if status == "completed":
        desk.finish("b")
    elif status != "in_progress":
        desk.fail("b")
    assert desk.run.status.value == status
    desk.send(RestartRun(1))
    assert (desk.run.status, desk.run.pass_number, desk.run.restart_count) == (RunStatus.IN_PROGRESS, 2, 1)
    assert (desk.states, desk.run.completed_at, desk.run.paused_at) == ({"a": "WORKING"}, None, None)
    assert desk.detail(EventType.PASS_BEGUN)["reason"] == mentions()


def test_a_repeated_restart_of_the_same_pass_counts_once() -> None:
    desk = Desk(plan_of("a"))
    desk.send(RestartRun(1))
    desk.refuses(RestartRun(1), AlreadyApplied)
    desk.refuses(RestartRun(3), StaleCommand)


def test_a_run_that_was_not_started_or_was_cancelled_cannot_be_restarted() -> None:
    desk = Desk(plan_of("a"), started=False)
    assert desk.refuses(RestartRun(1)).possible == ("start", "cancel")
    desk.send(CancelRun())
    assert desk.refuses(RestartRun(1)).possible == ("roll back",)


def test_the_first_checkpoint_of_a_pass_starts_without_auto_advance() -> None:
    desk = Desk(plan_of("a", "b", auto_advance=False))
    desk.send(RestartRun(1))
    assert desk.states == {"a": "WORKING"}
    desk.finish("a")
    assert desk.states == {"a": "COMPLETED", "b": "PENDING"}
