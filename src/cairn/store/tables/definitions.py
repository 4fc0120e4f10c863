"""Pipelines, their checkpoints, and every revision of their definitions."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import flag, index, integer, json, metadata, references, text, timestamp

pipelines = sa.Table(
    "pipelines",
    metadata,
    text("pipeline_id", primary_key=True),
    text("pipeline_name"),
    text("pipeline_description"),
    integer("pipeline_definition_version"),
    integer("revision"),  # the newest in definition_revisions
    json("checkpoint_order"),
    flag("auto_advance"),
    integer("last_run_version"),  # of the current definition version; never reused
    timestamp("created_at"),
    timestamp("updated_at"),
    text("created_by"),
    timestamp("deleted_at", null=True),
    text("archive_location", null=True),
    integer("event_seq"),
    text("event_head"),
    index("ix_pipelines_created", "created_at", "pipeline_id"),
)

definition_revisions = sa.Table(
    "definition_revisions",
    metadata,
    text("pipeline_id", references("pipelines.pipeline_id"), primary_key=True),
    integer("revision", primary_key=True, autoincrement=False),
    integer("pipeline_definition_version"),
    json("document"),  # the full form
    text("created_by"),
    text("comment"),
    timestamp("created_at"),
    text("digest"),
)

# The checkpoints of the newest revision. Removed checkpoints keep their rows, with `removed_at` set.
checkpoint_definitions = sa.Table(
    "checkpoint_definitions",
    metadata,
    text("checkpoint_id", primary_key=True),
    text("pipeline_id", references("pipelines.pipeline_id")),
    text("key"),
    integer("position"),
    text("checkpoint_name"),
    text("checkpoint_description"),
    json("dependencies", null=True),
    json("inputs", null=True),
    json("execution", null=True),
    json("human_interaction", null=True),
    json("output", null=True),
    json("instructions", null=True),
    timestamp("created_at"),
    timestamp("updated_at"),
    timestamp("removed_at", null=True),
    index("ix_checkpoint_definitions_pipeline", "pipeline_id", "position"),
)
