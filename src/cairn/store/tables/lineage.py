"""The artifacts that executions read, and the executions that they depend on."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import one_of
from cairn.store.tables.metadata import index, integer, metadata, references, text, timestamp

# Recorded per dispatch: the inputs of a result are those of the dispatch that produced it.
artifact_consumption = sa.Table(
    "artifact_consumption",
    metadata,
    text("execution_id", references("checkpoint_executions.execution_id"), primary_key=True),
    integer("dispatch_number", primary_key=True, autoincrement=False),
    text("artifact_record_id", references("artifacts.artifact_record_id"), primary_key=True),
    timestamp("consumed_at"),
    index("ix_artifact_consumption_artifact", "artifact_record_id"),
    sqlite_with_rowid=False,
)

job_dependencies = sa.Table(
    "job_dependencies",
    metadata,
    text("execution_id", references("checkpoint_executions.execution_id"), primary_key=True),
    text("depends_on_execution_id", primary_key=True),  # in the same run, so both are deleted together
    text("dependency_type"),
    one_of("dependency_type", "success"),
    sqlite_with_rowid=False,
)
