"""Scripts of definitions, and recorded calls of scripts, functions and agents that wait for a result."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import one_of
from cairn.store.tables.metadata import index, integer, json, metadata, references, size, text, timestamp

definition_scripts = sa.Table(
    "definition_scripts",
    metadata,
    text("pipeline_id", references("pipelines.pipeline_id"), primary_key=True),
    integer("revision", primary_key=True, autoincrement=False),
    text("path", primary_key=True),
    text("checksum", references("blobs.checksum")),
    size("size_bytes"),
    index("ix_definition_scripts_content", "checksum"),
)

execution_calls = sa.Table(
    "execution_calls",
    metadata,
    text("execution_id", references("checkpoint_executions.execution_id"), primary_key=True),
    integer("revision_iteration", primary_key=True, autoincrement=False),  # a revision starts over, a retry does not
    integer("number", primary_key=True, autoincrement=False),  # from 1
    text("kind"),
    json("arguments"),
    text("digest"),  # of `arguments`
    text("inputs_checksum", references("blobs.checksum"), null=True),  # the inputs that were readable at the call
    text("action_id", null=True),  # that the call proposed, or whose outcome it was given again
    timestamp("requested_at"),
    one_of("kind", "rework", "action", "question"),
    index("ix_execution_calls_inputs", "inputs_checksum"),
)
