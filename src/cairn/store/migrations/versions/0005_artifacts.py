"""Artifacts, uploads and logs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
COUNTER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _artifacts()
    _uploads()
    _execution_logs()


def _artifacts() -> None:
    op.create_table(
        "artifacts",
        sa.Column("artifact_record_id", sa.Text(), nullable=False),
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("pipeline_id", sa.Text(), nullable=False),
        sa.Column("artifact_id", sa.Text(), nullable=False),
        sa.Column("artifact_name", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("artifact_type", sa.Text(), nullable=False),
        sa.Column("file_path", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("promoted_to_permanent_at", INSTANT, nullable=True),
        sa.Column("attempt_number", sa.Integer(), nullable=False),
        sa.Column("revision_iteration", sa.Integer(), nullable=False),
        sa.Column("superseded_at", INSTANT, nullable=True),
        sa.CheckConstraint(
            ("artifact_type IN ('file', 'model_output', 'error_context', 'test_results', 'verification_report')"),
            name="artifact_type_known",
        ),
        sa.ForeignKeyConstraint(["checksum"], ["blobs.checksum"], name="fk_artifacts_checksum"),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_artifacts_execution_id"
        ),
        sa.ForeignKeyConstraint(["pipeline_id"], ["pipelines.pipeline_id"], name="fk_artifacts_pipeline_id"),
        sa.ForeignKeyConstraint(["run_id"], ["pipeline_runs.run_id"], name="fk_artifacts_run_id"),
        sa.PrimaryKeyConstraint("artifact_record_id", name="pk_artifacts"),
    )
    op.create_index(
        "ix_artifacts_content", "artifacts", ["checksum"], unique=False, sqlite_where=None, postgresql_where=None
    )
    op.create_index(
        "ix_artifacts_of_execution",
        "artifacts",
        ["execution_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
    op.create_index(
        "ix_artifacts_of_pipeline",
        "artifacts",
        ["pipeline_id", "created_at", "artifact_record_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
    op.create_index(
        "ix_artifacts_of_run",
        "artifacts",
        ["run_id", "created_at", "artifact_record_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )


def _uploads() -> None:
    op.create_table(
        "uploads",
        sa.Column("upload_id", sa.Text(), nullable=False),
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("field_id", sa.Text(), nullable=True),
        sa.Column("filename", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["checksum"], ["blobs.checksum"], name="fk_uploads_checksum"),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_uploads_execution_id"
        ),
        sa.PrimaryKeyConstraint("upload_id", name="pk_uploads"),
    )
    op.create_index(
        "ix_uploads_content", "uploads", ["checksum"], unique=False, sqlite_where=None, postgresql_where=None
    )
    op.create_index(
        "ix_uploads_of_execution", "uploads", ["execution_id"], unique=False, sqlite_where=None, postgresql_where=None
    )


def _execution_logs() -> None:
    op.create_table(
        "execution_logs",
        sa.Column("log_id", COUNTER, autoincrement=True, nullable=False),
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("timestamp", INSTANT, nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=True),
        sa.CheckConstraint("level IN ('debug', 'info', 'warning', 'error')", name="level_known"),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_execution_logs_execution_id"
        ),
        sa.PrimaryKeyConstraint("log_id", name="pk_execution_logs"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_execution_logs_of_execution",
        "execution_logs",
        ["execution_id", "log_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
