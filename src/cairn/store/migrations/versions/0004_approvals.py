"""Approvals and their decisions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
HUMAN_INTERACTIONS = """CREATE VIEW human_interactions AS
SELECT
  d.decision_id AS interaction_id,
  a.execution_id AS execution_id,
  d.at AS timestamp,
  CASE
    WHEN d.decision = 'revise' THEN 'revision_request'
    WHEN a.kind = 'start' THEN 'approval_to_start'
    WHEN a.kind = 'completion' THEN 'approval_to_complete'
    WHEN a.kind = 'validation' THEN 'validation_feedback'
    WHEN a.kind = 'input' THEN coalesce(a.waiting_on, 'input')
    ELSE a.kind
  END AS type,
  d.feedback AS user_input,
  d.decision AS system_response,
  d.by AS actor,
  d.answer_checksum AS answer_checksum,
  a.approval_id AS approval_id
FROM approval_decisions d
JOIN approvals a ON a.approval_id = d.approval_id"""


def upgrade() -> None:
    _approvals()
    _approval_decisions()
    op.execute(HUMAN_INTERACTIONS)


def _approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("pipeline_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("waiting_on", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("needed", sa.Integer(), nullable=False),
        sa.Column("period", sa.Integer(), nullable=False),
        sa.Column("asked_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=True),
        sa.Column("closed_at", INSTANT, nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempt_number", sa.Integer(), nullable=False),
        sa.Column("kept_from", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('start', 'completion', 'action', 'validation', 'escalation', 'input')", name="kind_known"
        ),
        sa.CheckConstraint(
            (
                "status IN ('pending', 'approved', 'auto_approved', 'rejected', 'revision_requested', "
                "'timeout', 'withdrawn')"
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
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_approvals_execution_id"
        ),
        sa.ForeignKeyConstraint(["kept_from"], ["approvals.approval_id"], name="fk_approvals_kept_from"),
        sa.ForeignKeyConstraint(["pipeline_id"], ["pipelines.pipeline_id"], name="fk_approvals_pipeline_id"),
        sa.ForeignKeyConstraint(["run_id"], ["pipeline_runs.run_id"], name="fk_approvals_run_id"),
        sa.PrimaryKeyConstraint("approval_id", name="pk_approvals"),
        sa.UniqueConstraint("run_id", "ordinal", name="uq_approvals_run_id"),
    )
    op.create_index(
        "ix_approvals_asked",
        "approvals",
        ["asked_at", "approval_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
    op.create_index(
        "ix_approvals_due",
        "approvals",
        ["expires_at", "approval_id"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(
        "ix_approvals_of_execution",
        "approvals",
        ["execution_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
    op.create_index(
        "ix_approvals_pending",
        "approvals",
        ["asked_at", "approval_id"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(
        "ix_approvals_waiting",
        "approvals",
        ["pipeline_id", "run_id"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )


def _approval_decisions() -> None:
    op.create_table(
        "approval_decisions",
        sa.Column("decision_id", sa.Text(), nullable=False),
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("feedback", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("answer_checksum", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["answer_checksum"], ["blobs.checksum"], name="fk_approval_decisions_answer_checksum"),
        sa.ForeignKeyConstraint(["approval_id"], ["approvals.approval_id"], name="fk_approval_decisions_approval_id"),
        sa.PrimaryKeyConstraint("decision_id", name="pk_approval_decisions"),
        sa.UniqueConstraint("approval_id", "position", name="uq_approval_decisions_approval_id"),
    )
    op.create_index(
        "ix_approval_decisions_answer",
        "approval_decisions",
        ["answer_checksum"],
        unique=False,
        sqlite_where=sa.text("answer_checksum IS NOT NULL"),
        postgresql_where=sa.text("answer_checksum IS NOT NULL"),
    )
