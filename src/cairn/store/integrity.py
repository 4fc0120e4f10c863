"""Integrity checks of the database: the file, references between rows, and content. Read-only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from cairn.store.tables import approvals as a
from cairn.store.tables import blob_chunks, blobs, events, pipelines
from cairn.store.tables import checkpoint_executions as e
from cairn.store.tables import definition_revisions as d
from cairn.store.tables.metadata import metadata

MAX_REPORTED = 20

# Invalid indexes, constraints that were never validated, and pages with a wrong checksum.
_POSTGRESQL = (
    ("index {} is not valid", "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"),
    ("constraint {} is not validated", "SELECT conname FROM pg_constraint WHERE NOT convalidated"),
    (
        "{} pages had a wrong checksum",
        "SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database() AND checksum_failures > 0",
    ),
)


@dataclass(frozen=True, slots=True)
class UnusedContent:
    """The number and size of unreferenced or incomplete blobs."""

    count: int
    size: int


def database_errors(connection: sa.Connection) -> list[str]:
    """Run the database's own integrity check."""
    if connection.dialect.name == "postgresql":
        found = [(message, connection.execute(sa.text(query)).scalars().all()) for message, query in _POSTGRESQL]
        return [message.format(value) for message, values in found for value in values[:MAX_REPORTED]]
    reported = [str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA integrity_check({MAX_REPORTED})")]
    return [] if reported == ["ok"] else reported


def inconsistent_rows(connection: sa.Connection) -> list[str]:
    """Find rows with missing references or contradictory values."""
    found: list[str] = []
    if connection.dialect.name == "sqlite":  # PostgreSQL always enforces references
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        found += [f"a row in {row[0]} refers to a missing row in {row[2]}" for row in broken[:MAX_REPORTED]]
    for message, query in (
        ("the newest definition of pipeline {} is missing", _missing_definition()),
        ("execution {} is waiting for approval, but has no pending approval", _waiting_without_approval()),
        ("approval {} is pending, but its execution has ended", _pending_after_end()),
        ("content {} is incomplete", _incomplete()),
    ):
        found += [message.format(row_id) for row_id in connection.execute(query.limit(MAX_REPORTED)).scalars()]
    return found


def _missing_definition() -> sa.Select[tuple[str]]:
    same = (d.c.pipeline_id == pipelines.c.pipeline_id) & (d.c.revision == pipelines.c.revision)
    return sa.select(pipelines.c.pipeline_id).where(~sa.exists().where(same))


def _waiting_without_approval() -> sa.Select[tuple[str]]:
    is_waiting = e.c.status.in_(("waiting_approval_to_start", "waiting_approval_to_complete"))
    pending = (a.c.execution_id == e.c.execution_id) & (a.c.status == "pending")
    return sa.select(e.c.execution_id).where(is_waiting, e.c.archived_by.is_(None), ~sa.exists().where(pending))


def _pending_after_end() -> sa.Select[tuple[str]]:
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


def unused(connection: sa.Connection, older_than: datetime) -> UnusedContent:
    """Count the content that the daily clean-up would remove."""
    is_unreferenced = [
        ~sa.exists().where(column == blobs.c.checksum)
        for table in metadata.sorted_tables
        for column in table.c
        if table is not blob_chunks and any(key.column is blobs.c.checksum for key in column.foreign_keys)
    ]
    query = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(blobs.c.size), 0))
    row = connection.execute(query.where(blobs.c.created_at < older_than, *is_unreferenced)).one()
    return UnusedContent(int(row[0]), int(row[1]))


def newest_event(connection: sa.Connection) -> datetime | None:
    """Return the time of the newest event."""
    return connection.execute(sa.select(sa.func.max(events.c.timestamp))).scalar_one_or_none()


def database_time(connection: sa.Connection) -> datetime | None:
    """Return the time of the database server; None for SQLite."""
    if connection.dialect.name != "postgresql":
        return None
    return connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
