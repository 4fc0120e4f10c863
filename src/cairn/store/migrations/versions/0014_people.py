"""Users, groups, invitations, delegations and secrets; tokens and sessions belong to users."""

# ruff: noqa: S608 - every name in these statements stands in this file

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
NOW = {"sqlite": "strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'", "postgresql": "now()"}
ID = " || '-' || ".join(
    f"substr({{0}}, {start}, {length})" for start, length in ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
)


def upgrade() -> None:
    _users()
    _groups()
    _invitations()
    _delegations()
    _secrets()
    _replace("api_tokens", _api_tokens, _TOKENS_KEPT)
    _replace("sessions", _sessions, _SESSIONS_KEPT)


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _moment(name: str, *, null: bool = False) -> sa.Column[datetime]:
    return sa.Column(name, INSTANT, nullable=null)


def _refers(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [to], name=f"fk_{table}_{column}")


def _index(name: str, table: str, *columns: str) -> None:
    op.create_index(name, table, list(columns), unique=False, sqlite_where=None, postgresql_where=None)


def _users() -> None:
    op.create_table(
        "users",
        _text("name"),
        _text("display_name"),
        _text("email"),
        _text("roles"),
        _text("password_hash", null=True),
        _moment("created_at"),
        _text("created_by"),
        _moment("signed_in_at", null=True),
        _moment("removed_at", null=True),
        sa.PrimaryKeyConstraint("name", name="pk_users"),
    )
    has_one = sa.text("email <> ''")
    op.create_index("ix_users_email", "users", ["email"], unique=True, sqlite_where=has_one, postgresql_where=has_one)
    now = NOW[op.get_context().dialect.name]
    roles = '["admin","approver","editor","viewer"]'
    op.execute(
        "INSERT INTO users (name, display_name, email, roles, created_at, created_by)"
        f" VALUES ('admin', 'Administrator', '', '{roles}', {now}, 'admin')"
    )
    op.create_table(
        "user_identities",
        _text("provider"),
        _text("subject"),
        _text("user_name"),
        _moment("created_at"),
        _refers("user_identities", "user_name", "users.name"),
        sa.PrimaryKeyConstraint("provider", "subject", name="pk_user_identities"),
    )
    _index("ix_user_identities_of_user", "user_identities", "user_name")


def _groups() -> None:
    op.create_table(
        "groups",
        _text("name"),
        _text("description"),
        _moment("created_at"),
        _text("created_by"),
        sa.PrimaryKeyConstraint("name", name="pk_groups"),
    )
    op.create_table(
        "group_members",
        _text("group_name"),
        _text("user_name"),
        _refers("group_members", "group_name", "groups.name"),
        _refers("group_members", "user_name", "users.name"),
        sa.PrimaryKeyConstraint("group_name", "user_name", name="pk_group_members"),
    )
    _index("ix_group_members_of_user", "group_members", "user_name")


def _invitations() -> None:
    op.create_table(
        "invitations",
        _text("invitation_id"),
        _text("token_digest"),
        _text("user_name"),
        _moment("created_at"),
        _text("created_by"),
        _moment("expires_at"),
        _moment("accepted_at", null=True),
        _moment("revoked_at", null=True),
        _refers("invitations", "user_name", "users.name"),
        sa.PrimaryKeyConstraint("invitation_id", name="pk_invitations"),
        sa.UniqueConstraint("token_digest", name="uq_invitations_token_digest"),
    )
    _index("ix_invitations_created", "invitations", "created_at", "invitation_id")
    _index("ix_invitations_of_user", "invitations", "user_name")


def _delegations() -> None:
    op.create_table(
        "delegations",
        _text("delegation_id"),
        _text("from_user"),
        _text("to_user"),
        _text("reason"),
        _moment("starts_at"),
        _moment("until"),
        _moment("created_at"),
        _text("created_by"),
        _moment("ended_at", null=True),
        _text("ended_by", null=True),
        _refers("delegations", "from_user", "users.name"),
        _refers("delegations", "to_user", "users.name"),
        sa.PrimaryKeyConstraint("delegation_id", name="pk_delegations"),
    )
    _index("ix_delegations_created", "delegations", "created_at", "delegation_id")
    _index("ix_delegations_from", "delegations", "from_user")
    _index("ix_delegations_to", "delegations", "to_user")


def _secrets() -> None:
    op.create_table(
        "secrets",
        _text("name"),
        _text("sealed"),
        _moment("created_at"),
        _text("created_by"),
        _moment("changed_at"),
        _text("changed_by"),
        sa.PrimaryKeyConstraint("name", name="pk_secrets"),
    )


def _api_tokens() -> None:
    op.create_table(
        "api_tokens",
        _text("token_digest"),
        _text("token_id"),
        _text("user_name"),
        _text("name"),
        _text("scopes", null=True),
        _moment("created_at"),
        _text("created_by"),
        _moment("expires_at", null=True),
        _moment("last_used_at", null=True),
        _moment("revoked_at", null=True),
        _refers("api_tokens", "user_name", "users.name"),
        sa.PrimaryKeyConstraint("token_digest", name="pk_api_tokens"),
        sa.UniqueConstraint("token_id", name="uq_api_tokens_token_id"),
    )
    _index("ix_api_tokens_created", "api_tokens", "created_at", "token_id")
    _index("ix_api_tokens_of_user", "api_tokens", "user_name")


def _sessions() -> None:
    op.create_table(
        "sessions",
        _text("session_digest"),
        _text("session_id"),
        _text("user_name"),
        _text("signed_in_with"),
        _text("token_id", null=True),
        _text("scopes", null=True),
        _text("address"),
        _text("user_agent"),
        _moment("created_at"),
        _moment("expires_at"),
        _moment("ends_at", null=True),
        _refers("sessions", "user_name", "users.name"),
        sa.PrimaryKeyConstraint("session_digest", name="pk_sessions"),
        sa.UniqueConstraint("session_id", name="uq_sessions_session_id"),
    )
    _index("ix_sessions_expires", "sessions", "expires_at")
    _index("ix_sessions_created", "sessions", "created_at", "session_id")
    _index("ix_sessions_of_user", "sessions", "user_name")


# Only the local admin has had any: the start link and what was signed in with it go on working.
_TOKENS_KEPT = (
    "INSERT INTO api_tokens"
    " (token_digest, token_id, user_name, name, created_at, created_by, expires_at, revoked_at)"
    f" SELECT token_digest, {ID.format('token_digest')}, actor, name, created_at, actor, expires_at, revoked_at"
    " FROM earlier WHERE actor = 'admin'"
)
_SESSIONS_KEPT = (
    "INSERT INTO sessions"
    " (session_digest, session_id, user_name, signed_in_with, address, user_agent, created_at, expires_at)"
    f" SELECT session_digest, {ID.format('session_digest')}, actor, 'token', '', '', created_at, expires_at"
    " FROM earlier WHERE actor = 'admin'"
)


def _replace(table: str, make: Callable[[], None], keep: str) -> None:
    """The same table in another shape, with its rows."""
    op.execute(f"CREATE TABLE earlier AS SELECT * FROM {table}")
    op.drop_table(table)
    make()
    op.execute(keep)
    op.drop_table("earlier")
