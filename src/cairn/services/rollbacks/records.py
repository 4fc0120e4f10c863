"""Save rollbacks and their archived items, and read what a rollback needs in its transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

import sqlalchemy as sa

from cairn.core.commands import CommandContext
from cairn.core.errors import AlreadyApplied, CommandRefused
from cairn.core.run import Rollback, Run
from cairn.core.states import ExecutionState, RollbackTrigger
from cairn.services.engine.commit import Commit
from cairn.services.engine.file_plan import RollbackMoves
from cairn.services.errors import Gone
from cairn.store import CheckpointPlace, Connection, RunFacts
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.pipelines import OPEN
from cairn.store.runs.run_rows import Row

_B, _R = t.rollback_events.c, t.pipeline_runs.c


@dataclass(frozen=True, slots=True)
class ArchivedRun:
    """A run before and after a rollback."""

    facts: RunFacts
    before: Run
    after: Run
    places: Mapping[str, CheckpointPlace]  # by key
    rollbacks: Mapping[str, RollbackMoves]

    def rollback(self, id: str) -> Rollback:
        return next(r for r in self.after.rollbacks if r.id == id)


def archived_run(commit: Commit) -> ArchivedRun:
    before, after = commit.before, commit.decision.run
    return ArchivedRun(before.facts, before.run, after, before.places, commit.file_plan.rollbacks)


def record(
    connection: Connection,
    rollback_id: str,
    context: CommandContext,
    source: RunFacts,
    target: ArchivedRun,
    others: Sequence[ArchivedRun] = (),
    *,
    kind: str = "checkpoint_level",
    reason: str = "",
) -> None:
    rollback = target.rollback(rollback_id)
    location = target.rollbacks[rollback_id].archive
    position = rollback.target if rollback.target is not None else -1
    at_target = [target.places[c.key].checkpoint_id for c in target.after.plan.checkpoints if c.position == position]
    connection.execute(
        sa.insert(t.rollback_events),
        {
            "rollback_id": rollback_id,
            "pipeline_id": source.pipeline_id,
            "rollback_type": kind,
            "source_run_id": source.run_id,
            "source_run_version": source.run_version,
            "target_run_id": target.facts.run_id,
            "target_run_version": target.facts.run_version,
            "target_checkpoint_id": at_target[0] if at_target else None,
            "target_checkpoint_position": position,
            "archive_location": f"{location}/",
            "triggered_by": rollback.triggered_by.value,
            "user_reason": reason,
            "created_at": context.at,
            "created_by": context.by,
            "rolled_back_items": items(rollback_id, target, others),
            "undone_at": None,
            "files_synced": False,
        },
    )
    rows = _rows(rollback_id, [run.rollbacks[rollback_id] for run in (target, *others)])
    if rows:
        connection.execute(sa.insert(t.archived_items), rows)


def items(rollback_id: str, target: ArchivedRun, others: Sequence[ArchivedRun]) -> dict[str, Any]:
    """The value of `rolled_back_items`."""
    archived = target.rollback(rollback_id).archived
    return {
        "deleted_runs": [{"run_id": o.facts.run_id, "run_version": o.facts.run_version} for o in others],
        "deleted_checkpoint_executions": [
            execution_item(target, execution) for execution in archived if execution in target.before.executions
        ],
        "archived_artifacts": [
            {
                "artifact_id": moved.artifact_id,
                "artifact_record_id": moved.record_id,
                "artifact_name": moved.name,
                "original_path": moved.original,
                "archived_path": moved.destination,
                "size_bytes": moved.size,
            }
            for run in (target, *others)
            for moved in run.rollbacks[rollback_id].files
        ],
    }


def execution_item(run: ArchivedRun, execution: str) -> dict[str, Any]:
    e = run.before.executions[execution]
    place = run.places[e.key]
    return {
        "execution_id": e.id,
        "checkpoint_id": place.checkpoint_id,
        "checkpoint_name": place.name,
        "checkpoint_position": e.position,
        "status": e.status.value,
    }


def _rows(rollback_id: str, moves: Sequence[RollbackMoves]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(kind: str, id: str, original: str, archived: str, size: int = 0) -> None:
        rows.append(
            {
                "archive_item_id": str(uuid5(UUID(rollback_id), f"{kind}:{id}")),
                "rollback_id": rollback_id,
                "item_type": kind,
                "item_id": id,
                "original_path": original,
                "archived_path": archived,
                "size_bytes": size,
            }
        )

    for folder in (folder for run_moves in moves for folder in run_moves.folders):
        add(folder.item_type, folder.item_id, folder.original, folder.archived)
    for file in (file for run_moves in moves for file in run_moves.files):
        add("artifact", file.record_id, file.original, file.destination, file.size)
    return rows


@dataclass(frozen=True, slots=True)
class FailureRollbackWrite:
    """Save the rollback that a failed checkpoint started, if any. Called for every commit."""

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        before, after = commit.before.run, commit.after.run
        if before.rollbacks == after.rollbacks:
            return
        known = {r.id for r in before.rollbacks}
        for rollback in after.rollbacks:
            if rollback.id not in known and rollback.triggered_by is RollbackTrigger.CHECKPOINT_FAILURE:
                record(connection, rollback.id, commit.context, commit.before.facts, archived_run(commit))


def mark_synced(connection: Connection, rollbacks: Collection[str]) -> None:
    """Record that the folders of these rollbacks have moved."""
    r = t.rollback_events
    connection.execute(sa.update(r).where(r.c.rollback_id.in_(rollbacks)).values(files_synced=True))


# Reads for planning a rollback or an undo, repeated in its transaction.
def check_is_new(connection: Connection, rollback_id: str) -> None:
    if connection.execute(sa.select(_B.rollback_id).where(_B.rollback_id == rollback_id)).first() is not None:
        raise AlreadyApplied("This rollback has already been done.")


def later_runs(connection: Connection, target: RunFacts) -> list[str]:
    """Runs of the same definition version that a rollback to `target` archives, oldest first."""
    query = sa.select(_R.run_id).where(
        _R.pipeline_id == target.pipeline_id,
        _R.pipeline_definition_version == target.definition_version,
        _R.archived_by.is_(None),
        _R.run_version > target.run_version,
    )
    return list(connection.execute(query.order_by(_R.run_version)).scalars())


def pipeline_of(connection: Connection, rollback_id: str) -> str:
    query = sa.select(_B.pipeline_id).where(_B.rollback_id == rollback_id)
    pipeline_id = connection.execute(query).scalar_one_or_none()
    if pipeline_id is None:
        raise NotFound("rollback", rollback_id)
    return pipeline_id


def find_undoable(connection: Connection, rollback_id: str) -> Row:
    row = connection.execute(sa.select(t.rollback_events).where(_B.rollback_id == rollback_id)).one_or_none()
    if row is None:
        raise NotFound("rollback", rollback_id)
    if row.undone_at is not None:
        raise AlreadyApplied("This rollback has already been undone.")
    if not row.archive_location:
        raise Gone("The archive of this rollback was deleted when its retention ended. You can't undo it anymore.")
    return row


def archived_runs(connection: Connection, rollback_id: str) -> list[str]:
    """Runs that the rollback archived."""
    i = t.archived_items.c
    query = sa.select(i.item_id).where(i.rollback_id == rollback_id, i.item_type == "run")
    return list(connection.execute(query).scalars())


def newer_open_runs(connection: Connection, rollback: Row, own: Sequence[str]) -> list[str]:
    """Open runs created after a run-level rollback. Raises CommandRefused if a newer run has completed work."""
    if rollback.rollback_type != "run_level":
        return []
    query = sa.select(_R.run_id, _R.run_version, _R.status).where(
        _R.pipeline_id == rollback.pipeline_id,
        _R.created_at > rollback.created_at,
        _R.archived_by.is_(None),
        _R.run_version.is_not(None),
        _R.run_id.not_in(own),
    )
    newer = connection.execute(query.order_by(_R.run_version)).all()
    for run in newer:
        if _has_completed_work(connection, run.run_id):
            raise CommandRefused(f"v{run.run_version} has completed work since. You can't undo this rollback anymore.")
    return [run.run_id for run in newer if run.status in OPEN]


def _has_completed_work(connection: Connection, run_id: str) -> bool:
    e = t.checkpoint_executions.c
    query = sa.select(e.execution_id).where(
        e.run_id == run_id, e.state == ExecutionState.COMPLETED.value, e.archived_by.is_(None)
    )
    return connection.execute(query.limit(1)).first() is not None


def mark_undone(connection: Connection, rollbacks: Collection[str], at: datetime) -> None:
    """Mark rollbacks as undone. Their folders have not moved back yet."""
    connection.execute(
        sa.update(t.rollback_events).where(_B.rollback_id.in_(rollbacks)).values(undone_at=at, files_synced=False)
    )
