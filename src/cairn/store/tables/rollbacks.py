"""Rollbacks and the items that they archived."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.core.states import RollbackTrigger
from cairn.store.column_types import one_of
from cairn.store.tables.metadata import flag, index, integer, json, metadata, references, size, text, timestamp

rollback_events = sa.Table(
    "rollback_events",
    metadata,
    text("rollback_id", primary_key=True),
    text("pipeline_id", references("pipelines.pipeline_id")),
    text("rollback_type"),
    text("source_run_id", references("pipeline_runs.run_id")),
    integer("source_run_version", null=True),
    text("target_run_id", references("pipeline_runs.run_id"), null=True),
    integer("target_run_version", null=True),
    text("target_checkpoint_id", null=True),
    integer("target_checkpoint_position", null=True),
    text("archive_location"),
    text("triggered_by"),
    text("user_reason"),
    timestamp("created_at"),
    text("created_by"),
    json("rolled_back_items"),
    timestamp("undone_at", null=True),
    flag("files_synced"),
    one_of("rollback_type", "checkpoint_level", "run_level"),
    one_of("triggered_by", RollbackTrigger),
    index("ix_rollback_events_of_pipeline", "pipeline_id", "created_at", "rollback_id"),
    index("ix_rollback_events_of_source", "source_run_id"),
    index("ix_rollback_events_created", "created_at", "rollback_id"),
)

archived_items = sa.Table(
    "archived_items",
    metadata,
    text("archive_item_id", primary_key=True),
    text("rollback_id", references("rollback_events.rollback_id")),
    text("item_type"),
    text("item_id"),
    text("original_path"),
    text("archived_path"),
    size("size_bytes"),
    one_of("item_type", "run", "execution", "artifact"),
    index("ix_archived_items_of_rollback", "rollback_id"),
)
