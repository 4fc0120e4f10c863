"""Late reports, the order of effects, and file effects."""

from __future__ import annotations

from uuid import UUID

import pytest

from cairn.core.commands import (
    ActionOutcomeUnknown,
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
from cairn.core.states import ExecutionMode, RunStatus, WaitingOn
from tests.core.desk import ACTION, BEGIN, BROKEN, RESULT, Desk, plan_of


def reports(execution: str, dispatch: int) -> list[Command]:
    return [
        ExecutionFinished(execution, dispatch, "x"),
        ExecutionFailed(execution, dispatch, BROKEN),
        ResultInvalid(execution, dispatch, "x"),
        InputRequested(execution, dispatch, WaitingOn.QUESTION),
        ActionProposed(execution, dispatch, "x", ACTION),
        ActionOutcomeUnknown(execution, dispatch),
        ReworkRequested(execution, dispatch, "a"),
        ExecutionBlocked(execution, dispatch),
        IterationLimitReached(execution, dispatch),
        BudgetReached(execution, dispatch, "spent"),
        ExecutionInterrupted(execution, dispatch),
        ExecutionTimedOut(execution, dispatch),
    ]


@pytest.mark.parametrize("after", ["finished", "waiting", "cancelled", "rolled back", "restarted", "unknown", "early"])
def test_a_late_report_changes_nothing(after: str) -> None:
    desk = Desk(plan_of("a", "b"))
    e = desk.e("a")
    execution, dispatch = e.id, 1
    match after:
        case "finished":
            desk.finish("a")
        case "waiting":
            desk.send(InputRequested(e.id, 1, WaitingOn.QUESTION), "worker")
        case "cancelled":
            desk.send(CancelRun())
        case "rolled back":
            desk.send(RollBack("r", -1))
        case "restarted":
            desk.send(RestartRun(1))
        case "unknown":
            execution = "nowhere"
        case _:
            dispatch = 2
    for report in reports(execution, dispatch):
        desk.refuses(report, StaleCommand)


@pytest.mark.parametrize("number", range(9))
def test_every_report_ends_its_own_dispatch_only(number: int) -> None:
    desk = Desk(plan_of("a"))
    e = desk.e("a")
    report = reports(e.id, 1)[number]
    desk.send(report, "worker")
    stops = desk.did(StopExecution)
    assert stops == ([StopExecution(e.id, 1)] if isinstance(report, ExecutionInterrupted) else [])
    for late in reports(e.id, 1):
        desk.refuses(late, StaleCommand)


def test_effects_come_as_stop_files_dispatch_timers() -> None:
    policies = {key: CheckpointPolicy(timeout=9.0) for key in "abc"}
    desk = Desk(plan_of("a", ("b", "c"), policies=policies, run_timeout=99.0))
    desk.finish("a")
    b, c = desk.e("b"), desk.e("c")
    desk.send(RollBack("r", -1))
    a = desk.e("a")
    assert desk.last.effects == (
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
    desk = Desk(plan_of(("a", "b"), "c", policies={"c": CheckpointPolicy(ask_start=True)}))
    desk.finish("a")
    assert desk.did(DeleteWorkspaces) == []
    desk.finish("b")
    assert (desk.states["c"], desk.did(DeleteWorkspaces)) == ("START_ASKED", [])
    desk.answer("c", "approve")
    assert desk.did(DeleteWorkspaces) == [DeleteWorkspaces((desk.e("a").id, desk.e("b").id))]
    assert [e.has_workspace for e in desk.run.current] == [False, False, True]


def test_a_workspace_is_dropped_once_even_when_a_form_follows() -> None:
    desk = Desk(plan_of("a", "b", policies={"b": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    desk.finish("a")
    assert desk.did(DeleteWorkspaces) == [DeleteWorkspaces((desk.e("a").id,))]
    desk.answer("b", "answer")
    assert desk.did(DeleteWorkspaces) == []


def test_the_last_workspace_is_dropped_when_the_run_ends() -> None:
    desk = Desk(plan_of(("a", "b")))
    desk.finish("a")
    desk.send(CancelRun())
    assert desk.did(MoveToErrored) == [MoveToErrored(desk.e("b").id)]
    assert desk.did(DeleteWorkspaces) == [DeleteWorkspaces((desk.e("a").id,))]


def test_the_workspace_of_an_execution_that_never_started_is_removed() -> None:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_start=True)}))
    desk.send(CancelRun())
    assert desk.last.effects == (DeleteWorkspaces((desk.e("a").id,)),)


def test_a_retried_execution_has_an_empty_workspace_that_is_dropped_like_any_other() -> None:
    desk = Desk(plan_of("a"))
    e = desk.e("a")
    desk.fail("a")
    assert desk.did(MoveToErrored) == [MoveToErrored(e.id)]
    desk.send(RetryExecution(e.id, 1))
    assert desk.did(CreateWorkspace) == [CreateWorkspace(e.id)]
    desk.finish("a")
    assert desk.last.effects == (PromoteArtifacts(e.id), DeleteWorkspaces((e.id,)))


def test_a_result_is_staged_only_if_there_is_one() -> None:
    desk = Desk(plan_of(("a", "b"), policies=dict.fromkeys("ab", CheckpointPolicy(ask_completion=True))))
    desk.send(ExecutionFinished(desk.e("a").id, 1, "x", (RESULT,)), "worker")
    assert desk.did(StageArtifacts) == [StageArtifacts(desk.e("a").id)]
    desk.send(ExecutionFinished(desk.e("b").id, 1, "x"), "worker")
    assert (desk.did(StageArtifacts), desk.told) == ([], ["execution_completion_asked", "approval_asked"])


def test_a_decision_leaves_the_run_it_was_given_as_it_was() -> None:
    desk = Desk(plan_of("a"))
    before, copy = desk.run, dict(desk.run.executions)
    decide(before, CancelRun(), CommandContext(BEGIN, "ann", UUID(int=9)))
    assert (before.status, dict(before.executions)) == (RunStatus.IN_PROGRESS, copy)
