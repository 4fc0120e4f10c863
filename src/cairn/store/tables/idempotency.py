"""Responses stored by idempotency key."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import index, metadata, moment, text, whole

idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    text("actor", primary_key=True),
    text("key", primary_key=True),
    text("method"),
    text("path"),
    text("request_digest"),
    whole("status", null=True),  # null while the first request is being answered
    sa.Column("response", sa.LargeBinary, nullable=True),
    moment("created_at"),
    index("ix_idempotency_keys_created", "created_at"),
)
