"""Rollbacks within a run, and the archiving of runs by a rollback to an earlier one."""

from __future__ import annotations

import pytest

from cairn.core.commands import (
    ArchiveRun,
    CancelRun,
    ExecutionFinished,
    InputRequested,
    PauseRun,
    RestartRun,
    ResumeRun,
    RetryExecution,
    RollBack,
    RunTimedOut,
    StartExecution,
    StartRun,
    UndoRollback,
)
from cairn.core.effects import ArchiveFiles, CreateWorkspace, DeleteWorkspaces, Dispatch, MoveToErrored, StopExecution
from cairn.core.errors import AlreadyApplied, CommandRefused, StaleCommand
from cairn.core.events import EventType
from cairn.core.plan import CheckpointPolicy
from cairn.core.rollback import check, check_undo
from cairn.core.run import Rollback
from cairn.core.states import (
    ApprovalStatus,
    ExecutionMode,
    ExecutionState,
    OnFailure,
    RollbackTrigger,
    RunStatus,
    WaitingOn,
)
from tests.core.desk import Desk, plan_of
from tests.mentions import mentions


def completed(*keys: str) -> Desk:
    desk = Desk(plan_of(*keys))
    for key in keys:
        desk.finish(key, f"{key}1")
    assert desk.run.status is RunStatus.COMPLETED
    return desk


def test_everything_after_the_target_is_archived_and_the_run_continues() -> None:
    desk = completed("a", "b", "c")
    ended, b, c = desk.run.completed_at, desk.e("b"), desk.e("c")
    made = desk.run.issued
    desk.send(RollBack("r", 0, reason="redo"))
    assert (desk.run.status, desk.states) == (RunStatus.IN_PROGRESS, {"a": "COMPLETED", "b": "WORKING"})
    assert desk.run.rollbacks == (Rollback("r", made, 1, RunStatus.COMPLETED, 0, (b.id, c.id), completed_before=ended),)
    assert [desk.run.executions[e.id] for e in (b, c)] == [e.changed(archived_by="r") for e in (b, c)]
    assert desk.last.effects == (ArchiveFiles("r"), CreateWorkspace(desk.e("b").id), Dispatch(desk.e("b").id, 1))
    assert desk.detail(EventType.ROLLBACK_MADE) == {
        "target": 0,
        "triggered_by": "user_request",
        "executions": [b.id, c.id],
        "reason": "redo",
    }
    assert desk.run.completed_at is None


def test_the_beginning_is_a_rollback_target() -> None:
    desk = completed("a", "b")
    desk.send(RollBack("r", -1))
    assert desk.states == {"a": "WORKING"}


def test_auto_advance_applies_after_a_rollback() -> None:
    desk = Desk(plan_of("a", "b", auto_advance=False))
    desk.finish("a")
    desk.send(StartExecution(desk.e("b").id))
    desk.finish("b")
    desk.send(RollBack("r", 0))
    assert desk.states == {"a": "COMPLETED", "b": "PENDING"}
    desk.send(RollBack("s", -1))
    assert desk.states == {"a": "PENDING"}


def test_a_rollback_target_must_be_completed() -> None:
    desk = Desk(plan_of("a", "b", "c"))
    desk.finish("a")
    refused = desk.refuses(RollBack("r", 1))
    assert refused.message == mentions("1")
    assert refused.possible == (mentions("-1"), mentions("0"))
    desk.refuses(RollBack("r", -2))


def test_later_open_executions_are_stopped_and_earlier_ones_continue() -> None:
    plan = plan_of(
        ("a", "b"),
        "c",
        "d",
        needs={"c": ("b",), "d": ("b",)},
        policies={"d": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)},
    )
    desk = Desk(plan)
    desk.finish("b")
    assert desk.states == {"a": "WORKING", "b": "COMPLETED", "c": "WORKING", "d": "WAITING"}
    c, d, form = desk.e("c"), desk.e("d"), desk.asked("d")
    desk.send(RollBack("r", 1))
    assert desk.states == {"a": "WORKING", "b": "COMPLETED", "c": "WORKING", "d": "WAITING"}
    assert desk.last.effects[:4] == (
        StopExecution(c.id, 1),
        MoveToErrored(c.id),
        MoveToErrored(d.id),
        ArchiveFiles("r"),
    )
    assert desk.run.rollbacks[0].stopped == (c.id, d.id)
    assert desk.run.approvals[form.id].status is ApprovalStatus.WITHDRAWN
    assert desk.e("a").dispatch == 1


