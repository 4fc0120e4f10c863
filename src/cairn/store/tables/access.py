"""Who may come in, what was answered already, and facts about this installation."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import index, json, metadata, moment, text, whole

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

api_tokens = sa.Table(
    "api_tokens",
    metadata,
    text("token_digest", primary_key=True),
    text("name"),
    text("actor"),
    json("roles"),
    moment("created_at"),
    moment("expires_at", null=True),
    moment("revoked_at", null=True),
)

sessions = sa.Table(
    "sessions",
    metadata,
    text("session_digest", primary_key=True),
    text("actor"),
    json("roles"),
    moment("created_at"),
    moment("expires_at"),
    index("ix_sessions_expires", "expires_at"),
)

settings = sa.Table("settings", metadata, text("key", primary_key=True), json("value", null=True))
