"""The audit trail: append-only events in hash chains."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import BigInteger
from cairn.store.tables.metadata import index, integer, json, metadata, text, timestamp

# No foreign keys: events outlive the rows that they describe.
events = sa.Table(
    "events",
    metadata,
    # Ids are never reused even without SQLite's AUTOINCREMENT, because events are never deleted.
    sa.Column("id", BigInteger, primary_key=True, autoincrement=True),
    text("event_id"),  # derived from the hash; a unique index would cost more than the rest of the insert
    text("chain"),  # a run id, a pipeline id, or `global`
    integer("seq"),
    text("event_type"),
    text("pipeline_id"),  # empty for events of the installation
    text("run_id", null=True),
    text("execution_id", null=True),
    text("checkpoint_id", null=True),
    text("approval_id", null=True),
    text("rollback_id", null=True),
    timestamp("timestamp"),
    text("actor"),
    text("description"),
    json("metadata"),
    text("previous_hash"),
    text("hash"),
    sa.UniqueConstraint("chain", "seq"),
    index("ix_events_of_pipeline", "pipeline_id", "id"),
)

# The heads of chains that belong to neither a run nor a pipeline.
chains = sa.Table(
    "chains",
    metadata,
    text("chain", primary_key=True),
    integer("event_seq"),
    text("event_head"),
)
