"""What lets people in, what was answered already, secrets, and facts about this installation."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import index, json, metadata, moment, refers, text

api_tokens = sa.Table(
    "api_tokens",
    metadata,
    text("token_digest", primary_key=True),
    text("token_id", unique=True),
    text("user_name", refers("users.name")),
    text("name"),
    json("scopes", null=True),  # null narrows nothing
    moment("created_at"),
    text("created_by"),
    moment("expires_at", null=True),
    moment("last_used_at", null=True),
    moment("revoked_at", null=True),
    index("ix_api_tokens_created", "created_at", "token_id"),
    index("ix_api_tokens_of_user", "user_name"),
)

sessions = sa.Table(
    "sessions",
    metadata,
    text("session_digest", primary_key=True),
    text("session_id", unique=True),
    text("user_name", refers("users.name")),
    text("signed_in_with"),  # a token, a password, an invitation, or a provider by its name
    text("token_id", null=True),  # it ends with this one
    json("scopes", null=True),  # of that token
    text("address"),
    text("user_agent"),
    moment("created_at"),
    moment("expires_at"),  # unless it is used
    moment("ends_at", null=True),  # also if it is used
    index("ix_sessions_expires", "expires_at"),
    index("ix_sessions_created", "created_at", "session_id"),
    index("ix_sessions_of_user", "user_name"),
)
