"""Late reports, the order of effects, and file effects."""

from __future__ import annotations

from uuid import UUID

import pytest

from cairn.core.commands import (
    ActionProposed,
    Blocked,
    BudgetReached,
    CancelRun,
    Command,
    Failed,
    Finished,
    Given,
    InputWanted,
    Interrupted,
    Invalid,
    LimitReached,
    OutcomeUnknown,
    RestartRun,
    RetryExecution,
    ReworkWanted,
    RollBack,
    TimedOut,
)
from cairn.core.decide import decide
from cairn.core.effects import (
    Archive,
    Dispatch,
    DropWorkspaces,
    MakeWorkspace,
    MoveToErrored,
    Promote,
    SendLater,
    Stage,
    Stop,
)
from cairn.core.errors import Stale
from cairn.core.plan import Policy
from cairn.core.states import Mode, RunStatus, WaitingOn
from tests.core.desk import ACTION, BEGIN, BROKEN, RESULT, Desk, plan_of


def reports(execution: str, dispatch: int) -> list[Command]:
    return [
        Finished(execution, dispatch, "x"),
        Failed(execution, dispatch, BROKEN),
        Invalid(execution, dispatch, "x"),
        InputWanted(execution, dispatch, WaitingOn.QUESTION),
        ActionProposed(execution, dispatch, "x", ACTION),
        OutcomeUnknown(execution, dispatch),
        ReworkWanted(execution, dispatch, "a"),
        Blocked(execution, dispatch),
        LimitReached(execution, dispatch),
        BudgetReached(execution, dispatch, "spent"),
        Interrupted(execution, dispatch),
        TimedOut(execution, dispatch),
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
            desk.send(InputWanted(e.id, 1, WaitingOn.QUESTION), "worker")
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
        desk.refuses(report, Stale)


@pytest.mark.parametrize("number", range(9))
def test_every_report_ends_its_own_dispatch_only(number: int) -> None:
    desk = Desk(plan_of("a"))
    e = desk.e("a")
    report = reports(e.id, 1)[number]
    desk.send(report, "worker")
    stops = desk.did(Stop)
    assert stops == ([Stop(e.id, 1)] if isinstance(report, Interrupted) else [])
    for late in reports(e.id, 1):
        desk.refuses(late, Stale)


def test_effects_come_as_stop_files_dispatch_timers() -> None:
    policies = {key: Policy(timeout=9.0) for key in "abc"}
    desk = Desk(plan_of("a", ("b", "c"), policies=policies, run_timeout=99.0))
    desk.finish("a")
    b, c = desk.e("b"), desk.e("c")
    desk.send(RollBack("r", -1))
    a = desk.e("a")
    assert desk.last.effects == (
        Stop(b.id, 1),
        Stop(c.id, 1),
        MoveToErrored(b.id),
        MoveToErrored(c.id),
        Archive("r"),
        MakeWorkspace(a.id),
        Dispatch(a.id, 1),
        SendLater(9.0, TimedOut(a.id, 1)),
    )


# ---- workspaces ----------------------------------------------------------------------------------------
def test_a_workspace_is_dropped_when_an_execution_after_its_stage_starts() -> None:
    desk = Desk(plan_of(("a", "b"), "c", policies={"c": Policy(ask_start=True)}))
    desk.finish("a")
    assert desk.did(DropWorkspaces) == []
    desk.finish("b")
    assert (desk.states["c"], desk.did(DropWorkspaces)) == ("START_ASKED", [])
    desk.answer("c", "approve")
    assert desk.did(DropWorkspaces) == [DropWorkspaces((desk.e("a").id, desk.e("b").id))]
    assert [e.has_workspace for e in desk.run.current] == [False, False, True]


def test_a_workspace_is_dropped_once_even_when_a_form_follows() -> None:
    desk = Desk(plan_of("a", "b", policies={"b": Policy(mode=Mode.HUMAN_ONLY)}))
    desk.finish("a")
    assert desk.did(DropWorkspaces) == [DropWorkspaces((desk.e("a").id,))]
    desk.answer("b", "answer")
    assert desk.did(DropWorkspaces) == []


def test_the_last_workspace_is_dropped_when_the_run_ends() -> None:
    desk = Desk(plan_of(("a", "b")))
    desk.finish("a")
    desk.send(CancelRun())
    assert desk.did(MoveToErrored) == [MoveToErrored(desk.e("b").id)]
    assert desk.did(DropWorkspaces) == [DropWorkspaces((desk.e("a").id,))]


def test_the_workspace_of_an_execution_that_never_started_is_removed() -> None:
    desk = Desk(plan_of("a", policies={"a": Policy(ask_start=True)}))
    desk.send(CancelRun())
    assert desk.last.effects == (DropWorkspaces((desk.e("a").id,)),)


def test_a_retried_execution_has_an_empty_workspace_that_is_dropped_like_any_other() -> None:
    desk = Desk(plan_of("a"))
    e = desk.e("a")
    desk.fail("a")
    assert desk.did(MoveToErrored) == [MoveToErrored(e.id)]
    desk.send(RetryExecution(e.id, 1))
    assert desk.did(MakeWorkspace) == [MakeWorkspace(e.id)]
    desk.finish("a")
    assert desk.last.effects == (Promote(e.id), DropWorkspaces((e.id,)))


def test_a_result_is_staged_only_if_there_is_one() -> None:
    desk = Desk(plan_of(("a", "b"), policies=dict.fromkeys("ab", Policy(ask_completion=True))))
    desk.send(Finished(desk.e("a").id, 1, "x", (RESULT,)), "worker")
    assert desk.did(Stage) == [Stage(desk.e("a").id)]
    desk.send(Finished(desk.e("b").id, 1, "x"), "worker")
    assert (desk.did(Stage), desk.told) == ([], ["execution_completion_asked", "approval_asked"])


def test_a_decision_leaves_the_run_it_was_given_as_it_was() -> None:
    desk = Desk(plan_of("a"))
    before, copy = desk.run, dict(desk.run.executions)
    decide(before, CancelRun(), Given(BEGIN, "ann", UUID(int=9)))
    assert (before.status, dict(before.executions)) == (RunStatus.IN_PROGRESS, copy)
