"""Stored pipelines and every revision of their definitions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from cairn.core.states import RunStatus
from cairn.documents import digest
from cairn.store import tables as t
from cairn.store.column_types import Text
from cairn.store.errors import LostRace, NotFound
from cairn.store.events.chain import GENESIS
from cairn.store.plans import Document
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.scripts import write_scripts
from cairn.store.tables import checkpoint_definitions, definition_revisions, pipeline_runs, pipelines

_SECTIONS = ("dependencies", "inputs", "execution", "human_interaction", "output", "instructions")


def insert_pipeline(
    connection: sa.Connection, document: Document, author: str, at: datetime, comment: str = ""
) -> None:
    """Create a pipeline from its definition in the full form."""
    connection.execute(
        sa.insert(pipelines).values(
            **_columns(document),
            pipeline_id=document["pipeline_id"],
            revision=1,
            last_run_version=0,
            created_at=at,
            updated_at=at,
            created_by=author,
            deleted_at=None,
            archive_location=None,
            event_seq=0,
            event_head=GENESIS,
        )
    )
    _write_definition(connection, document, 1, author, at, comment)


def save_revision(
    connection: sa.Connection, document: Document, author: str, at: datetime, *, expected: int, comment: str = ""
) -> int:
    """Save the next revision. Raise LostRace if `expected` is no longer the newest revision."""
    pipeline_id, revision = document["pipeline_id"], expected + 1
    same_version = pipelines.c.pipeline_definition_version == document["pipeline_definition_version"]
    changed = connection.execute(
        sa.update(pipelines)
        .where(pipelines.c.pipeline_id == pipeline_id, pipelines.c.revision == expected)
        .values(
            **_columns(document),
            revision=revision,
            updated_at=at,
            last_run_version=sa.case((same_version, pipelines.c.last_run_version), else_=0),
        )
    )
    if changed.rowcount != 1:
        raise LostRace("The definition was changed by another user.")
    _write_definition(connection, document, revision, author, at, comment)
    _bump_open_runs(connection, pipeline_id)
    return revision


def _bump_open_runs(connection: sa.Connection, pipeline_id: str) -> None:
    """Increment the revision of open runs, so that they are loaded again with the new policies."""
    connection.execute(
        sa.update(pipeline_runs)
        .where(
            pipeline_runs.c.pipeline_id == pipeline_id,
            pipeline_runs.c.status.in_(("not_started", "in_progress", "paused")),
        )
        .values(revision=pipeline_runs.c.revision + 1)
    )


def _columns(document: Document) -> dict[str, Any]:
    return {
        "pipeline_name": document["pipeline_name"],
        "pipeline_description": document.get("pipeline_description", ""),
        "pipeline_definition_version": document["pipeline_definition_version"],
        "checkpoint_order": [checkpoint["checkpoint_id"] for checkpoint in document.get("checkpoints", ())],
        "auto_advance": document.get("config", {}).get("auto_advance", False),
    }


def _write_definition(
    connection: sa.Connection, document: Document, revision: int, author: str, at: datetime, comment: str
) -> None:
    connection.execute(
        sa.insert(definition_revisions).values(
            pipeline_id=document["pipeline_id"],
            revision=revision,
            pipeline_definition_version=document["pipeline_definition_version"],
            document=document,
            created_by=author,
            comment=comment,
            created_at=at,
            digest=digest(dict(document)),
        )
    )
    write_scripts(connection, document["pipeline_id"], revision, document.get("scripts", {}))
    c = checkpoint_definitions.c
    query = sa.select(c.checkpoint_id, c.removed_at).where(c.pipeline_id == document["pipeline_id"])
    known = {row.checkpoint_id: row for row in connection.execute(query)}
    current: set[str] = set()
    for position, checkpoint in enumerate(document.get("checkpoints", ())):
        current.add(checkpoint["checkpoint_id"])
        row = _checkpoint(document["pipeline_id"], position, checkpoint, at)
        if checkpoint["checkpoint_id"] in known:
            del row["created_at"]
            connection.execute(
                sa.update(checkpoint_definitions).where(c.checkpoint_id == checkpoint["checkpoint_id"]).values(row)
            )
        else:
            connection.execute(sa.insert(checkpoint_definitions).values(row))
    removed = [key for key, row in known.items() if key not in current and row.removed_at is None]
    if removed:
        connection.execute(sa.update(checkpoint_definitions).where(c.checkpoint_id.in_(removed)).values(removed_at=at))


def _checkpoint(pipeline_id: str, position: int, checkpoint: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    return {
        "checkpoint_id": checkpoint["checkpoint_id"],
        "pipeline_id": pipeline_id,
        "key": checkpoint["key"],
        "position": position,
        "checkpoint_name": checkpoint["checkpoint_name"],
        "checkpoint_description": checkpoint.get("checkpoint_description", ""),
        **{section: checkpoint.get(section) for section in _SECTIONS},
        "created_at": _moment(checkpoint.get("created_at"), at),
        "updated_at": _moment(checkpoint.get("updated_at"), at),
        "removed_at": None,
    }


def _moment(stamp: str | None, at: datetime) -> datetime:
    """Parse a time in the definition. `stamp` sets these times, and unchanged checkpoints keep theirs."""
    return datetime.fromisoformat(stamp) if stamp else at


# Archive
def mark_deleted(connection: sa.Connection, pipeline_id: str, at: datetime, archive_location: str) -> bool:
    """Return False if the pipeline is unknown or already deleted."""
    where = (pipelines.c.pipeline_id == pipeline_id, pipelines.c.deleted_at.is_(None))
    values = {"deleted_at": at, "archive_location": archive_location}
    return connection.execute(sa.update(pipelines).where(*where).values(values)).rowcount == 1


def mark_restored(connection: sa.Connection, pipeline_id: str) -> bool:
    """Return False if the pipeline is unknown or not deleted."""
    where = (pipelines.c.pipeline_id == pipeline_id, pipelines.c.deleted_at.is_not(None))
    values = {"deleted_at": None, "archive_location": None}
    return connection.execute(sa.update(pipelines).where(*where).values(values)).rowcount == 1


# Run versions
_of_pipeline = sa.bindparam("pipeline_id", type_=Text())
# FOR NO KEY UPDATE: inserts of rows that reference the pipeline don't wait for the lock, which prevents deadlocks.
_LOCK = PreparedQuery(
    sa.select(*(column for column in pipelines.c if column.name != "checkpoint_order"))  # the definition contains it
    .where(pipelines.c.pipeline_id == _of_pipeline)
    .with_for_update(key_share=True)
)
_NEXT_RUN_VERSION = PreparedQuery(
    sa.update(pipelines)
    .where(pipelines.c.pipeline_id == _of_pipeline)
    .values(last_run_version=pipelines.c.last_run_version + 1)
    .returning(pipelines.c.last_run_version)
)
_PREVIOUS_RUN = PreparedQuery(
    sa.select(pipeline_runs.c.run_id, pipeline_runs.c.run_version)
    .where(
        pipeline_runs.c.pipeline_id == _of_pipeline,
        pipeline_runs.c.pipeline_definition_version == sa.bindparam("version", type_=sa.Integer()),
        pipeline_runs.c.run_version.is_not(None),
        pipeline_runs.c.archived_by.is_(None),
    )
    .order_by(pipeline_runs.c.run_version.desc())
    .limit(1)
)


def lock_pipeline(connection: sa.Connection, pipeline_id: str) -> Any | None:
    """Lock the pipeline until the transaction ends. Return its row without `checkpoint_order`, or None."""
    return _LOCK.first(connection, {"pipeline_id": pipeline_id})


def allocate_run_version(connection: sa.Connection, pipeline_id: str) -> int:
    """Return the next run version of the current definition version. Run versions are never reused."""
    return _NEXT_RUN_VERSION.all(connection, {"pipeline_id": pipeline_id})[0].last_run_version


class PreviousRun(NamedTuple):
    run_id: str
    run_version: int


def previous_run(connection: sa.Connection, pipeline_id: str, definition_version: int) -> PreviousRun | None:
    """Return the run with the highest version among those that are not archived."""
    row = _PREVIOUS_RUN.first(connection, {"pipeline_id": pipeline_id, "version": definition_version})
    return PreviousRun(row.run_id, row.run_version) if row else None


OPEN = (RunStatus.NOT_STARTED.value, RunStatus.IN_PROGRESS.value, RunStatus.PAUSED.value)


def lock(connection: sa.Connection, pipeline_id: str) -> Any:
    """Like `lock_pipeline`, but raise NotFound if there is no such pipeline."""
    row = lock_pipeline(connection, pipeline_id)
    if row is None:
        raise NotFound("pipeline", pipeline_id)
    return row


def definition(connection: sa.Connection, pipeline_id: str, revision: int) -> Mapping[str, Any]:
    d = t.definition_revisions.c
    found = connection.execute(
        sa.select(d.document).where(d.pipeline_id == pipeline_id, d.revision == revision)
    ).scalar_one_or_none()
    if found is None:
        raise NotFound("revision of this pipeline", str(revision))
    return found


class CurrentDefinition(NamedTuple):
    is_deleted: bool  # whether the pipeline is deleted
    version: int


def current_definition(connection: sa.Connection, pipeline_id: str) -> CurrentDefinition:
    p = t.pipelines.c
    query = sa.select(p.deleted_at.is_not(None), p.pipeline_definition_version).where(p.pipeline_id == pipeline_id)
    return CurrentDefinition(*connection.execute(query).one())


def newest_revision(connection: sa.Connection, pipeline_id: str) -> int:
    p = t.pipelines.c
    revision = connection.execute(sa.select(p.revision).where(p.pipeline_id == pipeline_id)).scalar_one_or_none()
    if revision is None:
        raise NotFound("pipeline", pipeline_id)
    return revision


def exists(connection: sa.Connection, pipeline_id: str) -> bool:
    p = t.pipelines.c
    return connection.execute(sa.select(p.pipeline_id).where(p.pipeline_id == pipeline_id)).first() is not None


def current_runs(connection: sa.Connection, pipeline_id: str) -> list[str]:
    r = t.pipeline_runs.c
    return list(
        connection.execute(sa.select(r.run_id).where(r.pipeline_id == pipeline_id, r.archived_by.is_(None))).scalars()
    )


def open_runs(connection: sa.Connection, pipeline_id: str) -> list[str]:
    r = t.pipeline_runs.c
    found = connection.execute(
        sa.select(r.run_id)
        .where(r.pipeline_id == pipeline_id, r.status.in_(OPEN), r.archived_by.is_(None))
        .order_by(r.created_at)
    )
    return list(found.scalars())


def pipeline_of(connection: sa.Connection, checkpoint_id: str) -> str | None:
    c = t.checkpoint_definitions.c
    return connection.execute(
        sa.select(c.pipeline_id).where(c.checkpoint_id == checkpoint_id, c.removed_at.is_(None))
    ).scalar_one_or_none()
