"""Roll a run back to an earlier checkpoint, and undo that."""

from __future__ import annotations

from dataclasses import replace

from cairn.core.commands import RollBack
from cairn.core.draft import Draft
from cairn.core.effects import ArchiveFiles, RestoreFiles
from cairn.core.errors import AlreadyApplied, CommandRefused
from cairn.core.events import EventType
from cairn.core.execution import Execution
from cairn.core.rework import cancel_with_reworks, notify_requester
from cairn.core.run import Rollback, Run
from cairn.core.states import CLOSED, LIVE, OPEN, ExecutionState, RollbackTrigger, RunStatus
from cairn.core.transitions import RunTransition

UNDONE = "the rollback was undone"
HELD = "the rollback was asked to hold the run"


def executions_to_archive(run: Run, target: int) -> tuple[Execution, ...]:
    """Executions after the target, failed and cancelled ones before it, and the reworks that any of these requested."""
    ids = {
        e.id for e in run.current if e.position > target or e.state in (ExecutionState.FAILED, ExecutionState.CANCELLED)
    }
    while more := {e.id for e in run.open if e.is_rework and e.parent_execution in ids} - ids:
        ids |= more
    return tuple(e for e in run.current if e.id in ids)


def check(run: Run, target: int, with_runs: bool = False) -> tuple[Execution, ...]:
    """The executions that a rollback to this target would archive. Raises CommandRefused if it is not possible."""
    if run.status is RunStatus.NOT_STARTED:
        raise CommandRefused("The run hasn't started. There is nothing to roll back.", ("start", "cancel"))
    done = sorted({e.position for e in run.current if e.state is ExecutionState.COMPLETED})
    if target not in (-1, *done):
        raise CommandRefused(
            f"Checkpoint {target} is not completed in this pass. You can't roll back to it.",
            tuple(f"roll back to {position}" for position in (-1, *done)),
        )
    archived = executions_to_archive(run, target)
    if not archived and not with_runs and run.status is not RunStatus.CANCELLED:
        raise CommandRefused("There is nothing to roll back after that checkpoint.")
    return archived


def roll_back(d: Draft, c: RollBack) -> None:
    _refuse_repeated(d.run, c.rollback)
    executions, before = check(d.run, c.target, c.with_runs), d.run
    d.move_run(RunTransition.ROLL_BACK, c.reason)
    archived = tuple(e.id for e in executions)
    _archive(d, _record(before, c.rollback, c.target, archived), c.reason)
    for e in executions:
        notify_requester(d, e, "archived", c.reason)
    if c.hold:
        d.request_pause(HELD)


def roll_back_failed(d: Draft, e: Execution) -> None:
    """`rollback_checkpoint`: archive only the failed execution. The target is the last completed one before it."""
    before = [o.position for o in d.run.current if o.state is ExecutionState.COMPLETED and o.position < e.position]
    record = _record(d.run, d.new_id(), max(before, default=-1), (e.id,))
    _archive(d, replace(record, triggered_by=RollbackTrigger.CHECKPOINT_FAILURE), f"{e.key} failed")


def _refuse_repeated(run: Run, rollback: str) -> None:
    if any(r.id == rollback for r in run.rollbacks):
        raise AlreadyApplied("This rollback has already been carried out.")


def _record(run: Run, rollback: str, target: int | None, archived: tuple[str, ...] = ()) -> Rollback:
    """The record of a rollback, from the run before it."""
    ids = archived if target is not None else run.index.open
    stopped = tuple(execution for execution in ids if run.executions[execution].state in OPEN)
    return Rollback(
        rollback,
        run.created_count,
        run.pass_number,
        run.status,
        target,
        archived,
        stopped,
        completed_before=run.completed_at,
    )


