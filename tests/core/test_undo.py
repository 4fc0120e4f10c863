"""Undoing a rollback within a run."""

from __future__ import annotations

from cairn.core.commands import (
    BudgetReached,
    CancelRun,
    ExecutionFailed,
    ExecutionFinished,
    PauseRun,
    RestartRun,
    ResumeRun,
    RetryExecution,
    ReworkRequested,
    RollBack,
    UndoRollback,
)
from cairn.core.effects import DeleteWorkspaces, MoveToErrored, RestoreFiles, StopExecution
from cairn.core.errors import AlreadyApplied
from cairn.core.events import EventType
from cairn.core.plan import CheckpointPolicy
from cairn.core.rollback import check_undo
from cairn.core.run import Rollback
from cairn.core.states import ExecutionMode, ExecutionState, OnFailure, RollbackTrigger, RunStatus, WaitingOn
from tests.core.desk import BROKEN, Desk, plan_of
from tests.mentions import mentions

BACK = CheckpointPolicy(on_failure=OnFailure.ROLLBACK_CHECKPOINT)


def rolled_back() -> Desk:
    """A completed run of three, back to its first checkpoint."""
    desk = Desk(plan_of("a", "b", "c"))
    for key in "abc":
        desk.finish(key, f"{key}1")
    desk.send(RollBack("r", 0))
    return desk


def test_an_undo_restores_everything_and_cancels_newer_open_executions() -> None:
    desk = rolled_back()
    ended = desk.run.rollbacks[0].completed_before
    newer = desk.e("b")
    desk.send(UndoRollback("r"))
    assert (desk.run.status, desk.run.completed_at) == (RunStatus.COMPLETED, ended)
    assert [(e.key, e.state) for e in desk.run.current] == [
        ("a", ExecutionState.COMPLETED),
        ("b", ExecutionState.COMPLETED),
        ("c", ExecutionState.COMPLETED),
        ("b", ExecutionState.CANCELLED),
    ]
    assert desk.run.latest("b") == desk.run.current[1]
    assert desk.last.effects == (StopExecution(newer.id, 1), MoveToErrored(newer.id), RestoreFiles("r"))
    assert desk.detail(EventType.ROLLBACK_UNDONE) == {"from": "in_progress", "to": "completed"}
    assert desk.told.count("execution_restored") == 2
    assert desk.run.rollbacks[0].undone


def test_an_undo_is_refused_only_if_newer_work_has_completed() -> None:
    desk = rolled_back()
    desk.finish("b", "b2")
    refused = desk.refuses(UndoRollback("r"))
    assert refused.message == mentions()


def test_a_newer_failure_does_not_prevent_an_undo() -> None:
    desk = rolled_back()
    desk.fail("b")
    assert desk.run.status is RunStatus.PAUSED
    desk.send(UndoRollback("r"))
    assert (desk.run.status, desk.e("b").state) == (RunStatus.COMPLETED, ExecutionState.CANCELLED)


def test_a_repeated_undo_counts_once_and_an_unknown_one_is_refused() -> None:
    desk = rolled_back()
    desk.refuses(UndoRollback("nowhere"))
    desk.send(UndoRollback("r"))
    desk.refuses(UndoRollback("r"), AlreadyApplied)


def test_a_rollback_of_another_pass_cannot_be_undone() -> None:
    desk = rolled_back()
    desk.send(RestartRun(1))
    refused = desk.refuses(UndoRollback("r"))
    assert refused.message == mentions()


def test_later_rollbacks_by_people_are_undone_first() -> None:
    desk = rolled_back()
    desk.send(RollBack("s", -1))
    assert desk.refuses(UndoRollback("r")).possible == (mentions(),)
    desk.send(UndoRollback("s"))
    desk.send(UndoRollback("r"))
    assert desk.run.status is RunStatus.COMPLETED


def test_a_stopped_execution_is_restored_as_cancelled_and_replaced() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.finish("a")
    stopped = desk.e("b")
    desk.send(RollBack("r", 0))
    desk.send(UndoRollback("r"))
    assert desk.run.status is RunStatus.IN_PROGRESS
    assert desk.run.executions[stopped.id].state is ExecutionState.CANCELLED
    assert desk.all("b") == [ExecutionState.CANCELLED, ExecutionState.CANCELLED, ExecutionState.WORKING]


