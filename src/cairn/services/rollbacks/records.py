"""The rows of a rollback: its record, and the items that it archived."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

import sqlalchemy as sa

from cairn.core.commands import CommandContext
from cairn.core.run import Rollback, Run
from cairn.core.states import RollbackTrigger
from cairn.services.engine.commit import Commit
from cairn.services.engine.file_plan import RollbackMoves
from cairn.store import CheckpointPlace, Connection, RunFacts
from cairn.store import tables as t


@dataclass(frozen=True, slots=True)
class ArchivedRun:
    """What one run lost."""

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
    given: CommandContext,
    source: RunFacts,
    target: ArchivedRun,
    others: Sequence[ArchivedRun] = (),
    *,
    kind: str = "checkpoint_level",
    reason: str = "",
) -> None:
    made = target.rollback(rollback_id)
    location = target.rollbacks[rollback_id].archive
    position = made.target if made.target is not None else -1
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
            "triggered_by": made.triggered_by.value,
            "user_reason": reason,
            "created_at": given.at,
            "created_by": given.by,
            "rolled_back_items": items(rollback_id, target, others),
            "undone_at": None,
            "files_done": False,
        },
    )
    rows = _rows(rollback_id, [one.rollbacks[rollback_id] for one in (target, *others)])
    if rows:
        connection.execute(sa.insert(t.archived_items), rows)


def items(rollback_id: str, target: ArchivedRun, others: Sequence[ArchivedRun]) -> dict[str, Any]:
    """The value of `rolled_back_items`."""
    gone = target.rollback(rollback_id).archived
    return {
        "deleted_runs": [{"run_id": o.facts.run_id, "run_version": o.facts.run_version} for o in others],
        "deleted_checkpoint_executions": [
            execution_item(target, one) for one in gone if one in target.before.executions
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
            for each in (target, *others)
            for moved in each.rollbacks[rollback_id].files
        ],
    }


def execution_item(of: ArchivedRun, execution: str) -> dict[str, Any]:
    e = of.before.executions[execution]
    place = of.places[e.key]
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

    for folder in (folder for one in moves for folder in one.folders):
        add(folder.item_type, folder.item_id, folder.original, folder.archived)
    for file in (file for one in moves for file in one.files):
        add("artifact", file.record_id, file.original, file.destination, file.size)
    return rows


@dataclass(frozen=True, slots=True)
class FailureRollbackWrite:
    """Save the rollback that a failed checkpoint has started, if any. It looks at every commit."""

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        before, after = commit.before.run, commit.after.run
        if before.rollbacks == after.rollbacks:
            return
        known = {r.id for r in before.rollbacks}
        for made in after.rollbacks:
            if made.id not in known and made.triggered_by is RollbackTrigger.CHECKPOINT_FAILURE:
                record(connection, made.id, commit.context, commit.before.facts, archived_run(commit))


def mark_synced(connection: Connection, rollbacks: Collection[str]) -> None:
    """Their folders have moved."""
    r = t.rollback_events
    connection.execute(sa.update(r).where(r.c.rollback_id.in_(rollbacks)).values(files_done=True))
