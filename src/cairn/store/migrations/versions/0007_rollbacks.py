"""Rollbacks and what they archived."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    _rollback_events()
    _archived_items()


def _rollback_events() -> None:
    op.create_table(
        "rollback_events",
        sa.Column("rollback_id", sa.Text(), nullable=False),
        sa.Column("pipeline_id", sa.Text(), nullable=False),
        sa.Column("rollback_type", sa.Text(), nullable=False),
        sa.Column("source_run_id", sa.Text(), nullable=False),
        sa.Column("source_run_version", sa.Integer(), nullable=True),
        sa.Column("target_run_id", sa.Text(), nullable=True),
        sa.Column("target_run_version", sa.Integer(), nullable=True),
        sa.Column("target_checkpoint_id", sa.Text(), nullable=True),
        sa.Column("target_checkpoint_position", sa.Integer(), nullable=True),
        sa.Column("archive_location", sa.Text(), nullable=False),
        sa.Column("triggered_by", sa.Text(), nullable=False),
        sa.Column("user_reason", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("rolled_back_items", sa.Text(), nullable=False),
        sa.Column("undone_at", INSTANT, nullable=True),
        sa.Column("files_done", sa.Boolean(), nullable=False),
        sa.CheckConstraint("rollback_type IN ('checkpoint_level', 'run_level')", name="rollback_type_known"),
        sa.CheckConstraint("triggered_by IN ('user_request', 'checkpoint_failure')", name="triggered_by_known"),
        sa.ForeignKeyConstraint(["pipeline_id"], ["pipelines.pipeline_id"], name="fk_rollback_events_pipeline_id"),
        sa.ForeignKeyConstraint(["source_run_id"], ["pipeline_runs.run_id"], name="fk_rollback_events_source_run_id"),
        sa.ForeignKeyConstraint(["target_run_id"], ["pipeline_runs.run_id"], name="fk_rollback_events_target_run_id"),
        sa.PrimaryKeyConstraint("rollback_id", name="pk_rollback_events"),
    )
    op.create_index(
        "ix_rollback_events_created",
        "rollback_events",
        ["created_at", "rollback_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
    op.create_index(
        "ix_rollback_events_of_pipeline",
        "rollback_events",
        ["pipeline_id", "created_at", "rollback_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
    op.create_index(
        "ix_rollback_events_of_source",
        "rollback_events",
        ["source_run_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )


def _archived_items() -> None:
    op.create_table(
        "archived_items",
        sa.Column("archive_item_id", sa.Text(), nullable=False),
        sa.Column("rollback_id", sa.Text(), nullable=False),
        sa.Column("item_type", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("original_path", sa.Text(), nullable=False),
        sa.Column("archived_path", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("item_type IN ('run', 'execution', 'artifact')", name="item_type_known"),
        sa.ForeignKeyConstraint(["rollback_id"], ["rollback_events.rollback_id"], name="fk_archived_items_rollback_id"),
        sa.PrimaryKeyConstraint("archive_item_id", name="pk_archived_items"),
    )
    op.create_index(
        "ix_archived_items_of_rollback",
        "archived_items",
        ["rollback_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
