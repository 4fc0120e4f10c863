"""Writes of credentials: sessions, invitations, passwords and linked identities."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cairn.store import Connection
from cairn.store import tables as t

S, U, V = t.sessions.c, t.users.c, t.invitations.c


# ---- sessions --------------------------------------------------------------------------------------------
def insert_session(connection: Connection, row: dict[str, Any]) -> None:
    """Insert a session, and delete those that have expired."""
    connection.execute(sa.delete(t.sessions).where(S.expires_at < row["created_at"]))
    connection.execute(sa.insert(t.sessions).values(row))


def extend_session(connection: Connection, digest: str, expires_at: datetime) -> None:
    connection.execute(sa.update(t.sessions).where(S.session_digest == digest).values(expires_at=expires_at))


def delete_session(connection: Connection, session_id: str) -> None:
    connection.execute(sa.delete(t.sessions).where(S.session_id == session_id))


def delete_session_by_digest(connection: Connection, digest: str) -> str | None:
    """The user whose session it was, or None if there was none."""
    delete = sa.delete(t.sessions).where(S.session_digest == digest)
    return connection.execute(delete.returning(S.user_name)).scalar()


def delete_sessions(connection: Connection, user: str, *, except_session_id: str | None = None) -> int:
    """Delete all sessions of a user, optionally except one. Return the number of deleted sessions."""
    is_deleted = S.session_id != except_session_id if except_session_id is not None else sa.true()
    return connection.execute(sa.delete(t.sessions).where(S.user_name == user, is_deleted)).rowcount


# ---- users -----------------------------------------------------------------------------------------------
def save_sign_in(connection: Connection, user: str, at: datetime) -> bool:
    """False if the user has been deleted."""
    update = sa.update(t.users).where(U.name == user, U.deleted_at.is_(None)).values(last_signed_in_at=at)
    return connection.execute(update).rowcount > 0


def save_password(connection: Connection, user: str, password_hash: str, display_name: str | None = None) -> None:
    values = {"password_hash": password_hash} | ({"display_name": display_name} if display_name else {})
    connection.execute(sa.update(t.users).where(U.name == user).values(values))


def replace_password_hash(connection: Connection, user: str, current: str, new: str) -> None:
    """Save a new hash of the same password, unless the password has been changed since."""
    update = sa.update(t.users).where(U.name == user, U.password_hash == current)
    connection.execute(update.values(password_hash=new))


def link_identity(connection: Connection, provider: str, subject: str, user: str, at: datetime) -> None:
    values = {"provider": provider, "subject": subject, "user_name": user, "created_at": at}
    connection.execute(sa.insert(t.user_identities).values(values))


# ---- invitations -----------------------------------------------------------------------------------------
def insert_invitation(connection: Connection, row: dict[str, Any]) -> None:
    connection.execute(sa.insert(t.invitations).values(row))


def lock_invitation(connection: Connection, invitation_id: str) -> Any:
    """None if there is no such invitation."""
    query = sa.select(t.invitations).where(V.invitation_id == invitation_id).with_for_update()
    return connection.execute(query).one_or_none()


def revoke_invitation(connection: Connection, invitation_id: str, at: datetime) -> None:
    connection.execute(sa.update(t.invitations).where(V.invitation_id == invitation_id).values(revoked_at=at))


def revoke_open_invitations(connection: Connection, user: str, at: datetime) -> None:
    is_open = sa.and_(V.user_name == user, V.accepted_at.is_(None), V.revoked_at.is_(None))
    connection.execute(sa.update(t.invitations).where(is_open).values(revoked_at=at))


def accept_invitation(connection: Connection, invitation_id: str, at: datetime) -> bool:
    """False if it has been accepted already."""
    update = sa.update(t.invitations).where(V.invitation_id == invitation_id, V.accepted_at.is_(None))
    return connection.execute(update.values(accepted_at=at)).rowcount > 0
