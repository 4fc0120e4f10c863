"""Runs and executions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
REAL: sa.Double[float] = sa.Double()


def upgrade() -> None:
    _pipeline_runs()
    _checkpoint_executions()


def _pipeline_runs() -> None:
    op.create_table(
        "pipeline_runs",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("pipeline_id", sa.Text(), nullable=False),
        sa.Column("pipeline_definition_version", sa.Integer(), nullable=False),
        sa.Column("definition_revision", sa.Integer(), nullable=False),
        sa.Column("run_version", sa.Integer(), nullable=True),
        sa.Column("is_test", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("pause_requested", sa.Boolean(), nullable=False),
        sa.Column("pass_number", sa.Integer(), nullable=False),
        sa.Column("restart_count", sa.Integer(), nullable=False),
        sa.Column("current_checkpoint_id", sa.Text(), nullable=True),
        sa.Column("current_checkpoint_position", sa.Integer(), nullable=True),
        sa.Column("total_checkpoints", sa.Integer(), nullable=False),
        sa.Column("completed_checkpoints", sa.Integer(), nullable=False),
        sa.Column("failed_checkpoints", sa.Integer(), nullable=False),
        sa.Column("previous_run_id", sa.Text(), nullable=True),
        sa.Column("extends_from_run_version", sa.Integer(), nullable=True),
        sa.Column("original_prompt", sa.Text(), nullable=False),
        sa.Column("input_checksum", sa.Text(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("started_at", INSTANT, nullable=True),
        sa.Column("completed_at", INSTANT, nullable=True),
        sa.Column("paused_at", INSTANT, nullable=True),
        sa.Column("last_resumed_at", INSTANT, nullable=True),
        sa.Column("reworks", sa.Integer(), nullable=False),
        sa.Column("issued", sa.Integer(), nullable=False),
        sa.Column("clock", sa.Integer(), nullable=False),
        sa.Column("working_since", INSTANT, nullable=True),
        sa.Column("worked", REAL, nullable=False),
        sa.Column("archived_by", sa.Text(), nullable=True),
        sa.Column("rollbacks", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("event_seq", sa.Integer(), nullable=False),
        sa.Column("event_head", sa.Text(), nullable=False),
        sa.Column("files_revision", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "status IN ('not_started', 'in_progress', 'paused', 'completed', 'failed', 'cancelled')",
            name="status_known",
        ),
        sa.ForeignKeyConstraint(["input_checksum"], ["blobs.checksum"], name="fk_pipeline_runs_input_checksum"),
        sa.ForeignKeyConstraint(["pipeline_id"], ["pipelines.pipeline_id"], name="fk_pipeline_runs_pipeline_id"),
        sa.ForeignKeyConstraint(["previous_run_id"], ["pipeline_runs.run_id"], name="fk_pipeline_runs_previous_run_id"),
        sa.PrimaryKeyConstraint("run_id", name="pk_pipeline_runs"),
        sa.UniqueConstraint(
            "pipeline_id", "pipeline_definition_version", "run_version", name="uq_pipeline_runs_pipeline_id"
        ),
    )
    op.create_index(
        "ix_pipeline_runs_created",
        "pipeline_runs",
        ["created_at", "run_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
    op.create_index(
        "ix_pipeline_runs_input",
        "pipeline_runs",
        ["input_checksum"],
        unique=False,
        sqlite_where=sa.text("input_checksum IS NOT NULL"),
        postgresql_where=sa.text("input_checksum IS NOT NULL"),
    )
    op.create_index(
        "ix_pipeline_runs_of_pipeline",
        "pipeline_runs",
        ["pipeline_id", "created_at", "run_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
    op.create_index(
        "ix_pipeline_runs_open",
        "pipeline_runs",
        ["status"],
        unique=False,
        sqlite_where=sa.text("status IN ('not_started', 'in_progress', 'paused')"),
        postgresql_where=sa.text("status IN ('not_started', 'in_progress', 'paused')"),
    )


def _checkpoint_executions() -> None:
    op.create_table(
        "checkpoint_executions",
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("checkpoint_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("checkpoint_name", sa.Text(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("checkpoint_position", sa.Integer(), nullable=False),
        sa.Column("pass_number", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("definition_revision", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("waiting_on", sa.Text(), nullable=True),
        sa.Column("dispatch_number", sa.Integer(), nullable=False),
        sa.Column("driver", sa.Text(), nullable=True),
        sa.Column("attempt_number", sa.Integer(), nullable=False),
        sa.Column("max_attempts", sa.Integer(), nullable=False),
        sa.Column("revision_iteration", sa.Integer(), nullable=False),
        sa.Column("max_revision_iterations", sa.Integer(), nullable=False),
        sa.Column("retries_used", sa.Integer(), nullable=False),
        sa.Column("validations_used", sa.Integer(), nullable=False),
        sa.Column("interruptions", sa.Integer(), nullable=False),
        sa.Column("start_approved", sa.Boolean(), nullable=False),
        sa.Column("answered", sa.Boolean(), nullable=False),
        sa.Column("answer_checksum", sa.Text(), nullable=True),
        sa.Column("by_hand", sa.Boolean(), nullable=False),
        sa.Column("asks_anew", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.Column("outputs", sa.Text(), nullable=False),
        sa.Column("ruling", sa.Text(), nullable=True),
        sa.Column("is_rework", sa.Boolean(), nullable=False),
        sa.Column("parent_execution_id", sa.Text(), nullable=True),
        sa.Column("wants", sa.Text(), nullable=True),
        sa.Column("regression_context", sa.Text(), nullable=True),
        sa.Column("archived_by", sa.Text(), nullable=True),
        sa.Column("has_workspace", sa.Boolean(), nullable=False),
        sa.Column("error_count", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("last_error_at", INSTANT, nullable=True),
        sa.Column("context_checksum", sa.Text(), nullable=True),
        sa.Column("progress", sa.Text(), nullable=True),
        sa.Column("temp_workspace_path", sa.Text(), nullable=False),
        sa.Column("permanent_output_path", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=True),
        sa.Column("started_at", INSTANT, nullable=True),
        sa.Column("completed_at", INSTANT, nullable=True),
        sa.Column("failed_at", INSTANT, nullable=True),
        sa.Column("due_at", INSTANT, nullable=True),
        sa.Column("working_since", INSTANT, nullable=True),
        sa.Column("worked", REAL, nullable=False),
        sa.CheckConstraint("ruling IN ('COMPLETE', 'RESTART', 'ESCALATE')", name="ruling_known"),
        sa.CheckConstraint(
            (
                "state IN ('pending', 'waiting_approval_to_start', 'ready', 'working', 'waiting', "
                "'waiting_approval_to_complete', 'completed', 'failed', 'cancelled')"
            ),
            name="state_known",
        ),
        sa.CheckConstraint(
            (
                "status IN ('pending', 'waiting_approval_to_start', 'in_progress', "
                "'waiting_approval_to_complete', 'completed', 'failed', 'cancelled')"
            ),
            name="status_known",
        ),
        sa.CheckConstraint(
            (
                "waiting_on IN ('human_form', 'script_input', 'action_approval', 'validation_feedback', "
                "'question', 'escalation', 'rework', 'retry_delay', 'external_blocker')"
            ),
            name="waiting_on_known",
        ),
        sa.ForeignKeyConstraint(
            ["answer_checksum"], ["blobs.checksum"], name="fk_checkpoint_executions_answer_checksum"
        ),
        sa.ForeignKeyConstraint(
            ["checkpoint_id"], ["checkpoint_definitions.checkpoint_id"], name="fk_checkpoint_executions_checkpoint_id"
        ),
        sa.ForeignKeyConstraint(
            ["context_checksum"], ["blobs.checksum"], name="fk_checkpoint_executions_context_checksum"
        ),
        sa.ForeignKeyConstraint(
            ["parent_execution_id"],
            ["checkpoint_executions.execution_id"],
            name="fk_checkpoint_executions_parent_execution_id",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["pipeline_runs.run_id"], name="fk_checkpoint_executions_run_id"),
        sa.PrimaryKeyConstraint("execution_id", name="pk_checkpoint_executions"),
        sa.UniqueConstraint("run_id", "ordinal", name="uq_checkpoint_executions_run_id"),
    )
    op.create_index(
        "ix_checkpoint_executions_answer",
        "checkpoint_executions",
        ["answer_checksum"],
        unique=False,
        sqlite_where=sa.text("answer_checksum IS NOT NULL"),
        postgresql_where=sa.text("answer_checksum IS NOT NULL"),
    )
    op.create_index(
        "ix_checkpoint_executions_context",
        "checkpoint_executions",
        ["context_checksum"],
        unique=False,
        sqlite_where=sa.text("context_checksum IS NOT NULL"),
        postgresql_where=sa.text("context_checksum IS NOT NULL"),
    )
    op.create_index(
        "ix_checkpoint_executions_working",
        "checkpoint_executions",
        ["driver"],
        unique=False,
        sqlite_where=sa.text("state = 'working'"),
        postgresql_where=sa.text("state = 'working'"),
    )
