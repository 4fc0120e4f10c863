"""Rules for approvals, emergency stops, and reviews of automatic approvals."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "rule_versions",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("scope", "revision", name="pk_rule_versions"),
    )
    op.create_table(
        "rule_heads",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("stopped", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("scope", name="pk_rule_heads"),
    )
    op.execute("INSERT INTO rule_heads VALUES ('global', 0, false)")
    op.create_table(
        "emergency_stops",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("stopped", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_emergency_stops"),
    )
    op.create_table(
        "audit_reviews",
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("agrees", sa.Boolean(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["approval_id"], ["approvals.approval_id"], name="fk_audit_reviews_approval_id"),
        sa.PrimaryKeyConstraint("approval_id", name="pk_audit_reviews"),
    )
    op.create_index(
        "ix_audit_reviews_at",
        "audit_reviews",
        ["at", "approval_id"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )
    op.create_index(
        "ix_approvals_sampled",
        "approvals",
        ["asked_at", "approval_id"],
        unique=False,
        sqlite_where=sa.text("audit"),
        postgresql_where=sa.text("audit"),
    )
