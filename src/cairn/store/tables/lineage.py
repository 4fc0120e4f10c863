"""Which execution read what, and which had to be complete first."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import one_of
from cairn.store.tables.metadata import index, metadata, moment, refers, text, whole

# Each dispatch reads anew: what counts for a result is what the dispatch read that made it.
artifact_consumption = sa.Table(
    "artifact_consumption",
    metadata,
    text("execution_id", refers("checkpoint_executions.execution_id"), primary_key=True),
    whole("dispatch_number", primary_key=True, autoincrement=False),
    text("artifact_record_id", refers("artifacts.artifact_record_id"), primary_key=True),
    moment("consumed_at"),
    index("ix_artifact_consumption_artifact", "artifact_record_id"),
    sqlite_with_rowid=False,
)

job_dependencies = sa.Table(
    "job_dependencies",
    metadata,
    text("execution_id", refers("checkpoint_executions.execution_id"), primary_key=True),
    text("depends_on_execution_id", primary_key=True),  # of the same run, with which both go
    text("dependency_type"),
    one_of("dependency_type", "success"),
    sqlite_with_rowid=False,
)
