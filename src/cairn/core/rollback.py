"""Taking a run back to an earlier point, and undoing that."""

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


def what_goes(run: Run, target: int) -> tuple[Execution, ...]:
    """Everything above the target, what failed or was cancelled below it, and reworks asked for by what goes."""
    goes = {
        e.id for e in run.current if e.position > target or e.state in (ExecutionState.FAILED, ExecutionState.CANCELLED)
    }
    while more := {e.id for e in run.open if e.is_rework and e.parent_execution in goes} - goes:
        goes |= more
    return tuple(e for e in run.current if e.id in goes)


def check(run: Run, target: int, with_runs: bool = False) -> tuple[Execution, ...]:
    """What a rollback to this target would take away; refused where it is not possible."""
    if run.status is RunStatus.NOT_STARTED:
        raise CommandRefused("The run has not started: there is nothing to roll back.", ("start", "cancel"))
    done = sorted({e.position for e in run.current if e.state is ExecutionState.COMPLETED})
    if target not in (-1, *done):
        raise CommandRefused(
            f"Checkpoint {target} is not completed in this pass, so it cannot be the target.",
            tuple(f"roll back to {position}" for position in (-1, *done)),
        )
    goes = what_goes(run, target)
    if not goes and not with_runs and run.status is not RunStatus.CANCELLED:
        raise CommandRefused("Nothing stands after that checkpoint: there is nothing to take back.")
    return goes


def roll_back(d: Draft, c: RollBack) -> None:
    _refuse_repeated(d.run, c.rollback)
    goes, before = check(d.run, c.target, c.with_runs), d.run
    d.move_run(RunTransition.ROLL_BACK, c.reason)
    archived = tuple(e.id for e in goes)
    take_away(d, _record(before, c.rollback, c.target, archived), c.reason)
    for e in goes:
        notify_requester(d, e, "archived", c.reason)


def roll_back_failed(d: Draft, e: Execution) -> None:
    """`rollback_checkpoint`: the failed one alone goes, to the last completed below it."""
    below = [o.position for o in d.run.current if o.state is ExecutionState.COMPLETED and o.position < e.position]
    record = _record(d.run, d.new_id(), max(below, default=-1), (e.id,))
    take_away(d, replace(record, triggered_by=RollbackTrigger.CHECKPOINT_FAILURE), f"{e.key} failed")


def _refuse_repeated(run: Run, rollback: str) -> None:
    if any(r.id == rollback for r in run.rollbacks):
        raise AlreadyApplied("This rollback has been carried out already.")


def _record(run: Run, rollback: str, target: int | None, archived: tuple[str, ...] = ()) -> Rollback:
    """Of a rollback of the run as it still is."""
    ids = archived if target is not None else run.index.open
    stopped = tuple(taken for taken in ids if run.executions[taken].state in OPEN)
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


def take_away(d: Draft, record: Rollback, reason: str) -> None:
    for stopped in record.stopped:
        d.cancel(d.run.executions[stopped], "rolled back")
    d.delete_workspaces(tuple(d.run.executions[taken] for taken in record.archived))
    for e in _mark(d, record, record.id):
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


def _mark(d: Draft, record: Rollback, archived_by: str | None) -> tuple[Execution, ...]:
    """Put what the record names into the archive, or out of it."""
    marked = tuple(d.run.executions[taken].replace(archived_by=archived_by) for taken in record.archived)
    d.run = d.run.with_executions(*marked)
    return marked


def take_run_away(d: Draft, rollback: str) -> None:
    """The whole run is archived; what was open is stopped and comes back cancelled."""
    _refuse_repeated(d.run, rollback)
    if d.run.archived_by is not None:
        raise CommandRefused("The run is archived by another rollback already.")
    record = _record(d.run, rollback, None)
    d.cancel_open("rolled back")
    if d.run.status not in CLOSED:
        d.move_run(RunTransition.CANCEL, "rolled back")
    d.run = d.run.replace(archived_by=rollback, rollbacks=(*d.run.rollbacks, record))
    d.record(EventType.RUN_ARCHIVED, rollback=rollback)
    d.effects.append(ArchiveFiles(rollback))


# ---- undo ----------------------------------------------------------------------------------------
def check_undo(run: Run, rollback: str) -> tuple[Rollback, ...]:
    """The rollbacks to undo, the newest first: this one, and those that failures have made since."""
    record = next((r for r in run.rollbacks if r.id == rollback), None)
    if record is None:
        raise CommandRefused("This rollback took nothing from this run.")
    if record.undone:
        raise AlreadyApplied("This rollback has been undone already.")
    if record.pass_number != run.pass_number:
        raise CommandRefused("Another pass has begun since: this rollback can no longer be undone.")
    if any(e.state is ExecutionState.COMPLETED for e in newer(run, record)):
        raise CommandRefused("Newer work has been completed in its place: this rollback can no longer be undone.")
    since = tuple(r for r in run.rollbacks[run.rollbacks.index(record) + 1 :] if not r.undone)
    if any(r.triggered_by is RollbackTrigger.USER_REQUEST for r in since):
        raise CommandRefused("There are later rollbacks of this run: undo them first.", ("undo the last rollback",))
    return (*reversed(since), record)


def newer(run: Run, record: Rollback) -> tuple[Execution, ...]:
    return tuple(e for e in run.current if e.ordinal > record.created_count)


def undo(d: Draft, rollback: str) -> None:
    ended = [e for record in check_undo(d.run, rollback) for e in _put_back(d, record)]
    for e in ended:  # now that it is known whether the run goes on
        notify_requester(d, e, "cancelled", UNDONE)


def _put_back(d: Draft, record: Rollback) -> list[Execution]:
    """The answer is what is cancelled for it."""
    in_its_place = newer(d.run, record)
    ended: list[Execution] = []
    for e in _mark(d, record, None):
        d.record(EventType.EXECUTION_RESTORED, e, rollback=record.id, checkpoint=e.key)
    for e in in_its_place:
        if d.run.executions[e.id].state in LIVE:
            cancel_with_reworks(d, e, UNDONE)
            ended.append(e)
    if record.target is None:
        d.record(EventType.RUN_RESTORED, rollback=record.id)
    d.restore_run(record)
    standing = tuple(replace(r, undone=True) if r.id == record.id else r for r in d.run.rollbacks)
    d.run = d.run.replace(rollbacks=standing)
    d.effects.append(RestoreFiles(record.id))
    return ended
