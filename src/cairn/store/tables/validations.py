"""What validation has found of results, and summaries of what was too long to be read whole."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import one_of
from cairn.store.tables.metadata import flag, json, metadata, moment, refers, text, whole

BY = ("schema", "lenient", "custom")

validations = sa.Table(
    "validations",
    metadata,
    text("execution_id", refers("checkpoint_executions.execution_id")),
    whole("dispatch_number"),  # whose result it is
    whole("position"),  # among those who have looked at it
    whole("revision_iteration"),
    whole("attempt_number"),
    text("by"),
    flag("passed"),
    text("reason"),  # in the words of the model
    json("findings"),
    text("model", null=True),  # null: no model was needed
    flag("is_simulated"),
    moment("at"),
    sa.PrimaryKeyConstraint("execution_id", "dispatch_number", "position"),
    one_of("by", *BY),
)

summaries = sa.Table(
    "summaries",
    metadata,
    text("checksum"),  # of the content that was summed up
    text("model"),
    text("summary"),
    moment("created_at"),
    sa.PrimaryKeyConstraint("checksum", "model"),
)
