"""Contents by checksum."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    _blobs()
    _blob_chunks()


def _blobs() -> None:
    op.create_table(
        "blobs",
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        sa.Column("compression", sa.Text(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.CheckConstraint("compression IN ('none', 'zlib')", name="compression_known"),
        sa.PrimaryKeyConstraint("checksum", name="pk_blobs"),
        sqlite_with_rowid=False,
    )


def _blob_chunks() -> None:
    op.create_table(
        "blob_chunks",
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["checksum"], ["blobs.checksum"], name="fk_blob_chunks_checksum"),
        sa.PrimaryKeyConstraint("checksum", "number", name="pk_blob_chunks"),
    )
