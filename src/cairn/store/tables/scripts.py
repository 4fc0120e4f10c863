"""Scripts of definitions by their contents, and the calls of scripts that waited for others."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import one_of
from cairn.store.tables.metadata import index, json, metadata, moment, refers, size, text, whole

definition_scripts = sa.Table(
    "definition_scripts",
    metadata,
    text("pipeline_id", refers("pipelines.pipeline_id"), primary_key=True),
    whole("revision", primary_key=True, autoincrement=False),
    text("path", primary_key=True),
    text("checksum", refers("blobs.checksum")),
    size("size_bytes"),
    index("ix_definition_scripts_content", "checksum"),
)

execution_calls = sa.Table(
    "execution_calls",
    metadata,
    text("execution_id", refers("checkpoint_executions.execution_id"), primary_key=True),
    whole("revision_iteration", primary_key=True, autoincrement=False),  # a revision begins anew, a retry does not
    whole("number", primary_key=True, autoincrement=False),  # from 1
    text("kind"),
    json("arguments"),
    text("digest"),  # of the arguments
    text("inputs_checksum", refers("blobs.checksum"), null=True),  # what it could read
    moment("requested_at"),
    one_of("kind", "rework", "action", "question"),
    index("ix_execution_calls_inputs", "inputs_checksum"),
)
