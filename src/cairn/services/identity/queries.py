"""Queries of users, groups, invitations, tokens, sessions and delegations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import TypeVar, cast

import sqlalchemy as sa

from cairn.ports import Clock
from cairn.services.actors import Role, Scope
from cairn.services.identity.views import (
    Delegation,
    DelegationPage,
    Group,
    GroupPage,
    Invitation,
    InvitationPage,
    OpenSession,
    OpenSessionPage,
    Person,
    PersonPage,
    Token,
    TokenPage,
    User,
    UserPage,
)
from cairn.services.paging import Row, SortOrder, page
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.errors import NotFound

T = TypeVar("T")
U, G, M, V, A, S, D = (
    table.c for table in (t.users, t.groups, t.group_members, t.invitations, t.api_tokens, t.sessions, t.delegations)
)


class IdentityQueries:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def _read(self, query: Callable[[Connection, datetime], T]) -> T:
        now = self._clock.now()
        return self._database.read(lambda c: query(c, now))

    # Users and groups
    def list_users(self, *, deleted: bool, search: str, limit: int, cursor: str | None) -> UserPage:
        def read(connection: Connection, now: datetime) -> UserPage:
            query = sa.select(t.users)
            if not deleted:
                query = query.where(U.deleted_at.is_(None))
            if search:
                pattern = f"%{_escape_like(search.lower())}%"
                fields = (U.name, sa.func.lower(U.display_name), U.email)
                query = query.where(sa.or_(*(field.like(pattern, escape="\\") for field in fields)))
            found = page(connection, query, SortOrder((U.name,)), limit, cursor)
            return UserPage(items=_users(connection, found.rows, now), next_cursor=found.next_cursor)

        return self._read(read)

    def list_people(self, search: str, limit: int, cursor: str | None) -> PersonPage:
        found = self.list_users(deleted=False, search=search, limit=limit, cursor=cursor)
        return PersonPage(items=[_as_person(user) for user in found.items], next_cursor=found.next_cursor)

    def get_user(self, name: str) -> User:
        def read(connection: Connection, now: datetime) -> User:
            rows = connection.execute(sa.select(t.users).where(U.name == name)).all()
            if not rows:
                raise NotFound("user", repr(name)[:80])
            return _users(connection, rows, now)[0]

        return self._read(read)

    def has_passwords(self) -> bool:
        """Whether any user has a password."""
        query = sa.select(U.name).where(U.password_hash.is_not(None)).limit(1)
        return self._read(lambda c, _: c.execute(query).first() is not None)

    def list_groups(self, limit: int, cursor: str | None) -> GroupPage:
        def read(connection: Connection, _: datetime) -> GroupPage:
            found = page(connection, sa.select(t.groups), SortOrder((G.name,)), limit, cursor)
            return GroupPage(items=_groups(connection, found.rows), next_cursor=found.next_cursor)

        return self._read(read)

    def get_group(self, name: str) -> Group:
        def read(connection: Connection, _: datetime) -> Group:
            rows = connection.execute(sa.select(t.groups).where(G.name == name)).all()
            if not rows:
                raise NotFound("group", repr(name)[:80])
            return _groups(connection, rows)[0]

        return self._read(read)

    # Invitations, tokens and sessions
    def list_invitations(self, *, all: bool, limit: int, cursor: str | None) -> InvitationPage:
        def read(connection: Connection, now: datetime) -> InvitationPage:
            query = sa.select(t.invitations)
            if not all:
                query = query.where(V.accepted_at.is_(None), V.revoked_at.is_(None), V.expires_at > now)
            order = SortOrder((V.created_at, V.invitation_id), newest_first=True)
            found = page(connection, query, order, limit, cursor)
            items = [_invitation(row, now) for row in found.rows]
            return InvitationPage(items=items, next_cursor=found.next_cursor)

        return self._read(read)

    def get_invitation(self, invitation_id: str) -> Invitation:
        query = sa.select(t.invitations).where(V.invitation_id == invitation_id)
        return self._read(lambda c, now: _invitation(_find_row(c, query, "invitation", invitation_id), now))

    def list_tokens(self, *, user: str | None, all: bool, limit: int, cursor: str | None) -> TokenPage:
        def read(connection: Connection, now: datetime) -> TokenPage:
            query = sa.select(t.api_tokens)
            if user is not None:
                query = query.where(A.user_name == user)
            if not all:
                query = query.where(A.revoked_at.is_(None), sa.or_(A.expires_at.is_(None), A.expires_at > now))
            order = SortOrder((A.created_at, A.token_id), newest_first=True)
            found = page(connection, query, order, limit, cursor)
            return TokenPage(items=[_token(row, now) for row in found.rows], next_cursor=found.next_cursor)

        return self._read(read)

    def get_token(self, token_id: str) -> Token:
        query = sa.select(t.api_tokens).where(A.token_id == token_id)
        return self._read(lambda c, now: _token(_find_row(c, query, "token", token_id), now))

    def list_sessions(
        self, *, user: str | None, current: str | None, limit: int, cursor: str | None
    ) -> OpenSessionPage:
        def read(connection: Connection, now: datetime) -> OpenSessionPage:
            query = sa.select(t.sessions).where(S.expires_at > now)
            if user is not None:
                query = query.where(S.user_name == user)
            order = SortOrder((S.created_at, S.session_id), newest_first=True)
            found = page(connection, query, order, limit, cursor)
            items = [_session(row, current) for row in found.rows]
            return OpenSessionPage(items=items, next_cursor=found.next_cursor)

        return self._read(read)

    # Delegations
    def list_delegations(self, *, user: str | None, all: bool, limit: int, cursor: str | None) -> DelegationPage:
        def read(connection: Connection, now: datetime) -> DelegationPage:
            query = sa.select(t.delegations)
            if user is not None:
                query = query.where(sa.or_(D.from_user == user, D.to_user == user))
            if not all:
                query = query.where(D.ended_at.is_(None), D.ends_at > now)
            order = SortOrder((D.created_at, D.delegation_id), newest_first=True)
            found = page(connection, query, order, limit, cursor)
            items = [_delegation(row, now) for row in found.rows]
            return DelegationPage(items=items, next_cursor=found.next_cursor)

        return self._read(read)

    def get_delegation(self, delegation_id: str) -> Delegation:
        query = sa.select(t.delegations).where(D.delegation_id == delegation_id)
        return self._read(lambda c, now: _delegation(_find_row(c, query, "delegation", delegation_id), now))


def _escape_like(search: str) -> str:
    return search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _find_row(connection: Connection, query: sa.Select[*tuple[object, ...]], noun: str, id: str) -> Row:
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound(noun, id)
    return row


def _users(connection: Connection, rows: Iterable[Row], now: datetime) -> list[User]:
    rows = list(rows)
    names = [row.name for row in rows]
    groups = _grouped(connection, M.user_name, M.group_name, M.user_name.in_(names))
    identities = t.user_identities.c
    providers = _grouped(connection, identities.user_name, identities.provider, identities.user_name.in_(names))
    is_open = sa.and_(V.user_name.in_(names), V.accepted_at.is_(None), V.revoked_at.is_(None), V.expires_at > now)
    invited = _grouped(connection, V.user_name, V.invitation_id, is_open)
    return [
        User(
            name=row.name,
            display_name=row.display_name or row.name,
            email=row.email,
            roles=roles(row.roles),
            groups=groups.get(row.name, []),
            has_password=row.password_hash is not None,
            providers=sorted(set(providers.get(row.name, []))),
            is_invited=row.name in invited,
            created_at=row.created_at,
            created_by=row.created_by,
            last_signed_in_at=row.last_signed_in_at,
            deleted_at=row.deleted_at,
        )
        for row in rows
    ]


def _as_person(user: User) -> Person:
    can_decide = Role.APPROVER in user.roles or Role.ADMIN in user.roles
    return Person(name=user.name, display_name=user.display_name, groups=user.groups, can_decide=can_decide)


def _grouped(
    connection: Connection,
    key: sa.ColumnElement[str],
    value: sa.ColumnElement[str],
    condition: sa.ColumnElement[bool],
) -> dict[str, list[str]]:
    """The values by key."""
    found: dict[str, list[str]] = {}
    for row_key, row_value in connection.execute(sa.select(key, value).where(condition).order_by(value)):
        found.setdefault(row_key, []).append(row_value)
    return found


def _groups(connection: Connection, rows: Iterable[Row]) -> list[Group]:
    rows = list(rows)
    names = [row.name for row in rows]
    members = _grouped(connection, M.group_name, M.user_name, M.group_name.in_(names))
    return [
        Group(
            name=row.name,
            description=row.description,
            members=members.get(row.name, []),
            created_at=row.created_at,
            created_by=row.created_by,
        )
        for row in rows
    ]


def _invitation(row: Row, now: datetime) -> Invitation:
    return Invitation(
        invitation_id=row.invitation_id,
        user=row.user_name,
        created_at=row.created_at,
        created_by=row.created_by,
        expires_at=row.expires_at,
        accepted_at=row.accepted_at,
        revoked_at=row.revoked_at,
        is_open=row.accepted_at is None and row.revoked_at is None and row.expires_at > now,
    )


def _token(row: Row, now: datetime) -> Token:
    return Token(
        token_id=row.token_id,
        user=row.user_name,
        name=row.name,
        scopes=scopes(row.scopes),
        created_at=row.created_at,
        created_by=row.created_by,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
        is_valid=row.revoked_at is None and (row.expires_at is None or row.expires_at > now),
    )


def _session(row: Row, current: str | None) -> OpenSession:
    return OpenSession(
        session_id=row.session_id,
        user=row.user_name,
        signed_in_with=row.signed_in_with,
        scopes=scopes(row.scopes),
        address=row.address,
        user_agent=row.user_agent,
        created_at=row.created_at,
        expires_at=row.expires_at,
        is_current=row.session_id == current,
    )


def _delegation(row: Row, now: datetime) -> Delegation:
    return Delegation(
        delegation_id=row.delegation_id,
        from_user=row.from_user,
        to_user=row.to_user,
        reason=row.reason,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        created_at=row.created_at,
        created_by=row.created_by,
        ended_at=row.ended_at,
        ended_by=row.ended_by,
        is_active=row.ended_at is None and row.starts_at <= now < row.ends_at,
    )


def roles(names: object) -> list[Role]:
    known = set(cast("list[str]", names))
    return [role for role in Role if role.value in known]


def scopes(names: object) -> list[Scope] | None:
    if names is None:
        return None
    known = set(cast("list[str]", names))
    return [scope for scope in Scope if scope.value in known]


# Rows
def active_user(connection: Connection, name: str) -> Row | None:
    return connection.execute(sa.select(t.users).where(U.name == name, U.deleted_at.is_(None))).one_or_none()


def all_active_users(connection: Connection) -> Sequence[Row]:
    return connection.execute(sa.select(t.users).where(U.deleted_at.is_(None)).order_by(U.name)).all()


def active_users_among(connection: Connection, names: Collection[str]) -> set[str]:
    query = sa.select(U.name).where(U.name.in_(names), U.deleted_at.is_(None))
    return set(connection.execute(query).scalars())


def is_name_taken(connection: Connection, name: str) -> bool:
    """Whether a user (by name or email address) or a group has the name. Deleted users count."""
    users = sa.select(U.name).where(sa.or_(U.name == name, U.email == name))
    groups = sa.select(G.name).where(G.name == name)
    return connection.execute(users.union_all(groups)).first() is not None


def is_email_taken(connection: Connection, email: str, name: str) -> bool:
    """Whether a user other than `name` has this email address, or has it as a name."""
    others = sa.select(U.name).where(U.name != name, sa.or_(U.email == email, U.name == email))
    return connection.execute(others).first() is not None


def existing_groups(connection: Connection, names: Collection[str]) -> set[str]:
    return set(connection.execute(sa.select(G.name).where(G.name.in_(names))).scalars())


def all_memberships(connection: Connection) -> Sequence[Row]:
    return connection.execute(sa.select(t.group_members)).all()


def groups_of(connection: Connection, user: str) -> set[str]:
    return set(connection.execute(sa.select(M.group_name).where(M.user_name == user)).scalars())


def members_of(connection: Connection, group: str) -> set[str]:
    return set(connection.execute(sa.select(M.user_name).where(M.group_name == group)).scalars())


def current_delegations(connection: Connection, now: datetime) -> Sequence[Row]:
    query = sa.select(D.from_user, D.to_user).where(D.ended_at.is_(None), D.starts_at <= now, D.ends_at > now)
    return connection.execute(query).all()


def delegations_to(connection: Connection, user: str, now: datetime) -> Sequence[Row]:
    """The current and future delegations to a user."""
    query = sa.select(D.from_user, D.starts_at, D.ends_at)
    return connection.execute(query.where(D.to_user == user, D.ended_at.is_(None), D.ends_at > now)).all()
