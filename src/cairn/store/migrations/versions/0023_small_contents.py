"""Small contents lie in their rows: a row of chunks was another for each artifact, in two more places of the file."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("blobs", sa.Column("data", sa.LargeBinary(), nullable=True))
