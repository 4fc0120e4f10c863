"""Pipelines, their definitions and checkpoints."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    _pipelines()
    _definition_revisions()
    _checkpoint_definitions()


def _pipelines() -> None:
    op.create_table(
        "pipelines",
        sa.Column("pipeline_id", sa.Text(), nullable=False),
        sa.Column("pipeline_name", sa.Text(), nullable=False),
        sa.Column("pipeline_description", sa.Text(), nullable=False),
        sa.Column("pipeline_definition_version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("checkpoint_order", sa.Text(), nullable=False),
        sa.Column("auto_advance", sa.Boolean(), nullable=False),
        sa.Column("last_run_version", sa.Integer(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("deleted_at", INSTANT, nullable=True),
        sa.Column("archive_location", sa.Text(), nullable=True),
        sa.Column("event_seq", sa.Integer(), nullable=False),
        sa.Column("event_head", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("pipeline_id", name="pk_pipelines"),
    )
    op.create_index(
        "ix_pipelines_created",
        "pipelines",
        ["created_at", "pipeline_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )


def _definition_revisions() -> None:
    op.create_table(
        "definition_revisions",
        sa.Column("pipeline_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pipeline_definition_version", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["pipeline_id"], ["pipelines.pipeline_id"], name="fk_definition_revisions_pipeline_id"),
        sa.PrimaryKeyConstraint("pipeline_id", "revision", name="pk_definition_revisions"),
    )


def _checkpoint_definitions() -> None:
    op.create_table(
        "checkpoint_definitions",
        sa.Column("checkpoint_id", sa.Text(), nullable=False),
        sa.Column("pipeline_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("checkpoint_name", sa.Text(), nullable=False),
        sa.Column("checkpoint_description", sa.Text(), nullable=False),
        sa.Column("dependencies", sa.Text(), nullable=True),
        sa.Column("inputs", sa.Text(), nullable=True),
        sa.Column("execution", sa.Text(), nullable=True),
        sa.Column("human_interaction", sa.Text(), nullable=True),
        sa.Column("output", sa.Text(), nullable=True),
        sa.Column("instructions", sa.Text(), nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.Column("removed_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.pipeline_id"], name="fk_checkpoint_definitions_pipeline_id"
        ),
        sa.PrimaryKeyConstraint("checkpoint_id", name="pk_checkpoint_definitions"),
    )
    op.create_index(
        "ix_checkpoint_definitions_pipeline",
        "checkpoint_definitions",
        ["pipeline_id", "position"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