def _archive(d: Draft, record: Rollback, reason: str) -> None:
    for stopped in record.stopped:
        d.cancel(d.run.executions[stopped], "rolled back")
    d.delete_workspaces(tuple(d.run.executions[execution] for execution in record.archived))
    for e in _set_archived_by(d, record, record.id):
        d.record(EventType.EXECUTION_ARCHIVED, e, rollback=record.id, checkpoint=e.key)
    d.run = d.run.replace(rollbacks=(*d.run.rollbacks, record))
    d.record(
        EventType.ROLLBACK_INITIATED,
        rollback=record.id,
        target=record.target,
        triggered_by=record.triggered_by.value,
        executions=list(record.archived),
        reason=reason,
    )
    d.effects.append(ArchiveFiles(record.id))


def _set_archived_by(d: Draft, record: Rollback, archived_by: str | None) -> tuple[Execution, ...]:
    """Set `archived_by` of the executions of the record, or clear it."""
    changed = tuple(d.run.executions[execution].replace(archived_by=archived_by) for execution in record.archived)
    d.run = d.run.with_executions(*changed)
    return changed


def archive_run(d: Draft, rollback: str) -> None:
    """Archive the whole run. Open executions are cancelled, and an undo leaves them cancelled."""
    _refuse_repeated(d.run, rollback)
    if d.run.archived_by is not None:
        raise CommandRefused("Another rollback has already archived this run.")
    record = _record(d.run, rollback, None)
    d.cancel_open("rolled back")
    if d.run.status not in CLOSED:
        d.move_run(RunTransition.CANCEL, "rolled back")
    d.run = d.run.replace(archived_by=rollback, rollbacks=(*d.run.rollbacks, record))
    d.record(EventType.RUN_ARCHIVED, rollback=rollback)
    d.effects.append(ArchiveFiles(rollback))


def check_undo(run: Run, rollback: str) -> tuple[Rollback, ...]:
    """The rollbacks to undo, newest first: this one, and later ones caused by failures."""
    record = next((r for r in run.rollbacks if r.id == rollback), None)
    if record is None:
        raise CommandRefused("This rollback archived nothing in this run.")
    if record.undone:
        raise AlreadyApplied("This rollback has already been undone.")
    if record.pass_number != run.pass_number:
        raise CommandRefused("Another pass has started since. You can't undo this rollback anymore.")
    if any(e.state is ExecutionState.COMPLETED for e in newer(run, record)):
        raise CommandRefused("Newer work has been completed since. You can't undo this rollback anymore.")
    since = tuple(r for r in run.rollbacks[run.rollbacks.index(record) + 1 :] if not r.undone)
    if any(r.triggered_by is RollbackTrigger.USER_REQUEST for r in since):
        raise CommandRefused("There are later rollbacks of this run. Undo them first.", ("undo the last rollback",))
    return (*reversed(since), record)


def newer(run: Run, record: Rollback) -> tuple[Execution, ...]:
    return tuple(e for e in run.current if e.ordinal > record.created_count)


def undo(d: Draft, rollback: str) -> None:
    cancelled = [e for record in check_undo(d.run, rollback) for e in _restore(d, record)]
    for e in cancelled:  # only now is the status of the run restored
        notify_requester(d, e, "cancelled", UNDONE)


def _restore(d: Draft, record: Rollback) -> list[Execution]:
    """Undo one rollback. Returns the newer executions that it cancels."""
    replacing = newer(d.run, record)
    cancelled: list[Execution] = []
    for e in _set_archived_by(d, record, None):
        d.record(EventType.EXECUTION_RESTORED, e, rollback=record.id, checkpoint=e.key)
    for e in replacing:
        if d.run.executions[e.id].state in LIVE:
            cancel_with_reworks(d, e, UNDONE)
            cancelled.append(e)
    if record.target is None:
        d.record(EventType.RUN_RESTORED, rollback=record.id)
    d.restore_run(record)
    rollbacks = tuple(replace(r, undone=True) if r.id == record.id else r for r in d.run.rollbacks)
    d.run = d.run.replace(rollbacks=rollbacks)
    d.effects.append(RestoreFiles(record.id))
    return cancelled
