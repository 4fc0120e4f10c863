"""Responses stored by idempotency key."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import index, integer, metadata, text, timestamp

idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    text("actor", primary_key=True),
    text("key", primary_key=True),
    text("method"),
    text("path"),
    text("request_digest"),
    integer("status", null=True),  # null while the first request is being answered
    sa.Column("response", sa.LargeBinary, nullable=True),
    timestamp("created_at"),
    index("ix_idempotency_keys_created", "created_at"),
)