@pytest.mark.parametrize("status", ["paused", "failed", "cancelled", "completed"])
def test_the_run_is_in_progress_again_from_any_status(status: str) -> None:
    policies = {
        "b": CheckpointPolicy(on_failure=OnFailure.FAIL_RUN if status == "failed" else OnFailure.PAUSE_PIPELINE)
    }
    desk = Desk(plan_of("a", "b", policies=policies))
    desk.finish("a")
    if status == "completed":
        desk.finish("b")
    elif status == "cancelled":
        desk.send(CancelRun())
    else:
        desk.fail("b")
    assert desk.run.status.value == status
    desk.send(RollBack("r", 0))
    assert (desk.run.status, desk.states) == (RunStatus.IN_PROGRESS, {"a": "COMPLETED", "b": "WORKING"})
    assert desk.run.rollbacks[0].status_before.value == status


def test_failed_and_cancelled_executions_up_to_the_target_are_archived_too() -> None:
    desk = Desk(plan_of(("a", "b"), "c", needs={"c": ("b",)}))
    desk.finish("b")
    desk.fail("a")
    failed = desk.e("a")
    desk.finish("c")
    assert desk.run.status is RunStatus.PAUSED
    desk.send(RollBack("r", 2))
    assert desk.run.rollbacks[0].archived == (failed.id,)
    assert desk.states == {"b": "COMPLETED", "c": "COMPLETED", "a": "WORKING"}


def test_a_rollback_with_nothing_to_archive_is_refused() -> None:
    desk = completed("a", "b")
    refused = desk.refuses(RollBack("r", 1))
    assert refused.message == mentions()
    desk = Desk(plan_of("a"), started=False)
    assert desk.refuses(RollBack("r", -1)).possible == ("start", "cancel")


def test_a_cancelled_run_is_reopened_by_a_rollback_to_its_end() -> None:
    desk = Desk(plan_of("a", "b", policies={"b": CheckpointPolicy(ask_start=True)}, auto_advance=False))
    desk.finish("a")
    desk.send(PauseRun())
    desk.send(CancelRun())
    desk.send(RollBack("r", 0))
    desk.send(CancelRun())
    desk.send(RollBack("s", 0))
    assert (desk.run.status, desk.states) == (RunStatus.IN_PROGRESS, {"a": "COMPLETED", "b": "START_ASKED"})


def test_a_repeated_rollback_counts_once() -> None:
    desk = completed("a", "b")
    desk.send(RollBack("r", 0))
    desk.refuses(RollBack("r", 0), AlreadyApplied)
    desk.refuses(ArchiveRun("r"), AlreadyApplied)


def test_a_rollback_stays_in_the_pass() -> None:
    desk = completed("a", "b")
    desk.send(RestartRun(1))
    desk.refuses(RollBack("r", 0))
    desk.finish("a")
    desk.send(RollBack("r", -1))
    assert [e.pass_number for e in desk.run.executions.values() if e.archived_by] == [2, 2]


def test_the_effect_of_a_rollback_can_be_previewed() -> None:
    desk = completed("a", "b", "c")
    assert [e.key for e in check(desk.run, 0)] == ["b", "c"]
    assert [e.key for e in check(desk.run, -1)] == ["a", "b", "c"]
    assert check(desk.run, 2, with_runs=True) == ()
    with pytest.raises(CommandRefused):
        check(desk.run, 2)


def test_archived_executions_leave_no_workspace() -> None:
    desk = Desk(plan_of("a", "b", auto_advance=False))
    desk.finish("a")
    a, b = desk.e("a"), desk.e("b")
    desk.send(RollBack("r", -1))
    assert desk.last.effects == (
        DeleteWorkspaces((b.id,)),
        DeleteWorkspaces((a.id,)),
        ArchiveFiles("r"),
        CreateWorkspace(desk.e("a").id),
    )


def test_a_pause_that_was_asked_for_is_withdrawn_by_a_rollback() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.finish("a")
    desk.send(PauseRun())
    desk.send(RollBack("r", 0))
    assert (desk.run.pause_requested, desk.states) == (False, {"a": "COMPLETED", "b": "WORKING"})
    assert desk.detail(EventType.PAUSE_WITHDRAWN) == {"reason": "roll back"}


