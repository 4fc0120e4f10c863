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
from tests.core.harness import Harness, plan_of
from tests.mentions import mentions


def completed(*keys: str) -> Harness:
    harness = Harness(plan_of(*keys))
    for key in keys:
        harness.finish(key, f"{key}1")
    assert harness.run.status is RunStatus.COMPLETED
    return harness


def test_everything_after_the_target_is_archived_and_the_run_continues() -> None:
    harness = completed("a", "b", "c")
    ended, b, c = harness.run.completed_at, harness.e("b"), harness.e("c")
    created_count = harness.run.created_count
    harness.send(RollBack("r", 0, reason="redo"))
    assert (harness.run.status, harness.states) == (RunStatus.IN_PROGRESS, {"a": "COMPLETED", "b": "WORKING"})
    assert harness.run.rollbacks == (
        Rollback("r", created_count, 1, RunStatus.COMPLETED, 0, (b.id, c.id), completed_before=ended),
    )
    assert [harness.run.executions[e.id] for e in (b, c)] == [e.replace(archived_by="r") for e in (b, c)]
    assert harness.last.effects == (
        ArchiveFiles("r"),
        CreateWorkspace(harness.e("b").id),
        Dispatch(harness.e("b").id, 1),
    )
    assert harness.event_detail(EventType.ROLLBACK_INITIATED) == {
        "target": 0,
        "triggered_by": "user_request",
        "executions": [b.id, c.id],
        "reason": "redo",
    }
    assert harness.run.completed_at is None


def test_the_start_of_a_run_is_a_rollback_target() -> None:
    harness = completed("a", "b")
    harness.send(RollBack("r", -1))
    assert harness.states == {"a": "WORKING"}


def test_auto_advance_applies_after_a_rollback() -> None:
    harness = Harness(plan_of("a", "b", auto_advance=False))
    harness.finish("a")
    harness.send(StartExecution(harness.e("b").id))
    harness.finish("b")
    harness.send(RollBack("r", 0))
    assert harness.states == {"a": "COMPLETED", "b": "PENDING"}
    harness.send(RollBack("s", -1))
    assert harness.states == {"a": "PENDING"}


def test_a_rollback_target_must_be_completed() -> None:
    harness = Harness(plan_of("a", "b", "c"))
    harness.finish("a")
    error = harness.refuses(RollBack("r", 1))
    assert error.message == mentions("1")
    assert error.suggestions == (mentions("-1"), mentions("0"))
    harness.refuses(RollBack("r", -2))


def test_later_open_executions_are_stopped_and_earlier_ones_continue() -> None:
    plan = plan_of(
        ("a", "b"),
        "c",
        "d",
        needs={"c": ("b",), "d": ("b",)},
        policies={"d": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)},
    )
    harness = Harness(plan)
    harness.finish("b")
    assert harness.states == {"a": "WORKING", "b": "COMPLETED", "c": "WORKING", "d": "WAITING"}
    c, d, form = harness.e("c"), harness.e("d"), harness.pending_approval("d")
    harness.send(RollBack("r", 1))
    assert harness.states == {"a": "WORKING", "b": "COMPLETED", "c": "WORKING", "d": "WAITING"}
    assert harness.last.effects[:4] == (
        StopExecution(c.id, 1),
        MoveToErrored(c.id),
        MoveToErrored(d.id),
        ArchiveFiles("r"),
    )
    assert harness.run.rollbacks[0].stopped == (c.id, d.id)
    assert harness.run.approvals[form.id].status is ApprovalStatus.WITHDRAWN
    assert harness.e("a").dispatch == 1


@pytest.mark.parametrize("status", ["paused", "failed", "cancelled", "completed"])
def test_the_run_is_in_progress_again_from_any_status(status: str) -> None:
    policies = {
        "b": CheckpointPolicy(on_failure=OnFailure.FAIL_RUN if status == "failed" else OnFailure.PAUSE_PIPELINE)
    }
    harness = Harness(plan_of("a", "b", policies=policies))
    harness.finish("a")
    if status == "completed":
        harness.finish("b")
    elif status == "cancelled":
        harness.send(CancelRun())
    else:
        harness.fail("b")
    assert harness.run.status.value == status
    harness.send(RollBack("r", 0))
    assert (harness.run.status, harness.states) == (RunStatus.IN_PROGRESS, {"a": "COMPLETED", "b": "WORKING"})
    assert harness.run.rollbacks[0].status_before.value == status


