"""Scripts by their contents, recorded calls, and how far an execution was shut in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    op.add_column("checkpoint_executions", sa.Column("sandbox", sa.Text(), nullable=True))
    _definition_scripts()
    _execution_calls()


def _definition_scripts() -> None:
    op.create_table(
        "definition_scripts",
        sa.Column("pipeline_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["checksum"], ["blobs.checksum"], name="fk_definition_scripts_checksum"),
        sa.ForeignKeyConstraint(["pipeline_id"], ["pipelines.pipeline_id"], name="fk_definition_scripts_pipeline_id"),
        sa.PrimaryKeyConstraint("pipeline_id", "revision", "path", name="pk_definition_scripts"),
    )
    _index("ix_definition_scripts_content", "definition_scripts", "checksum")


def _execution_calls() -> None:
    op.create_table(
        "execution_calls",
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("revision_iteration", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("seen_checksum", sa.Text(), nullable=True),
        sa.Column("asked_at", INSTANT, nullable=False),
        sa.CheckConstraint("kind IN ('rework', 'action', 'question')", name="kind_known"),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_execution_calls_execution_id"
        ),
        sa.ForeignKeyConstraint(["seen_checksum"], ["blobs.checksum"], name="fk_execution_calls_seen_checksum"),
        sa.PrimaryKeyConstraint("execution_id", "revision_iteration", "number", name="pk_execution_calls"),
    )
    _index("ix_execution_calls_seen", "execution_calls", "seen_checksum")


def _index(name: str, table: str, column: str) -> None:
    op.create_index(name, table, [column], unique=False, sqlite_where=None, postgresql_where=None)
