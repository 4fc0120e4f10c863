"""API tokens and sessions."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import index, json, metadata, references, text, timestamp

api_tokens = sa.Table(
    "api_tokens",
    metadata,
    text("token_digest", primary_key=True),
    text("token_id", unique=True),
    text("user_name", references("users.name")),
    text("name"),
    json("scopes", null=True),  # null: all permissions of the user
    timestamp("created_at"),
    text("created_by"),
    timestamp("expires_at", null=True),
    timestamp("last_used_at", null=True),
    timestamp("revoked_at", null=True),
    index("ix_api_tokens_created", "created_at", "token_id"),
    index("ix_api_tokens_of_user", "user_name"),
)

sessions = sa.Table(
    "sessions",
    metadata,
    text("session_digest", primary_key=True),
    text("session_id", unique=True),
    text("user_name", references("users.name")),
    text("signed_in_with"),  # token, password, invitation, or a provider's name
    text("token_id", null=True),  # the session ends when this token is revoked
    json("scopes", null=True),  # of that token
    text("address"),
    text("user_agent"),
    timestamp("created_at"),
    timestamp("expires_at"),  # extended by use
    timestamp("ends_at", null=True),  # not extended by use
    index("ix_sessions_expires", "expires_at"),
    index("ix_sessions_created", "created_at", "session_id"),
    index("ix_sessions_of_user", "user_name"),
)