def test_failed_and_cancelled_executions_up_to_the_target_are_archived_too() -> None:
    harness = Harness(plan_of(("a", "b"), "c", needs={"c": ("b",)}))
    harness.finish("b")
    harness.fail("a")
    failed = harness.e("a")
    harness.finish("c")
    assert harness.run.status is RunStatus.PAUSED
    harness.send(RollBack("r", 2))
    assert harness.run.rollbacks[0].archived == (failed.id,)
    assert harness.states == {"b": "COMPLETED", "c": "COMPLETED", "a": "WORKING"}


def test_a_rollback_with_nothing_to_archive_is_refused() -> None:
    harness = completed("a", "b")
    error = harness.refuses(RollBack("r", 1))
    assert error.message == mentions()
    harness = Harness(plan_of("a"), started=False)
    assert harness.refuses(RollBack("r", -1)).suggestions == ("start", "cancel")


def test_a_cancelled_run_is_reopened_by_a_rollback_to_its_end() -> None:
    harness = Harness(
        plan_of("a", "b", policies={"b": CheckpointPolicy(requires_start_approval=True)}, auto_advance=False)
    )
    harness.finish("a")
    harness.send(PauseRun())
    harness.send(CancelRun())
    harness.send(RollBack("r", 0))
    harness.send(CancelRun())
    harness.send(RollBack("s", 0))
    assert (harness.run.status, harness.states) == (
        RunStatus.IN_PROGRESS,
        {"a": "COMPLETED", "b": "AWAITING_START_APPROVAL"},
    )


def test_a_repeated_rollback_counts_once() -> None:
    harness = completed("a", "b")
    harness.send(RollBack("r", 0))
    harness.refuses(RollBack("r", 0), AlreadyApplied)
    harness.refuses(ArchiveRun("r"), AlreadyApplied)


def test_a_rollback_stays_in_the_pass() -> None:
    harness = completed("a", "b")
    harness.send(RestartRun(1))
    harness.refuses(RollBack("r", 0))
    harness.finish("a")
    harness.send(RollBack("r", -1))
    assert [e.pass_number for e in harness.run.executions.values() if e.archived_by] == [2, 2]


def test_the_effect_of_a_rollback_can_be_previewed() -> None:
    harness = completed("a", "b", "c")
    assert [e.key for e in check(harness.run, 0)] == ["b", "c"]
    assert [e.key for e in check(harness.run, -1)] == ["a", "b", "c"]
    assert check(harness.run, 2, with_runs=True) == ()
    with pytest.raises(CommandRefused):
        check(harness.run, 2)


def test_archived_executions_leave_no_workspace() -> None:
    harness = Harness(plan_of("a", "b", auto_advance=False))
    harness.finish("a")
    a, b = harness.e("a"), harness.e("b")
    harness.send(RollBack("r", -1))
    assert harness.last.effects == (
        DeleteWorkspaces((b.id,)),
        DeleteWorkspaces((a.id,)),
        ArchiveFiles("r"),
        CreateWorkspace(harness.e("a").id),
    )


def test_a_rollback_cancels_a_requested_pause() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.finish("a")
    harness.send(PauseRun())
    harness.send(RollBack("r", 0))
    assert (harness.run.pause_requested, harness.states) == (False, {"a": "COMPLETED", "b": "WORKING"})
    assert harness.event_detail(EventType.PAUSE_CANCELLED) == {"reason": "roll back"}


