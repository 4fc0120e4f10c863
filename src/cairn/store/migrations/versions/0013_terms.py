"""Approvals have terms and rules; actions, what people corrected in them, and comments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
REAL: sa.Double[float] = sa.Double()
RISKS = "('low', 'medium', 'high', 'critical')"


def upgrade() -> None:
    op.add_column("checkpoint_executions", sa.Column("doubts", sa.Boolean(), server_default=sa.false(), nullable=False))
    _approvals()
    _actions()
    _learning_cases()
    _approval_comments()


def _approvals() -> None:
    for column in (
        sa.Column("terms", sa.Text(), nullable=True),
        sa.Column("asked_of", sa.Text(), nullable=True),
        sa.Column("reminded", sa.Integer(), server_default="0", nullable=False),
        sa.Column("escalated", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=True),
        sa.Column("rule_scope", sa.Text(), nullable=True),
        sa.Column("rules_revision", sa.Integer(), nullable=True),
        sa.Column("considered", sa.Text(), nullable=True),
        sa.Column("priority", sa.Integer(), server_default="100", nullable=False),
        sa.Column("audit", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("operation_type", sa.Text(), nullable=True),
        sa.Column(
            "risk_level",
            sa.Text(),
            sa.CheckConstraint(f"risk_level IN {RISKS}", name="risk_level_known"),
            nullable=True,
        ),
        sa.Column("risk_order", sa.Integer(), server_default="4", nullable=False),
        sa.Column("confidence", REAL, nullable=True),
    ):
        op.add_column("approvals", column)
    pending, ruled = sa.text("status = 'pending'"), sa.text("rule IS NOT NULL")
    acting = sa.text("operation_type IS NOT NULL")
    _index("ix_approvals_by_risk", "approvals", "risk_order", "asked_at", "approval_id", where=pending)
    _index("ix_approvals_by_priority", "approvals", "priority", "asked_at", "approval_id", where=pending)
    _index("ix_approvals_by_rule", "approvals", "rule_scope", "rule", "asked_at", where=ruled)
    _index("ix_approvals_by_operation", "approvals", "operation_type", "asked_at", where=acting)


def _actions() -> None:
    outcomes = "('proposed', 'begun', 'done', 'failed', 'unknown', 'returned', 'test')"
    op.create_table(
        "actions",
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("revision_iteration", sa.Integer(), nullable=False),
        sa.Column("call_number", sa.Integer(), nullable=True),
        sa.Column("operation_type", sa.Text(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("reasoning", sa.Text(), nullable=False),
        sa.Column("confidence", REAL, nullable=True),
        sa.Column("claimed_risk", sa.Text(), nullable=True),
        sa.Column("risk_level", sa.Text(), nullable=False),
        sa.Column("risk_reasons", sa.Text(), nullable=False),
        sa.Column("supporting_data", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("idempotency_key", sa.Text(), nullable=False),
        sa.Column("proposed_at", INSTANT, nullable=False),
        sa.Column("begun_at", INSTANT, nullable=True),
        sa.Column("ended_at", INSTANT, nullable=True),
        sa.CheckConstraint(f"risk_level IN {RISKS}", name="risk_level_known"),
        sa.CheckConstraint(f"claimed_risk IN {RISKS}", name="claimed_risk_known"),
        sa.CheckConstraint(f"outcome IN {outcomes}", name="outcome_known"),
        sa.ForeignKeyConstraint(["approval_id"], ["approvals.approval_id"], name="fk_actions_approval_id"),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_actions_execution_id"
        ),
        sa.PrimaryKeyConstraint("approval_id", name="pk_actions"),
    )
    _index("ix_actions_of_execution", "actions", "execution_id")


def _learning_cases() -> None:
    op.create_table(
        "learning_cases",
        sa.Column("case_id", sa.Text(), nullable=False),
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("pipeline_id", sa.Text(), nullable=False),
        sa.Column("operation_type", sa.Text(), nullable=False),
        sa.Column("original", sa.Text(), nullable=False),
        sa.Column("modified", sa.Text(), nullable=False),
        sa.Column("changes", sa.Text(), nullable=False),
        sa.Column("feedback", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["approval_id"], ["approvals.approval_id"], name="fk_learning_cases_approval_id"),
        sa.ForeignKeyConstraint(["pipeline_id"], ["pipelines.pipeline_id"], name="fk_learning_cases_pipeline_id"),
        sa.PrimaryKeyConstraint("case_id", name="pk_learning_cases"),
    )
    _index("ix_learning_cases_of_operation", "learning_cases", "operation_type", "at", "case_id")
    _index("ix_learning_cases_of_approval", "learning_cases", "approval_id")


def _approval_comments() -> None:
    op.create_table(
        "approval_comments",
        sa.Column("comment_id", sa.Text(), nullable=False),
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["approval_id"], ["approvals.approval_id"], name="fk_approval_comments_approval_id"),
        sa.PrimaryKeyConstraint("comment_id", name="pk_approval_comments"),
    )
    _index("ix_approval_comments_of", "approval_comments", "approval_id", "at", "comment_id")


def _index(name: str, table: str, *columns: str, where: sa.TextClause | None = None) -> None:
    op.create_index(name, table, list(columns), unique=False, sqlite_where=where, postgresql_where=where)
