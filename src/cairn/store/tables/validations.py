"""Results of validations, and cached summaries of long inputs."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import one_of
from cairn.store.tables.metadata import flag, integer, json, metadata, references, text, timestamp

BY = ("schema", "lenient", "custom")

validations = sa.Table(
    "validations",
    metadata,
    text("execution_id", references("checkpoint_executions.execution_id")),
    integer("dispatch_number"),  # that produced the result
    integer("position"),  # among the validations of this result
    integer("revision_iteration"),
    integer("attempt_number"),
    text("by"),
    flag("passed"),
    text("reason"),  # as the model wrote it
    json("findings"),
    text("model", null=True),  # null: validated without a model
    flag("is_simulated"),
    timestamp("at"),
    sa.PrimaryKeyConstraint("execution_id", "dispatch_number", "position"),
    one_of("by", *BY),
)

summaries = sa.Table(
    "summaries",
    metadata,
    text("checksum"),  # of the summarized content
    text("model"),
    text("summary"),
    timestamp("created_at"),
    sa.PrimaryKeyConstraint("checksum", "model"),
)