# ---- archived by a rollback to an earlier run ----------------------------------------------------------
def test_all_executions_of_a_run_are_archived() -> None:
    harness = Harness(plan_of("a", ("b", "c")))
    harness.finish("a")
    harness.send(InputRequested(harness.e("c").id, 1, WaitingOn.QUESTION), "worker")
    a, b, c = harness.e("a"), harness.e("b"), harness.e("c")
    created_count = harness.run.created_count
    harness.send(ArchiveRun("r"))
    assert (harness.run.status, harness.run.archived_by) == (RunStatus.CANCELLED, "r")
    assert harness.run.rollbacks == (Rollback("r", created_count, 1, RunStatus.IN_PROGRESS, None, (), (b.id, c.id)),)
    assert [e.state for e in harness.run.current] == [
        ExecutionState.COMPLETED,
        ExecutionState.CANCELLED,
        ExecutionState.CANCELLED,
    ]
    assert harness.last.effects == (
        StopExecution(b.id, 1),
        MoveToErrored(b.id),
        MoveToErrored(c.id),
        ArchiveFiles("r"),
    )
    assert not harness.e("a").has_workspace
    assert a.has_workspace is False  # it was deleted when the next stage started
    assert harness.run.pending == ()
    assert harness.run.active_since is None


def test_an_archived_run_takes_no_commands() -> None:
    harness = Harness(plan_of("a"))
    e = harness.e("a")
    harness.send(ArchiveRun("r"))
    for command in (
        ResumeRun(),
        RollBack("s", -1),
        ExecutionFinished(e.id, 1, "d"),
        RetryExecution(e.id, 1),
        RunTimedOut(1),
        UndoRollback("s"),
    ):
        error = CommandRefused if isinstance(command, UndoRollback) else StaleCommand
        harness.refuses(command, error)
    harness.refuses(ArchiveRun("r"), AlreadyApplied)
    harness.refuses(ArchiveRun("s"))


@pytest.mark.parametrize("status", ["not_started", "paused", "completed", "failed", "cancelled"])
def test_a_run_of_any_status_is_archived_and_restored_with_its_status(status: str) -> None:
    policies = {"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, on_failure=OnFailure.FAIL_RUN)}
    harness = Harness(plan_of("a", policies=policies), started=False)
    if status != "not_started":
        harness.send(StartRun())
    match status:
        case "paused":
            harness.send(PauseRun())
        case "completed":
            harness.answer("a", "answer")
            harness.finish("a")
        case "failed":
            harness.answer("a", "decline")
        case "cancelled":
            harness.send(CancelRun())
        case _:
            pass
    before = harness.run
    assert before.status.value == status
    harness.send(ArchiveRun("r"))
    closed = harness.run.status
    assert closed.value == (status if status in ("completed", "failed") else "cancelled")
    harness.send(UndoRollback("r"))
    assert (harness.run.status, harness.run.archived_by) == (before.status, None)
    assert (harness.run.completed_at, harness.run.started_at) == (before.completed_at, before.started_at)
    assert harness.event_types[:2] == ["run_restored", "rollback_undone"]
    harness.refuses(UndoRollback("r"), AlreadyApplied)


def test_executions_stopped_with_a_run_are_restored_as_cancelled_and_replaced() -> None:
    harness = Harness(plan_of("a"))
    harness.send(ArchiveRun("r"))
    harness.send(UndoRollback("r"))
    assert harness.all("a") == [ExecutionState.CANCELLED, ExecutionState.WORKING]


def test_the_target_run_can_stay_unchanged_when_later_runs_are_archived() -> None:
    harness = completed("a")
    harness.refuses(RollBack("r", 0))
    harness.send(RollBack("r", 0, with_runs=True))
    assert (harness.run.status, harness.run.rollbacks[0].archived) == (RunStatus.COMPLETED, ())
    assert harness.event_types == ["run_reopened", "rollback_initiated", "run_completed"]
    harness.send(UndoRollback("r"))
    assert harness.run.status is RunStatus.COMPLETED


def test_an_earlier_rollback_can_be_undone_only_after_the_run_is_restored() -> None:
    harness = completed("a", "b")
    harness.send(RollBack("one", 0))
    harness.send(ArchiveRun("two"))
    harness.refuses(UndoRollback("one"))
    harness.send(UndoRollback("two"))
    harness.send(UndoRollback("one"))
    assert harness.run.status is RunStatus.COMPLETED
    assert all(r.triggered_by is RollbackTrigger.USER_REQUEST and r.undone for r in harness.run.rollbacks)
    with pytest.raises(AlreadyApplied):
        check_undo(harness.run, "one")