def test_a_restored_pause_takes_effect_when_nothing_is_working() -> None:
    desk = Desk(plan_of("a", "b", policies={"b": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    desk.finish("a")
    desk.send(PauseRun())
    desk.send(RollBack("r", 0))
    desk.send(UndoRollback("r"))
    assert (desk.run.status, desk.run.paused_at) == (RunStatus.PAUSED, desk.at)


def test_a_restored_pause_waits_for_earlier_executions_at_work() -> None:
    plan = plan_of(
        ("a", "b"), "c", needs={"c": ("b",)}, policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}
    )
    desk = Desk(plan)
    desk.finish("b")
    desk.send(PauseRun())
    desk.finish("c")
    desk.answer("a", "answer")
    assert (desk.run.status, desk.states["a"]) == (RunStatus.PAUSED, "READY")
    desk.send(RollBack("r", 1))
    assert desk.states["a"] == "WORKING"
    desk.send(UndoRollback("r"))
    assert (desk.run.status, desk.run.pause_requested) == (RunStatus.IN_PROGRESS, True)
    desk.finish("a")
    assert desk.run.status is RunStatus.COMPLETED


def test_earlier_executions_that_continued_keep_their_results() -> None:
    desk = Desk(plan_of(("a", "b"), "c", needs={"c": ("b",)}))
    desk.finish("b")
    desk.send(RollBack("r", 1))
    desk.finish("a")  # older than the rollback, so nothing newer has completed
    desk.send(UndoRollback("r"))
    assert desk.run.latest("a") is not None


# ---- rollbacks that a failure made -----------------------------------------------------------------------
def test_undoing_an_automatic_rollback_restores_the_failed_execution() -> None:
    desk = Desk(plan_of("a", "b", policies={"b": BACK}))
    desk.finish("a")
    failed = desk.e("b")
    desk.fail("b")
    redo, (rollback,) = desk.e("b"), desk.run.rollbacks
    assert rollback == Rollback(
        rollback.id,
        rollback.made_at,
        1,
        RunStatus.IN_PROGRESS,
        0,
        (failed.id,),
        triggered_by=RollbackTrigger.CHECKPOINT_FAILURE,
    )
    desk.send(UndoRollback(rollback.id))
    assert [(e.id, e.state) for e in desk.run.current][1:] == [
        (failed.id, ExecutionState.FAILED),
        (redo.id, ExecutionState.CANCELLED),
    ]
    assert desk.last.effects == (DeleteWorkspaces((redo.id,)), RestoreFiles(rollback.id))
    assert desk.run.status is RunStatus.PAUSED  # only a failed one is left
    desk.send(RetryExecution(failed.id, 1))
    assert desk.run.executions[failed.id].state is ExecutionState.WORKING
    assert desk.run.executions[failed.id].has_workspace


def test_undoing_an_earlier_rollback_undoes_later_automatic_ones() -> None:
    desk = Desk(plan_of("a", "b", policies={"b": BACK}))
    desk.finish("a")
    desk.finish("b", "b1")
    desk.send(RollBack("r", 0))
    desk.fail("b")
    (_, made_by_failure) = desk.run.rollbacks
    assert check_undo(desk.run, "r") == (made_by_failure, desk.run.rollbacks[0])
    desk.send(UndoRollback("r"))
    assert desk.run.status is RunStatus.COMPLETED
    assert desk.all("b") == [ExecutionState.COMPLETED, ExecutionState.CANCELLED, ExecutionState.CANCELLED]
    assert [r.undone for r in desk.run.rollbacks] == [True, True]
    assert desk.did(RestoreFiles) == [RestoreFiles(made_by_failure.id), RestoreFiles("r")]


def test_the_requester_keeps_waiting_when_its_failed_rework_is_restored() -> None:
    desk = Desk(plan_of("a", "b", policies={"a": BACK}))
    desk.finish("a")
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    failed = desk.e("a")
    desk.send(ExecutionFailed(failed.id, 1, BROKEN), "worker")
    redo, (rollback,) = desk.e("a"), desk.run.rollbacks
    assert (redo.is_rework, redo.asked_by, redo.state) == (True, desk.e("b").id, ExecutionState.PENDING)
    desk.send(UndoRollback(rollback.id))
    assert desk.run.executions[failed.id].state is ExecutionState.FAILED
    assert desk.e("b").waiting_on is WaitingOn.REWORK
    desk.send(RetryExecution(failed.id, 1))
    desk.send(ExecutionFinished(failed.id, 2, "a2"), "worker")
    assert desk.states["b"] == "WORKING"


def test_an_undo_cancels_newer_reworks_and_informs_their_requester() -> None:
    desk = Desk(plan_of("a", ("b", "c"), "d", needs={"d": ("c",)}))
    desk.finish("a")
    desk.finish("c")
    desk.send(RollBack("r", 2))
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    assert desk.e("b").waiting_on is WaitingOn.REWORK
    desk.send(UndoRollback("r"))
    assert desk.states["b"] == "WORKING"
    assert desk.e("a").state is ExecutionState.CANCELLED


def test_a_requester_held_by_a_restored_pause_is_recorded() -> None:
    """Whether the run goes on is known only when its status is back: no state changes without a line of the trail."""
    form = CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, on_failure=OnFailure.ROLLBACK_CHECKPOINT)
    desk = Desk(plan_of("a", ("b", "c"), policies={"b": CheckpointPolicy(ask_completion=True), "c": form}))
    desk.finish("a")
    desk.finish("b")
    desk.send(PauseRun())
    desk.answer("c", "decline")
    (rollback,) = desk.run.rollbacks
    assert rollback.status_before is RunStatus.PAUSED
    desk.send(ResumeRun())
    desk.answer("b", "revise")
    asker = desk.e("b")
    desk.send(ReworkRequested(asker.id, asker.dispatch, "a"), "worker")
    desk.send(UndoRollback(rollback.id))
    assert (desk.run.status, desk.run.executions[asker.id].state) == (RunStatus.PAUSED, ExecutionState.READY)
    assert [event.type for event in desk.last.events if event.execution == asker.id] == [
        EventType.REWORK_TOLD,
        EventType.EXECUTION_READY,
    ]


def test_what_the_budget_said_goes_with_the_pause_it_was_for() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.send(CancelRun())
    desk.send(RollBack("r", -1))
    e = desk.e("a")
    desk.send(BudgetReached(e.id, e.dispatch, "spent"), "worker")
    assert desk.run.over_budget == "spent"
    desk.send(UndoRollback("r"))
    assert (desk.run.status, desk.run.over_budget) == (RunStatus.CANCELLED, "")
