"""The events of an execution are found among those of its run: an index of their own was a tenth of every commit."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_events_of_execution", table_name="events")
