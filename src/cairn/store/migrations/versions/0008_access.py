"""Tokens, sessions, idempotency keys and settings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")


def upgrade() -> None:
    _idempotency_keys()
    _api_tokens()
    _sessions()
    _settings()


def _idempotency_keys() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("request_digest", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("response", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("actor", "key", name="pk_idempotency_keys"),
    )
    op.create_index(
        "ix_idempotency_keys_created",
        "idempotency_keys",
        ["created_at"],
        unique=False,
        sqlite_where=None,
        postgresql_where=None,
    )


def _api_tokens() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("token_digest", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=True),
        sa.Column("revoked_at", INSTANT, nullable=True),
        sa.PrimaryKeyConstraint("token_digest", name="pk_api_tokens"),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("session_digest", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("session_digest", name="pk_sessions"),
    )
    op.create_index(
        "ix_sessions_expires", "sessions", ["expires_at"], unique=False, sqlite_where=None, postgresql_where=None
    )


def _settings() -> None:
    op.create_table(
        "settings",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_settings"),
    )
