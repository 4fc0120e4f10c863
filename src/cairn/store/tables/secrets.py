"""Encrypted secrets."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import metadata, text, timestamp

secrets = sa.Table(
    "secrets",
    metadata,
    text("name", primary_key=True),
    text("ciphertext"),  # the value and the name, encrypted
    timestamp("created_at"),
    text("created_by"),
    timestamp("updated_at"),
    text("updated_by"),
)
