"""The queue: what an action does is told in one line, and equal deadlines are ordered by when they were asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

PENDING = sa.text("status = 'pending'")


def upgrade() -> None:
    op.add_column("actions", sa.Column("summary", sa.Text(), nullable=True))
    op.drop_index("ix_approvals_due", table_name="approvals")
    op.create_index(
        "ix_approvals_due",
        "approvals",
        ["expires_at", "asked_at", "approval_id"],
        unique=False,
        sqlite_where=PENDING,
        postgresql_where=PENDING,
    )
