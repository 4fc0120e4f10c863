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
from tests.core.harness import BROKEN, Harness, plan_of
from tests.mentions import mentions

BACK = CheckpointPolicy(on_failure=OnFailure.ROLLBACK_CHECKPOINT)


def rolled_back() -> Harness:
    """Return a completed run of three checkpoints, rolled back to the first."""
    harness = Harness(plan_of("a", "b", "c"))
    for key in "abc":
        harness.finish(key, f"{key}1")
    harness.send(RollBack("r", 0))
    return harness


def test_an_undo_restores_everything_and_cancels_newer_open_executions() -> None:
    harness = rolled_back()
    ended = harness.run.rollbacks[0].completed_before
    newer = harness.e("b")
    harness.send(UndoRollback("r"))
    assert (harness.run.status, harness.run.completed_at) == (RunStatus.COMPLETED, ended)
    assert [(e.key, e.state) for e in harness.run.current] == [
        ("a", ExecutionState.COMPLETED),
        ("b", ExecutionState.COMPLETED),
        ("c", ExecutionState.COMPLETED),
        ("b", ExecutionState.CANCELLED),
    ]
    assert harness.run.latest("b") == harness.run.current[1]
    assert harness.last.effects == (StopExecution(newer.id, 1), MoveToErrored(newer.id), RestoreFiles("r"))
    assert harness.event_detail(EventType.ROLLBACK_UNDONE) == {"from": "in_progress", "to": "completed"}
    assert harness.event_types.count("execution_restored") == 2
    assert harness.run.rollbacks[0].undone


def test_an_undo_is_refused_only_if_newer_work_has_completed() -> None:
    harness = rolled_back()
    harness.finish("b", "b2")
    error = harness.refuses(UndoRollback("r"))
    assert error.message == mentions()


def test_a_newer_failure_does_not_prevent_an_undo() -> None:
    harness = rolled_back()
    harness.fail("b")
    assert harness.run.status is RunStatus.PAUSED
    harness.send(UndoRollback("r"))
    assert (harness.run.status, harness.e("b").state) == (RunStatus.COMPLETED, ExecutionState.CANCELLED)


def test_a_repeated_undo_counts_once_and_an_unknown_one_is_refused() -> None:
    harness = rolled_back()
    harness.refuses(UndoRollback("nowhere"))
    harness.send(UndoRollback("r"))
    harness.refuses(UndoRollback("r"), AlreadyApplied)


def test_a_rollback_of_another_pass_cannot_be_undone() -> None:
    harness = rolled_back()
    harness.send(RestartRun(1))
    error = harness.refuses(UndoRollback("r"))
    assert error.message == mentions()


def test_later_rollbacks_by_people_are_undone_first() -> None:
    harness = rolled_back()
    harness.send(RollBack("s", -1))
    assert harness.refuses(UndoRollback("r")).suggestions == (mentions(),)
    harness.send(UndoRollback("s"))
    harness.send(UndoRollback("r"))
    assert harness.run.status is RunStatus.COMPLETED


def test_a_stopped_execution_is_restored_as_cancelled_and_replaced() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.finish("a")
    stopped = harness.e("b")
    harness.send(RollBack("r", 0))
    harness.send(UndoRollback("r"))
    assert harness.run.status is RunStatus.IN_PROGRESS
    assert harness.run.executions[stopped.id].state is ExecutionState.CANCELLED
    assert harness.all("b") == [ExecutionState.CANCELLED, ExecutionState.CANCELLED, ExecutionState.WORKING]


def test_a_restored_pause_takes_effect_when_nothing_is_working() -> None:
    harness = Harness(plan_of("a", "b", policies={"b": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}))
    harness.finish("a")
    harness.send(PauseRun())
    harness.send(RollBack("r", 0))
    harness.send(UndoRollback("r"))
    assert (harness.run.status, harness.run.paused_at) == (RunStatus.PAUSED, harness.at)


def test_a_restored_pause_waits_for_earlier_executions_at_work() -> None:
    plan = plan_of(
        ("a", "b"), "c", needs={"c": ("b",)}, policies={"a": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY)}
    )
    harness = Harness(plan)
    harness.finish("b")
    harness.send(PauseRun())
    harness.finish("c")
    harness.answer("a", "answer")
    assert (harness.run.status, harness.states["a"]) == (RunStatus.PAUSED, "READY")
    harness.send(RollBack("r", 1))
    assert harness.states["a"] == "WORKING"
    harness.send(UndoRollback("r"))
    assert (harness.run.status, harness.run.pause_requested) == (RunStatus.IN_PROGRESS, True)
    harness.finish("a")
    assert harness.run.status is RunStatus.COMPLETED


def test_earlier_executions_that_continued_keep_their_results() -> None:
    harness = Harness(plan_of(("a", "b"), "c", needs={"c": ("b",)}))
    harness.finish("b")
    harness.send(RollBack("r", 1))
    harness.finish("a")  # it started before the rollback, so nothing newer has completed
    harness.send(UndoRollback("r"))
    assert harness.run.latest("a") is not None


