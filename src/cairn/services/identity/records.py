"""Save users, groups, tokens and delegations. The `lock_*` functions read a row that is about to change."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.errors import NotFound

U, G, M, A, D, S, V = (
    table.c for table in (t.users, t.groups, t.group_members, t.api_tokens, t.delegations, t.sessions, t.invitations)
)


# Users
def lock_user(connection: Connection, name: str) -> Any:
    row = connection.execute(sa.select(t.users).where(U.name == name).with_for_update()).one_or_none()
    if row is None:
        raise NotFound("user", repr(name)[:80])
    return row


def insert_user(connection: Connection, row: dict[str, Any]) -> None:
    connection.execute(sa.insert(t.users).values(row))


def update_user(connection: Connection, name: str, values: dict[str, Any]) -> None:
    connection.execute(sa.update(t.users).where(U.name == name).values(values))


def delete_user(connection: Connection, name: str, at: datetime, deleted_by: str) -> None:
    """Mark the user as deleted, and end everything that gives them access."""
    is_involved = sa.or_(D.from_user == name, D.to_user == name)
    for statement in (
        sa.update(t.users).where(U.name == name).values(deleted_at=at, password_hash=None),
        sa.delete(t.sessions).where(S.user_name == name),
        sa.delete(t.group_members).where(M.user_name == name),
        sa.update(t.api_tokens).where(A.user_name == name, A.revoked_at.is_(None)).values(revoked_at=at),
        sa.update(t.invitations).where(V.user_name == name, V.revoked_at.is_(None)).values(revoked_at=at),
        sa.update(t.delegations).where(is_involved, D.ended_at.is_(None)).values(ended_at=at, ended_by=deleted_by),
    ):
        connection.execute(statement)


# Groups
def lock_group(connection: Connection, name: str) -> Any:
    row = connection.execute(sa.select(t.groups).where(G.name == name).with_for_update()).one_or_none()
    if row is None:
        raise NotFound("group", repr(name)[:80])
    return row


def insert_group(connection: Connection, name: str, description: str, created_at: datetime, created_by: str) -> None:
    values = {"name": name, "description": description, "created_at": created_at, "created_by": created_by}
    connection.execute(sa.insert(t.groups).values(values))


def update_group(connection: Connection, name: str, description: str) -> None:
    connection.execute(sa.update(t.groups).where(G.name == name).values(description=description))


def delete_group(connection: Connection, name: str) -> None:
    connection.execute(sa.delete(t.group_members).where(M.group_name == name))
    connection.execute(sa.delete(t.groups).where(G.name == name))


def add_members(connection: Connection, memberships: Iterable[tuple[str, str]]) -> None:
    """Add memberships, which are pairs of a group and a user."""
    for group, user in memberships:
        connection.execute(sa.insert(t.group_members).values(group_name=group, user_name=user))


def remove_members(connection: Connection, group: str, users: Collection[str]) -> None:
    connection.execute(sa.delete(t.group_members).where(M.group_name == group, M.user_name.in_(users)))


def leave_groups(connection: Connection, user: str, groups: Collection[str]) -> None:
    connection.execute(sa.delete(t.group_members).where(M.user_name == user, M.group_name.in_(groups)))


# Tokens
def lock_token(connection: Connection, token_id: str) -> Any:
    """Lock and return a token, or None if it doesn't exist."""
    return connection.execute(sa.select(t.api_tokens).where(A.token_id == token_id).with_for_update()).one_or_none()


def insert_token(connection: Connection, row: dict[str, Any]) -> None:
    connection.execute(sa.insert(t.api_tokens).values(row))


def revoke_token(connection: Connection, token_id: str, at: datetime) -> None:
    connection.execute(sa.update(t.api_tokens).where(A.token_id == token_id).values(revoked_at=at))


def delete_sessions_of_token(connection: Connection, token_id: str) -> None:
    connection.execute(sa.delete(t.sessions).where(S.token_id == token_id))


def revoke_tokens_named(connection: Connection, user: str, name: str, at: datetime) -> None:
    is_valid = sa.and_(A.name == name, A.user_name == user, A.revoked_at.is_(None))
    connection.execute(sa.update(t.api_tokens).where(is_valid).values(revoked_at=at))


def save_last_use(connection: Connection, token_digest: str, at: datetime) -> None:
    connection.execute(sa.update(t.api_tokens).where(A.token_digest == token_digest).values(last_used_at=at))


# Delegations
def lock_delegation(connection: Connection, delegation_id: str) -> Any:
    """Lock and return a delegation, or None if it doesn't exist."""
    query = sa.select(t.delegations).where(D.delegation_id == delegation_id).with_for_update()
    return connection.execute(query).one_or_none()


def insert_delegation(connection: Connection, row: dict[str, Any]) -> None:
    connection.execute(sa.insert(t.delegations).values(row))


def end_delegation(connection: Connection, delegation_id: str, at: datetime, ended_by: str) -> None:
    values = {"ended_at": at, "ended_by": ended_by}
    connection.execute(sa.update(t.delegations).where(D.delegation_id == delegation_id).values(values))
