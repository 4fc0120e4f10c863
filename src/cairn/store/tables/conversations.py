"""What is said with models, message by message, and what each of their answers has cost."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import BigInteger, one_of
from cairn.store.tables.metadata import flag, index, json, metadata, moment, real, refers, text, whole

PURPOSES = ("work", "design", "judge", "summary", "questions")
ROLES = ("system", "user", "assistant", "tool")

messages = sa.Table(
    "messages",
    metadata,
    sa.Column("message_id", BigInteger, primary_key=True, autoincrement=True),
    text("run_id", refers("pipeline_runs.run_id")),
    text("execution_id", refers("checkpoint_executions.execution_id")),
    text("attempt_key"),  # what is said in it belongs together, and counts until the next one begins
    text("turn"),
    whole("number"),  # in its turn, from 1
    whole("dispatch_number"),  # that it was said in
    text("speaker"),
    text("role"),
    text("purpose"),
    text("model", null=True),  # of an answer
    flag("is_simulated"),
    flag("is_last"),  # the turn is over with it
    moment("sent_at"),
    moment("stored_at"),
    real("seconds"),  # that the answer took
    text("text"),  # as people read it
    json("tools", null=True),  # calls of tools, and what came of them
    json("message"),  # as the agent library writes it down
    sa.UniqueConstraint("execution_id", "attempt_key", "turn", "number"),
    one_of("role", *ROLES),
    one_of("purpose", *PURPOSES),
    index("ix_messages_of_execution", "execution_id", "message_id"),
    index("ix_messages_of_run", "run_id", "message_id"),
    sqlite_autoincrement=True,
)

# Of runs and executions only the ids: a bill outlives a test run, as the money does not come back.
model_calls = sa.Table(
    "model_calls",
    metadata,
    sa.Column("call_id", BigInteger, primary_key=True, autoincrement=True),
    text("pipeline_id", refers("pipelines.pipeline_id")),
    text("run_id"),
    text("execution_id"),
    text("checkpoint_id"),
    text("checkpoint_key"),
    flag("is_test"),
    text("attempt_key"),
    text("turn"),
    whole("number"),
    whole("dispatch_number"),
    text("purpose"),
    text("model"),
    flag("is_simulated"),
    sa.Column("input_tokens", sa.BigInteger, nullable=False),  # all of them, cached or not
    sa.Column("output_tokens", sa.BigInteger, nullable=False),
    sa.Column("cache_read_tokens", sa.BigInteger, nullable=False),
    sa.Column("cache_write_tokens", sa.BigInteger, nullable=False),
    sa.Column("cost_nano_usd", sa.BigInteger, nullable=True),  # null: nobody knows the price
    text("day"),  # in UTC, such as 2026-03-02
    moment("called_at"),
    real("seconds"),
    sa.UniqueConstraint("execution_id", "attempt_key", "turn", "number", "dispatch_number"),
    one_of("purpose", *PURPOSES),
    index("ix_model_calls_of_run", "run_id"),
    index("ix_model_calls_of_pipeline", "pipeline_id", "day"),
    index("ix_model_calls_of_day", "day"),
)