# ---- automatic rollbacks after failures ------------------------------------------------------------------
def test_undoing_an_automatic_rollback_restores_the_failed_execution() -> None:
    harness = Harness(plan_of("a", "b", policies={"b": BACK}))
    harness.finish("a")
    failed = harness.e("b")
    harness.fail("b")
    redo, (rollback,) = harness.e("b"), harness.run.rollbacks
    assert rollback == Rollback(
        rollback.id,
        rollback.created_count,
        1,
        RunStatus.IN_PROGRESS,
        0,
        (failed.id,),
        triggered_by=RollbackTrigger.CHECKPOINT_FAILURE,
    )
    harness.send(UndoRollback(rollback.id))
    assert [(e.id, e.state) for e in harness.run.current][1:] == [
        (failed.id, ExecutionState.FAILED),
        (redo.id, ExecutionState.CANCELLED),
    ]
    assert harness.last.effects == (DeleteWorkspaces((redo.id,)), RestoreFiles(rollback.id))
    assert harness.run.status is RunStatus.PAUSED  # only a failed execution is left
    harness.send(RetryExecution(failed.id, 1))
    assert harness.run.executions[failed.id].state is ExecutionState.WORKING
    assert harness.run.executions[failed.id].has_workspace


def test_undoing_an_earlier_rollback_undoes_later_automatic_ones() -> None:
    harness = Harness(plan_of("a", "b", policies={"b": BACK}))
    harness.finish("a")
    harness.finish("b", "b1")
    harness.send(RollBack("r", 0))
    harness.fail("b")
    (_, made_by_failure) = harness.run.rollbacks
    assert check_undo(harness.run, "r") == (made_by_failure, harness.run.rollbacks[0])
    harness.send(UndoRollback("r"))
    assert harness.run.status is RunStatus.COMPLETED
    assert harness.all("b") == [ExecutionState.COMPLETED, ExecutionState.CANCELLED, ExecutionState.CANCELLED]
    assert [r.undone for r in harness.run.rollbacks] == [True, True]
    assert harness.effects(RestoreFiles) == [RestoreFiles(made_by_failure.id), RestoreFiles("r")]


def test_the_requester_keeps_waiting_when_its_failed_rework_is_restored() -> None:
    harness = Harness(plan_of("a", "b", policies={"a": BACK}))
    harness.finish("a")
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    failed = harness.e("a")
    harness.send(ExecutionFailed(failed.id, 1, BROKEN), "worker")
    redo, (rollback,) = harness.e("a"), harness.run.rollbacks
    assert (redo.is_rework, redo.parent_execution, redo.state) == (True, harness.e("b").id, ExecutionState.PENDING)
    harness.send(UndoRollback(rollback.id))
    assert harness.run.executions[failed.id].state is ExecutionState.FAILED
    assert harness.e("b").waiting_on is WaitingOn.REWORK
    harness.send(RetryExecution(failed.id, 1))
    harness.send(ExecutionFinished(failed.id, 2, "a2"), "worker")
    assert harness.states["b"] == "WORKING"


def test_an_undo_cancels_newer_reworks_and_informs_their_requester() -> None:
    harness = Harness(plan_of("a", ("b", "c"), "d", needs={"d": ("c",)}))
    harness.finish("a")
    harness.finish("c")
    harness.send(RollBack("r", 2))
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    assert harness.e("b").waiting_on is WaitingOn.REWORK
    harness.send(UndoRollback("r"))
    assert harness.states["b"] == "WORKING"
    assert harness.e("a").state is ExecutionState.CANCELLED


def test_a_requester_held_by_a_restored_pause_is_recorded() -> None:
    """The run can only settle after its status is restored, and every state change needs an event."""
    form = CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, on_failure=OnFailure.ROLLBACK_CHECKPOINT)
    harness = Harness(
        plan_of("a", ("b", "c"), policies={"b": CheckpointPolicy(requires_completion_approval=True), "c": form})
    )
    harness.finish("a")
    harness.finish("b")
    harness.send(PauseRun())
    harness.answer("c", "decline")
    (rollback,) = harness.run.rollbacks
    assert rollback.status_before is RunStatus.PAUSED
    harness.send(ResumeRun())
    harness.answer("b", "revise")
    asker = harness.e("b")
    harness.send(ReworkRequested(asker.id, asker.dispatch, "a"), "worker")
    harness.send(UndoRollback(rollback.id))
    assert (harness.run.status, harness.run.executions[asker.id].state) == (RunStatus.PAUSED, ExecutionState.READY)
    assert [event.type for event in harness.last.events if event.execution == asker.id] == [
        EventType.REWORK_ENDED,
        EventType.EXECUTION_READY,
    ]


def test_undoing_a_rollback_clears_the_budget_message_with_its_pause() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.send(CancelRun())
    harness.send(RollBack("r", -1))
    e = harness.e("a")
    harness.send(BudgetReached(e.id, e.dispatch, "spent"), "worker")
    assert harness.run.over_budget == "spent"
    harness.send(UndoRollback("r"))
    assert (harness.run.status, harness.run.over_budget) == (RunStatus.CANCELLED, "")
