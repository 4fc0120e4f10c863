"""Late reports, the order of effects, and file effects."""

from __future__ import annotations

from uuid import UUID

import pytest

from cairn.core.commands import (
    ActionHeld,
    ActionProposed,
    BudgetReached,
    CancelRun,
    Command,
    CommandContext,
    ExecutionBlocked,
    ExecutionFailed,
    ExecutionFinished,
    ExecutionInterrupted,
    ExecutionTimedOut,
    InputRequested,
    IterationLimitReached,
    RestartRun,
    ResultInvalid,
    RetryExecution,
    ReworkRequested,
    RollBack,
)
from cairn.core.decide import decide
from cairn.core.effects import (
    ArchiveFiles,
    CreateWorkspace,
    DeleteWorkspaces,
    Dispatch,
    MoveToErrored,
    PromoteArtifacts,
    ScheduleTimer,
    StageArtifacts,
    StopExecution,
)
from cairn.core.errors import StaleCommand
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ActionState, ExecutionMode, RunStatus, WaitingOn
from tests.core.harness import BEGIN, BROKEN, RESULT, Harness, plan_of, request_for


def reports(execution: str, dispatch: int) -> list[Command]:
    return [
        ExecutionFinished(execution, dispatch, "x"),
        ExecutionFailed(execution, dispatch, BROKEN),
        ResultInvalid(execution, dispatch, "x"),
        InputRequested(execution, dispatch, WaitingOn.QUESTION),
        ActionProposed(execution, dispatch, ActionState.WAITING, request_for()),
        ActionHeld(execution, dispatch),
        ReworkRequested(execution, dispatch, "a"),
        ExecutionBlocked(execution, dispatch),
        IterationLimitReached(execution, dispatch),
        BudgetReached(execution, dispatch, "spent"),
        ExecutionInterrupted(execution, dispatch),
        ExecutionTimedOut(execution, dispatch),
    ]


@pytest.mark.parametrize("after", ["finished", "waiting", "cancelled", "rolled back", "restarted", "unknown", "early"])
def test_a_late_report_changes_nothing(after: str) -> None:
    harness = Harness(plan_of("a", "b"))
    e = harness.e("a")
    execution, dispatch = e.id, 1
    match after:
        case "finished":
            harness.finish("a")
        case "waiting":
            harness.send(InputRequested(e.id, 1, WaitingOn.QUESTION), "worker")
        case "cancelled":
            harness.send(CancelRun())
        case "rolled back":
            harness.send(RollBack("r", -1))
        case "restarted":
            harness.send(RestartRun(1))
        case "unknown":
            execution = "nowhere"
        case _:
            dispatch = 2
    for report in reports(execution, dispatch):
        harness.refuses(report, StaleCommand)


@pytest.mark.parametrize("number", range(9))
def test_every_report_ends_its_own_dispatch_only(number: int) -> None:
    harness = Harness(plan_of("a"))
    e = harness.e("a")
    report = reports(e.id, 1)[number]
    harness.send(report, "worker")
    stops = harness.effects(StopExecution)
    assert stops == ([StopExecution(e.id, 1)] if isinstance(report, ExecutionInterrupted) else [])
    for late in reports(e.id, 1):
        harness.refuses(late, StaleCommand)


def test_effects_are_ordered_stop_files_dispatch_timers() -> None:
    policies = {key: CheckpointPolicy(timeout=9.0) for key in "abc"}
    harness = Harness(plan_of("a", ("b", "c"), policies=policies, run_timeout=99.0))
    harness.finish("a")
    b, c = harness.e("b"), harness.e("c")
    harness.send(RollBack("r", -1))
    a = harness.e("a")
    assert harness.last.effects == (
        StopExecution(b.id, 1),
        StopExecution(c.id, 1),
        MoveToErrored(b.id),
        MoveToErrored(c.id),
        ArchiveFiles("r"),
        CreateWorkspace(a.id),
        Dispatch(a.id, 1),
        ScheduleTimer(9.0, ExecutionTimedOut(a.id, 1)),
    )


# ---- workspaces ----------------------------------------------------------------------------------------
def test_a_workspace_is_dropped_when_an_execution_after_its_stage_starts() -> None:
    harness = Harness(plan_of(("a", "b"), "c", policies={"c": CheckpointPolicy(requires_start_approval=True)}))
    harness.finish("a")
    assert harness.effects(DeleteWorkspaces) == []
    harness.finish("b")
    assert (harness.states["c"], harness.effects(DeleteWorkspaces)) == ("AWAITING_START_APPROVAL", [])
    harness.answer("c", "approve")
    assert harness.effects(DeleteWorkspaces) == [DeleteWorkspaces((harness.e("a").id, harness.e("b").id))]
    assert [e.has_workspace for e in harness.run.current] == [False, False, True]


def test_a_workspace_is_dropped_once_even_when_a_form_follows() -> None:
    harness = Harness(plan_of("a", "b", policies={"b": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    harness.finish("a")
    assert harness.effects(DeleteWorkspaces) == [DeleteWorkspaces((harness.e("a").id,))]
    harness.answer("b", "answer")
    assert harness.effects(DeleteWorkspaces) == []


def test_the_last_workspace_is_dropped_when_the_run_ends() -> None:
    harness = Harness(plan_of(("a", "b")))
    harness.finish("a")
    harness.send(CancelRun())
    assert harness.effects(MoveToErrored) == [MoveToErrored(harness.e("b").id)]
    assert harness.effects(DeleteWorkspaces) == [DeleteWorkspaces((harness.e("a").id,))]


def test_the_workspace_of_an_execution_that_never_started_is_removed() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(requires_start_approval=True)}))
    harness.send(CancelRun())
    assert harness.last.effects == (DeleteWorkspaces((harness.e("a").id,)),)


def test_a_retried_execution_has_an_empty_workspace_that_is_dropped_like_any_other() -> None:
    harness = Harness(plan_of("a"))
    e = harness.e("a")
    harness.fail("a")
    assert harness.effects(MoveToErrored) == [MoveToErrored(e.id)]
    harness.send(RetryExecution(e.id, 1))
    assert harness.effects(CreateWorkspace) == [CreateWorkspace(e.id)]
    harness.finish("a")
    assert harness.last.effects == (PromoteArtifacts(e.id), DeleteWorkspaces((e.id,)))


def test_a_result_is_staged_only_if_there_is_one() -> None:
    harness = Harness(
        plan_of(("a", "b"), policies=dict.fromkeys("ab", CheckpointPolicy(requires_completion_approval=True)))
    )
    harness.send(ExecutionFinished(harness.e("a").id, 1, "x", (RESULT,)), "worker")
    assert harness.effects(StageArtifacts) == [StageArtifacts(harness.e("a").id)]
    harness.send(ExecutionFinished(harness.e("b").id, 1, "x"), "worker")
    assert (harness.effects(StageArtifacts), harness.event_types) == (
        [],
        ["execution_awaiting_completion_approval", "approval_requested"],
    )


def test_a_decision_does_not_change_the_run_before_it() -> None:
    harness = Harness(plan_of("a"))
    before, copy = harness.run, dict(harness.run.executions)
    decide(before, CancelRun(), CommandContext(BEGIN, "ann", UUID(int=9)))
    assert (before.status, dict(before.executions)) == (RunStatus.IN_PROGRESS, copy)
