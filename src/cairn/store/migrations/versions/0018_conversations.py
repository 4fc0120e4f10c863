"""What is said with models, and what their answers cost."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
COUNTED = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
REAL: sa.Double[float] = sa.Double()
PURPOSES = "('work', 'design', 'judge', 'summary', 'questions')"


def upgrade() -> None:
    _messages()
    _model_calls()


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("message_id", COUNTED, autoincrement=True, nullable=False),
        _text("run_id"),
        _text("execution_id"),
        _text("scope"),
        _text("turn"),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("dispatch_number", sa.Integer(), nullable=False),
        _text("speaker"),
        _text("role"),
        _text("purpose"),
        _text("model", null=True),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.Column("is_last", sa.Boolean(), nullable=False),
        sa.Column("said_at", INSTANT, nullable=False),
        sa.Column("kept_at", INSTANT, nullable=False),
        sa.Column("seconds", REAL, nullable=False),
        _text("text"),
        _text("tools", null=True),
        _text("message"),
        sa.CheckConstraint("role IN ('system', 'user', 'assistant', 'tool')", name="role_known"),
        sa.CheckConstraint(f"purpose IN {PURPOSES}", name="purpose_known"),
        sa.ForeignKeyConstraint(["run_id"], ["pipeline_runs.run_id"], name="fk_messages_run_id"),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_messages_execution_id"
        ),
        sa.PrimaryKeyConstraint("message_id", name="pk_messages"),
        sa.UniqueConstraint("execution_id", "scope", "turn", "number", name="uq_messages_execution_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_messages_of_execution", "messages", ["execution_id", "message_id"], unique=False)
    op.create_index("ix_messages_of_run", "messages", ["run_id", "message_id"], unique=False)


def _model_calls() -> None:
    op.create_table(
        "model_calls",
        sa.Column("call_id", COUNTED, autoincrement=True, nullable=False),
        _text("pipeline_id"),
        _text("run_id"),
        _text("execution_id"),
        _text("checkpoint_id"),
        _text("checkpoint_key"),
        sa.Column("is_test", sa.Boolean(), nullable=False),
        _text("scope"),
        _text("turn"),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("dispatch_number", sa.Integer(), nullable=False),
        _text("purpose"),
        _text("model"),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_read_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_write_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_nano_usd", sa.BigInteger(), nullable=True),
        _text("day"),
        sa.Column("called_at", INSTANT, nullable=False),
        sa.Column("seconds", REAL, nullable=False),
        sa.CheckConstraint(f"purpose IN {PURPOSES}", name="purpose_known"),
        sa.ForeignKeyConstraint(["pipeline_id"], ["pipelines.pipeline_id"], name="fk_model_calls_pipeline_id"),
        sa.PrimaryKeyConstraint("call_id", name="pk_model_calls"),
        sa.UniqueConstraint(
            "execution_id", "scope", "turn", "number", "dispatch_number", name="uq_model_calls_execution_id"
        ),
    )
    op.create_index("ix_model_calls_of_run", "model_calls", ["run_id"], unique=False)
    op.create_index("ix_model_calls_of_pipeline", "model_calls", ["pipeline_id", "day"], unique=False)
    op.create_index("ix_model_calls_of_day", "model_calls", ["day"], unique=False)


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)
