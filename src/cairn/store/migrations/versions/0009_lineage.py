"""What executions read, and which had to be complete first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    _artifact_consumption()
    _job_dependencies()
    op.create_index(
        "ix_checkpoint_executions_parent",
        "checkpoint_executions",
        ["parent_execution_id"],
        unique=False,
        sqlite_where=sa.text("parent_execution_id IS NOT NULL"),
        postgresql_where=sa.text("parent_execution_id IS NOT NULL"),
    )


def _artifact_consumption() -> None:
    op.create_table(
        "artifact_consumption",
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("dispatch_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("artifact_record_id", sa.Text(), nullable=False),
        sa.Column("consumed_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["artifact_record_id"],
            ["artifacts.artifact_record_id"],
            name="fk_artifact_consumption_artifact_record_id",
        ),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_artifact_consumption_execution_id"
        ),
        sa.PrimaryKeyConstraint(
            "execution_id", "dispatch_number", "artifact_record_id", name="pk_artifact_consumption"
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_artifact_consumption_artifact",
        "artifact_consumption",
        ["artifact_record_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )


def _job_dependencies() -> None:
    op.create_table(
        "job_dependencies",
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("depends_on_execution_id", sa.Text(), nullable=False),
        sa.Column("dependency_type", sa.Text(), nullable=False),
        sa.CheckConstraint("dependency_type IN ('success')", name="dependency_type_known"),
        sa.ForeignKeyConstraint(
            ["depends_on_execution_id"],
            ["checkpoint_executions.execution_id"],
            name="fk_job_dependencies_depends_on_execution_id",
        ),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_job_dependencies_execution_id"
        ),
        sa.PrimaryKeyConstraint("execution_id", "depends_on_execution_id", name="pk_job_dependencies"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_job_dependencies_depends_on",
        "job_dependencies",
        ["depends_on_execution_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
