"""Taking a run back to an earlier point, and undoing that (R1)."""

from __future__ import annotations

from dataclasses import replace

from cairn.core.draft import Draft
from cairn.core.errors import Refused, Repeated
from cairn.core.messages import Archive, EventType, Unarchive
from cairn.core.model import LIVE, OPEN, Execution, Rollback, RollbackTrigger, Run, RunStatus, State
from cairn.core.moves import RunVerb
from cairn.core.rework import cancel_with_reworks, tell_asker

ENDS = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})


def what_goes(run: Run, target: int) -> tuple[Execution, ...]:
    """Everything above the target, what failed or was cancelled below it, and reworks asked for by what goes."""
    goes = {e.id for e in run.current if e.position > target or e.state in (State.FAILED, State.CANCELLED)}
    while more := {e.id for e in run.current if e.is_rework and e.state in OPEN and e.asked_by in goes} - goes:
        goes |= more
    return tuple(e for e in run.current if e.id in goes)


def check(run: Run, target: int, with_runs: bool) -> tuple[Execution, ...]:
    """What a rollback to this target would take away; refused where it is not possible."""
    if run.status is RunStatus.NOT_STARTED:
        raise Refused("The run has not started: there is nothing to roll back.", ("start", "cancel"))
    if target != -1 and not any(e.position == target and e.state is State.COMPLETED for e in run.current):
        done = sorted({e.position for e in run.current if e.state is State.COMPLETED})
        raise Refused(
            f"Checkpoint {target} is not completed in this pass, so it cannot be the target.",
            tuple(f"roll back to {position}" for position in [-1, *done]),
        )
    goes = what_goes(run, target)
    if not goes and not with_runs and run.status is not RunStatus.CANCELLED:
        raise Refused("Nothing stands after that checkpoint: there is nothing to take back.")
    return goes


def roll_back(d: Draft, rollback: str, target: int, with_runs: bool) -> None:
    refuse_repeated(d.run, rollback)
    goes = check(d.run, target, with_runs)
    before = d.run.status
    d.move_run(RunVerb.ROLL_BACK, pause_requested=False)
    take_away(d, rollback, target, goes, RollbackTrigger.USER_REQUEST, before)


def refuse_repeated(run: Run, rollback: str) -> None:
    if any(r.id == rollback for r in run.rollbacks):
        raise Repeated("This rollback has been carried out already.")


def take_away(
    d: Draft,
    rollback: str,
    target: int,
    goes: tuple[Execution, ...],
    triggered_by: RollbackTrigger,
    before: RunStatus | None = None,
) -> None:
    before = before or d.run.status
    stopped = tuple(e.id for e in goes if d.run.executions[e.id].state in OPEN)
    for e in goes:
        if d.run.executions[e.id].state in OPEN:
            d.cancel(e, "rolled back")
        d.drop_workspaces((d.run.executions[e.id],))
        archived = d.put(replace(d.run.executions[e.id], archived_by=rollback))
        d.tell(EventType.EXECUTION_ARCHIVED, execution=archived, rollback=rollback, checkpoint=e.key)
    record = Rollback(
        rollback,
        d.run.issued,
        d.run.pass_number,
        before,
        target,
        tuple(e.id for e in goes),
        stopped,
        triggered_by,
    )
    d.run = replace(d.run, rollbacks=(*d.run.rollbacks, record))
    d.tell(
        EventType.ROLLBACK_MADE,
        rollback=rollback,
        target=target,
        triggered_by=triggered_by.value,
        executions=list(record.archived),
    )
    d.effects.append(Archive(rollback))
    if triggered_by is RollbackTrigger.USER_REQUEST:
        for e in goes:
            tell_asker(d, e, "archived")


def take_run_away(d: Draft, rollback: str) -> None:
    """The whole run is archived; what was open is stopped and comes back cancelled."""
    refuse_repeated(d.run, rollback)
    before, stopped = d.run.status, tuple(e.id for e in d.run.open)
    for e in d.run.open:
        d.cancel(e, "rolled back")
    if before not in ENDS:
        d.move_run(RunVerb.CANCEL, pause_requested=False)
    d.drop_workspaces(d.run.current)
    record = Rollback(rollback, d.run.issued, d.run.pass_number, before, None, (), stopped)
    d.run = replace(d.run, archived_by=rollback, rollbacks=(*d.run.rollbacks, record))
    d.tell(EventType.RUN_ARCHIVED, rollback=rollback)
    d.effects.append(Archive(rollback))


def check_undo(run: Run, rollback: str) -> Rollback:
    record = next((r for r in run.rollbacks if r.id == rollback), None)
    if record is None:
        raise Refused("This rollback took nothing from this run.")
    if record.undone:
        raise Repeated("This rollback has been undone already.")
    standing = [r for r in run.rollbacks if not r.undone]
    if standing[-1].id != rollback:
        raise Refused("Only the last rollback of a run can be undone; undo the later ones first.")
    if record.pass_number != run.pass_number:
        raise Refused("Another pass has begun since: this rollback can no longer be undone.")
    if any(e.state is State.COMPLETED for e in newer(run, record)):
        raise Refused("Newer work has been completed in its place: this rollback can no longer be undone.")
    return record


def newer(run: Run, record: Rollback) -> tuple[Execution, ...]:
    return tuple(e for e in run.current if e.ordinal > record.made_at)


def undo(d: Draft, rollback: str) -> None:
    record = check_undo(d.run, rollback)
    for e in newer(d.run, record):
        if d.run.executions[e.id].state in LIVE:
            cancel_with_reworks(d, e, "the rollback was undone")
            tell_asker(d, e, "cancelled")
    for id in record.archived:
        restored = d.put(replace(d.run.executions[id], archived_by=None))
        d.tell(EventType.EXECUTION_RESTORED, execution=restored, rollback=rollback, checkpoint=restored.key)
    paused = record.status_before is RunStatus.PAUSED  # lower ones may be at work again: pause when they are done
    d.run = replace(
        d.run,
        status=RunStatus.IN_PROGRESS if paused else record.status_before,
        pause_requested=paused,
        archived_by=None if record.target is None else d.run.archived_by,
        completed_at=d.given.at if record.status_before in ENDS else None,
        rollbacks=tuple(replace(r, undone=True) if r.id == rollback else r for r in d.run.rollbacks),
    )
    if record.target is None:
        d.tell(EventType.RUN_RESTORED, rollback=rollback, to=record.status_before.value)
    d.tell(EventType.ROLLBACK_UNDONE, rollback=rollback, to=record.status_before.value)
    d.effects.append(Unarchive(rollback))