# ---- the whole run, as part of a rollback to an earlier one --------------------------------------------
def test_a_run_is_archived_as_a_whole() -> None:
    desk = Desk(plan_of("a", ("b", "c")))
    desk.finish("a")
    desk.send(InputRequested(desk.e("c").id, 1, WaitingOn.QUESTION), "worker")
    a, b, c = desk.e("a"), desk.e("b"), desk.e("c")
    made = desk.run.issued
    desk.send(ArchiveRun("r"))
    assert (desk.run.status, desk.run.archived_by) == (RunStatus.CANCELLED, "r")
    assert desk.run.rollbacks == (Rollback("r", made, 1, RunStatus.IN_PROGRESS, None, (), (b.id, c.id)),)
    assert [e.state for e in desk.run.current] == [
        ExecutionState.COMPLETED,
        ExecutionState.CANCELLED,
        ExecutionState.CANCELLED,
    ]
    assert desk.last.effects == (
        StopExecution(b.id, 1),
        MoveToErrored(b.id),
        MoveToErrored(c.id),
        ArchiveFiles("r"),
    )
    assert not desk.e("a").has_workspace
    assert a.has_workspace is False  # it went when the next stage began
    assert desk.run.pending == ()
    assert desk.run.working_since is None


def test_an_archived_run_takes_no_commands() -> None:
    desk = Desk(plan_of("a"))
    e = desk.e("a")
    desk.send(ArchiveRun("r"))
    for command in (
        ResumeRun(),
        RollBack("s", -1),
        ExecutionFinished(e.id, 1, "d"),
        RetryExecution(e.id, 1),
        RunTimedOut(1),
        UndoRollback("s"),
    ):
        error = CommandRefused if isinstance(command, UndoRollback) else StaleCommand
        desk.refuses(command, error)
    desk.refuses(ArchiveRun("r"), AlreadyApplied)
    desk.refuses(ArchiveRun("s"))


@pytest.mark.parametrize("status", ["not_started", "paused", "completed", "failed", "cancelled"])
def test_a_run_of_any_status_is_archived_and_restored_with_its_status(status: str) -> None:
    policies = {"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, on_failure=OnFailure.FAIL_RUN)}
    desk = Desk(plan_of("a", policies=policies), started=False)
    if status != "not_started":
        desk.send(StartRun())
    match status:
        case "paused":
            desk.send(PauseRun())
        case "completed":
            desk.answer("a", "answer")
            desk.finish("a")
        case "failed":
            desk.answer("a", "decline")
        case "cancelled":
            desk.send(CancelRun())
        case _:
            pass
    before = desk.run
    assert before.status.value == status
    desk.send(ArchiveRun("r"))
    closed = desk.run.status
    assert closed.value == (status if status in ("completed", "failed") else "cancelled")
    desk.send(UndoRollback("r"))
    assert (desk.run.status, desk.run.archived_by) == (before.status, None)
    assert (desk.run.completed_at, desk.run.started_at) == (before.completed_at, before.started_at)
    assert desk.told[:2] == ["run_restored", "rollback_undone"]
    desk.refuses(UndoRollback("r"), AlreadyApplied)


def test_executions_stopped_with_a_run_are_restored_as_cancelled_and_replaced() -> None:
    desk = Desk(plan_of("a"))
    desk.send(ArchiveRun("r"))
    desk.send(UndoRollback("r"))
    assert desk.all("a") == [ExecutionState.CANCELLED, ExecutionState.WORKING]


def test_the_target_run_can_stay_unchanged_when_later_runs_are_archived() -> None:
    desk = completed("a")
    desk.refuses(RollBack("r", 0))
    desk.send(RollBack("r", 0, with_runs=True))
    assert (desk.run.status, desk.run.rollbacks[0].archived) == (RunStatus.COMPLETED, ())
    assert desk.told == ["run_reopened", "rollback_made", "run_completed"]
    desk.send(UndoRollback("r"))
    assert desk.run.status is RunStatus.COMPLETED


def test_an_earlier_rollback_can_be_undone_only_after_the_run_is_restored() -> None:
    desk = completed("a", "b")
    desk.send(RollBack("one", 0))
    desk.send(ArchiveRun("two"))
    desk.refuses(UndoRollback("one"))
    desk.send(UndoRollback("two"))
    desk.send(UndoRollback("one"))
    assert desk.run.status is RunStatus.COMPLETED
    assert all(r.triggered_by is RollbackTrigger.USER_REQUEST and r.undone for r in desk.run.rollbacks)
    with pytest.raises(AlreadyApplied):
        check_undo(desk.run, "one")
