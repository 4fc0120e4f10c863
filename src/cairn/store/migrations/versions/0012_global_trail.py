"""A chain of events for what belongs to no pipeline."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "chains",
        sa.Column("chain", sa.Text(), nullable=False),
        sa.Column("event_seq", sa.Integer(), nullable=False),
        sa.Column("event_head", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("chain", name="pk_chains"),
    )
    op.execute("INSERT INTO chains VALUES ('global', 0, '')")
