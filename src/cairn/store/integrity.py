"""Whether the database itself is sound: its file, its references, its contents. Nothing here writes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from cairn.store.tables import approvals as a
from cairn.store.tables import blob_chunks, blobs, events, pipelines
from cairn.store.tables import checkpoint_executions as e
from cairn.store.tables import definition_revisions as d
from cairn.store.tables.metadata import metadata

SHOWN = 20  # faults that are told at once

# Indexes and constraints that PostgreSQL does not vouch for, and pages that did not have their checksum.
_POSTGRESQL = (
    ("index {} is not valid", "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"),
    ("constraint {} is not validated", "SELECT conname FROM pg_constraint WHERE NOT convalidated"),
    (
        "{} pages had a wrong checksum",
        "SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database() AND checksum_failures > 0",
    ),
)


@dataclass(frozen=True, slots=True)
class Unused:
    """Contents that nothing refers to, or that never arrived whole."""

    count: int
    size: int


def faults(connection: sa.Connection) -> list[str]:
    """What the database says of itself."""
    if connection.dialect.name == "postgresql":
        found = [(words, connection.execute(sa.text(query)).scalars().all()) for words, query in _POSTGRESQL]
        return [words.format(value) for words, values in found for value in values[:SHOWN]]
    said = [str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA integrity_check({SHOWN})")]
    return [] if said == ["ok"] else said


def orphans(connection: sa.Connection) -> list[str]:
    """Rows that refer to what is not there, or say what others deny."""
    found: list[str] = []
    if connection.dialect.name == "sqlite":  # PostgreSQL does not let them come to be
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        found += [f"a row of {row[0]} refers to nothing in {row[2]}" for row in broken[:SHOWN]]
    for words, query in (
        ("pipeline {} has no text of its newest definition", _without_definition()),
        ("execution {} waits for an approval that nobody was asked for", _unasked()),
        ("approval {} is asked for by an execution that has ended", _asked_in_vain()),
        ("content {} lacks a part", _incomplete()),
    ):
        found += [words.format(one) for one in connection.execute(query.limit(SHOWN)).scalars()]
    return found


def _without_definition() -> sa.Select[tuple[str]]:
    same = (d.c.pipeline_id == pipelines.c.pipeline_id) & (d.c.revision == pipelines.c.revision)
    return sa.select(pipelines.c.pipeline_id).where(~sa.exists().where(same))


def _unasked() -> sa.Select[tuple[str]]:
    waits = e.c.status.in_(("waiting_approval_to_start", "waiting_approval_to_complete"))
    asked = (a.c.execution_id == e.c.execution_id) & (a.c.status == "pending")
    return sa.select(e.c.execution_id).where(waits, e.c.archived_by.is_(None), ~sa.exists().where(asked))


def _asked_in_vain() -> sa.Select[tuple[str]]:
    ended = e.c.status.in_(("completed", "failed", "cancelled"))
    return (
        sa.select(a.c.approval_id)
        .join(e, e.c.execution_id == a.c.execution_id)
        .where(a.c.status == "pending", ended, a.c.kind != "escalation")
    )


def _incomplete() -> sa.Select[tuple[str]]:
    parts = sa.select(sa.func.count()).where(blob_chunks.c.checksum == blobs.c.checksum).scalar_subquery()
    lost = (blobs.c.chunk_count == 0) & (blobs.c.size > 0) & blobs.c.data.is_(None)
    return sa.select(blobs.c.checksum).where(blobs.c.complete, (parts != blobs.c.chunk_count) | lost)


def unused(connection: sa.Connection, older_than: datetime) -> Unused:
    """What the daily sweep would have removed."""
    referring = [
        ~sa.exists().where(column == blobs.c.checksum)
        for table in metadata.sorted_tables
        for column in table.c
        if table is not blob_chunks and any(key.column is blobs.c.checksum for key in column.foreign_keys)
    ]
    query = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(blobs.c.size), 0))
    row = connection.execute(query.where(blobs.c.created_at < older_than, *referring)).one()
    return Unused(int(row[0]), int(row[1]))


def newest_event(connection: sa.Connection) -> datetime | None:
    """When the last thing happened, by the clock of whoever wrote it."""
    return connection.execute(sa.select(sa.func.max(events.c.timestamp))).scalar_one_or_none()


def database_time(connection: sa.Connection) -> datetime | None:
    """The clock of the machine that the database runs on; a file has none of its own."""
    if connection.dialect.name != "postgresql":
        return None
    return connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
