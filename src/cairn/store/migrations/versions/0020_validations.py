"""What validation has found, and summaries of what was too long."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "validations",
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("dispatch_number", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("revision_iteration", sa.Integer(), nullable=False),
        sa.Column("attempt_number", sa.Integer(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("passes", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("findings", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("is_simulated", sa.Boolean(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.CheckConstraint("by IN ('schema', 'lenient', 'custom')", name="by_known"),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_validations_execution_id"
        ),
        sa.PrimaryKeyConstraint("execution_id", "dispatch_number", "position", name="pk_validations"),
    )
    op.create_table(
        "summaries",
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("made_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("checksum", "model", name="pk_summaries"),
    )
