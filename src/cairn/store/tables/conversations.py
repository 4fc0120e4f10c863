"""Messages exchanged with models, and the tokens and cost of each model call."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import BigInteger, one_of
from cairn.store.tables.metadata import double, flag, index, integer, json, metadata, references, text, timestamp

PURPOSES = ("work", "design", "judge", "summary", "questions")
ROLES = ("system", "user", "assistant", "tool")

messages = sa.Table(
    "messages",
    metadata,
    sa.Column("message_id", BigInteger, primary_key=True, autoincrement=True),
    text("run_id", references("pipeline_runs.run_id")),
    text("execution_id", references("checkpoint_executions.execution_id")),
    text("attempt_key"),  # groups the messages of one attempt; a new attempt starts a new conversation
    text("turn"),
    integer("number"),  # within the turn, from 1
    integer("dispatch_number"),  # that the message was written in
    text("speaker"),
    text("role"),
    text("purpose"),
    text("model", null=True),  # of a model's reply
    flag("is_simulated"),
    flag("is_last"),  # ends the turn
    timestamp("sent_at"),
    timestamp("stored_at"),
    double("seconds"),  # that the reply took
    text("text"),  # as shown to users
    json("tools", null=True),  # tool calls and their results
    json("message"),  # as serialized by the agent framework
    sa.UniqueConstraint("execution_id", "attempt_key", "turn", "number"),
    one_of("role", *ROLES),
    one_of("purpose", *PURPOSES),
    index("ix_messages_of_execution", "execution_id", "message_id"),
    index("ix_messages_of_run", "run_id", "message_id"),
    sqlite_autoincrement=True,
)

# No references to runs and executions: costs stay on record when a test run is deleted.
model_calls = sa.Table(
    "model_calls",
    metadata,
    sa.Column("call_id", BigInteger, primary_key=True, autoincrement=True),
    text("pipeline_id", references("pipelines.pipeline_id")),
    text("run_id"),
    text("execution_id"),
    text("checkpoint_id"),
    text("checkpoint_key"),
    flag("is_test"),
    text("attempt_key"),
    text("turn"),
    integer("number"),
    integer("dispatch_number"),
    integer("attempt"),  # 0: its answer is the message; from 1: it ended before its answer was complete
    text("purpose"),
    text("model"),
    flag("is_simulated"),
    sa.Column("input_tokens", sa.BigInteger, nullable=False),  # including cached tokens
    sa.Column("output_tokens", sa.BigInteger, nullable=False),
    sa.Column("cache_read_tokens", sa.BigInteger, nullable=False),
    sa.Column("cache_write_tokens", sa.BigInteger, nullable=False),
    sa.Column("cost_nano_usd", sa.BigInteger, nullable=True),  # null: the price is unknown
    text("day"),  # in UTC, such as 2026-03-02
    timestamp("called_at"),
    double("seconds"),
    sa.UniqueConstraint("execution_id", "attempt_key", "turn", "number", "dispatch_number", "attempt"),
    one_of("purpose", *PURPOSES),
    index("ix_model_calls_of_run", "run_id"),
    index("ix_model_calls_of_pipeline", "pipeline_id", "day"),
    index("ix_model_calls_of_day", "day"),
)
