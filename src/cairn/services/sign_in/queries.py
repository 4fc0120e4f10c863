"""Queries of credentials: tokens, sessions, invitations and linked identities."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from cairn.store import Connection
from cairn.store import tables as t

A, S, U, V, L = t.api_tokens.c, t.sessions.c, t.users.c, t.invitations.c, t.user_identities.c


def token_by_digest(connection: Connection, digest: str) -> Any:
    return connection.execute(sa.select(t.api_tokens).where(A.token_digest == digest)).one_or_none()


def session_by_digest(connection: Connection, digest: str) -> Any:
    return connection.execute(sa.select(t.sessions).where(S.session_digest == digest)).one_or_none()


def owner_of_session(connection: Connection, session_id: str) -> str | None:
    return connection.execute(sa.select(S.user_name).where(S.session_id == session_id)).scalar_one_or_none()


def user_to_sign_in(connection: Connection, name: str) -> Any:
    """The active user with this name or, if there is none, with this email address."""
    is_match = sa.or_(U.name == name, U.email == name) if "@" in name else U.name == name
    rows = connection.execute(sa.select(t.users).where(is_match, U.deleted_at.is_(None))).all()
    return next((row for row in rows if row.name == name), rows[0] if rows else None)


def password_hash_of(connection: Connection, user: str) -> str | None:
    return connection.execute(sa.select(U.password_hash).where(U.name == user)).scalar_one()


def user_by_identity(connection: Connection, provider: str, subject: str) -> str | None:
    query = sa.select(L.user_name).where(L.provider == provider, L.subject == subject)
    return connection.execute(query).scalar_one_or_none()


def user_by_email(connection: Connection, email: str) -> str | None:
    return connection.execute(sa.select(U.name).where(U.email == email, U.email != "")).scalar_one_or_none()


def has_user(connection: Connection, name: str) -> bool:
    """Whether a user has the name. Deleted users count."""
    return connection.execute(sa.select(U.name).where(U.name == name)).first() is not None


def invitation_by_digest(connection: Connection, digest: str, *, lock: bool = False) -> Any:
    """The invitation, with the name, email address and removal of its user."""
    query = (
        sa.select(t.invitations, U.display_name, U.email, U.deleted_at)
        .join(t.users, U.name == V.user_name)
        .where(V.token_digest == digest)
    )
    return connection.execute(query.with_for_update(of=t.invitations) if lock else query).one_or_none()
