"""What happened, append-only, and what rollbacks took away."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import BigInteger
from cairn.store.tables.metadata import index, json, metadata, moment, text, whole

# No foreign keys: the trail outlives what it tells of.
events = sa.Table(
    "events",
    metadata,
    # Never reused without SQLite's AUTOINCREMENT: nothing is ever deleted.
    sa.Column("id", BigInteger, primary_key=True, autoincrement=True),
    text("event_id"),  # made from the hash; an index to say so would be most of what an event costs
    text("chain"),  # the run's id, or the pipeline's, or `global`
    whole("seq"),
    text("event_type"),
    text("pipeline_id"),  # empty for what belongs to none
    text("run_id", null=True),
    text("execution_id", null=True),
    text("checkpoint_id", null=True),
    text("approval_id", null=True),
    text("rollback_id", null=True),
    moment("timestamp"),
    text("actor"),
    text("description"),
    json("metadata"),
    text("previous_hash"),
    text("hash"),
    sa.UniqueConstraint("chain", "seq"),
    index("ix_events_of_pipeline", "pipeline_id", "id"),
)

# Where the chains stand that belong to no run and no pipeline.
chains = sa.Table(
    "chains",
    metadata,
    text("chain", primary_key=True),
    whole("event_seq"),
    text("event_head"),
)
