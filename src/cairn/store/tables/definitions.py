"""Pipelines, their checkpoints, and every definition that they ever had."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import flag, index, json, metadata, moment, refers, text, whole

pipelines = sa.Table(
    "pipelines",
    metadata,
    text("pipeline_id", primary_key=True),
    text("pipeline_name"),
    text("pipeline_description"),
    whole("pipeline_definition_version"),
    whole("revision"),  # the newest one in definition_revisions
    json("checkpoint_order"),
    flag("auto_advance"),
    whole("last_run_version"),  # of the current definition version; never reused
    moment("created_at"),
    moment("updated_at"),
    text("created_by"),
    moment("deleted_at", null=True),
    text("archive_location", null=True),
    whole("event_seq"),
    text("event_head"),
    index("ix_pipelines_created", "created_at", "pipeline_id"),
)

definition_revisions = sa.Table(
    "definition_revisions",
    metadata,
    text("pipeline_id", refers("pipelines.pipeline_id"), primary_key=True),
    whole("revision", primary_key=True, autoincrement=False),
    whole("pipeline_definition_version"),
    json("document"),  # the full form
    text("author"),
    text("comment"),
    moment("created_at"),
    text("digest"),
)

# As the newest revision has them; those that a revision left out stay, with `removed_at`.
checkpoint_definitions = sa.Table(
    "checkpoint_definitions",
    metadata,
    text("checkpoint_id", primary_key=True),
    text("pipeline_id", refers("pipelines.pipeline_id")),
    text("key"),
    whole("position"),
    text("checkpoint_name"),
    text("checkpoint_description"),
    json("dependencies", null=True),
    json("inputs", null=True),
    json("execution", null=True),
    json("human_interaction", null=True),
    json("output", null=True),
    json("instructions", null=True),
    moment("created_at"),
    moment("updated_at"),
    moment("removed_at", null=True),
    index("ix_checkpoint_definitions_pipeline", "pipeline_id", "position"),
)
