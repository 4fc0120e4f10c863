"""Users: made, changed, removed, restored. A name is never given to somebody else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.services.actors import ADMIN, Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput
from cairn.services.identity.name_rules import email_of, line_of, name_of, roles_of
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.errors import NotFound

U = t.users.c
_OWNER = "admin is who the start link and CAIRN_ADMIN_TOKEN sign in as: it keeps its roles and cannot be removed."


@dataclass(frozen=True, slots=True)
class UserSpec:
    name: str
    display_name: str = ""
    email: str = ""
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UserChange:
    """What is None stays as it is."""

    display_name: str | None = None
    email: str | None = None
    roles: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None


class Users:
    def __init__(self, admin_changes: AdminChanges) -> None:
        self._changes = admin_changes

    async def create(self, wanted: UserSpec, actor: Actor) -> str:
        """Somebody new, who cannot sign in before an invitation, a provider or a token lets them."""
        return await self._changes.apply(lambda change: make_user(change, wanted), actor)

    async def change(self, name: str, wanted: UserChange, actor: Actor) -> None:
        await self._changes.apply(lambda change: change_user(change, name, wanted), actor)

    async def remove(self, name: str, actor: Actor) -> None:
        """At once: sessions end, tokens and invitations are revoked, delegations end. The name stays taken."""
        await self._changes.apply(lambda change: _remove(change, name), actor)

    async def restore(self, name: str, actor: Actor) -> None:
        """Somebody who was removed is back, without groups, tokens and sessions."""
        await self._changes.apply(lambda change: _restore(change, name), actor)


def make_user(change: AdminChange, wanted: UserSpec) -> str:
    name, email = name_of(wanted.name), email_of(wanted.email)
    check_free(change.connection, name)
    check_email(change.connection, email, name)
    row = {
        "name": name,
        "display_name": line_of(wanted.display_name, "/display_name"),
        "email": email,
        "roles": roles_of(list(wanted.roles)),
        "created_at": change.at,
        "created_by": change.actor.name,
    }
    change.connection.execute(sa.insert(t.users).values(row))
    put_into_groups(change.connection, name, wanted.groups)
    change.record("user_created", user=name, roles=row["roles"], groups=sorted(wanted.groups))
    return name


def change_user(change: AdminChange, name: str, wanted: UserChange) -> None:
    row = standing(change.connection, name)
    changes: dict[str, Any] = {}
    if wanted.display_name is not None:
        changes["display_name"] = line_of(wanted.display_name, "/display_name")
    if wanted.email is not None:
        changes["email"] = email_of(wanted.email)
        check_email(change.connection, changes["email"], name)
    if wanted.roles is not None:
        changes["roles"] = roles_of(list(wanted.roles))
        if name == ADMIN.name and frozenset(changes["roles"]) != ADMIN.roles:
            raise CommandRefused(_OWNER)
    changes = {field: value for field, value in changes.items() if value != getattr(row, field)}
    if changes:
        change.connection.execute(sa.update(t.users).where(U.name == name).values(changes))
        said: dict[str, Any] = {"user": name, "changed_fields": sorted(changes)}
        if "roles" in changes:
            said |= {"roles": changes["roles"], "earlier_roles": cast("list[str]", row.roles)}
        change.record("user_updated", **said)
    if wanted.groups is not None and put_into_groups(change.connection, name, wanted.groups, only=True):
        change.record("user_groups_updated", user=name, groups=sorted(wanted.groups))


def _remove(change: AdminChange, name: str) -> None:
    standing(change.connection, name)
    if name == ADMIN.name:
        raise CommandRefused(_OWNER)
    if name == change.actor.name:
        raise CommandRefused("You cannot remove yourself: ask another admin to do so.")
    change.connection.execute(sa.update(t.users).where(U.name == name).values(removed_at=change.at, password_hash=None))
    s, a, i, d = t.sessions, t.api_tokens, t.invitations, t.delegations
    ended = sa.or_(d.c.from_user == name, d.c.to_user == name)
    for statement in (
        sa.delete(s).where(s.c.user_name == name),
        sa.delete(t.group_members).where(t.group_members.c.user_name == name),
        sa.update(a).where(a.c.user_name == name, a.c.revoked_at.is_(None)).values(revoked_at=change.at),
        sa.update(i).where(i.c.user_name == name, i.c.revoked_at.is_(None)).values(revoked_at=change.at),
        sa.update(d).where(ended, d.c.ended_at.is_(None)).values(ended_at=change.at, ended_by=change.actor.name),
    ):
        change.connection.execute(statement)
    change.record("user_removed", user=name)


def _restore(change: AdminChange, name: str) -> None:
    row = find(change.connection, name)
    if row.removed_at is None:
        raise CommandRefused(f"{name} has not been removed.")
    change.connection.execute(sa.update(t.users).where(U.name == name).values(removed_at=None))
    change.record("user_restored", user=name, roles=cast("list[str]", row.roles))


# ---- rows ------------------------------------------------------------------------------------------------
def find(connection: Connection, name: str) -> Any:
    row = connection.execute(sa.select(t.users).where(U.name == name).with_for_update()).one_or_none()
    if row is None:
        raise NotFound("user", repr(name)[:80])
    return row


def standing(connection: Connection, name: str) -> Any:
    """A user who has not been removed."""
    row = find(connection, name)
    if row.removed_at is not None:
        raise CommandRefused(f"{name} has been removed.", ("restore",))
    return row


def check_free(connection: Connection, name: str, path: str = "/name") -> None:
    """Names of users and groups, and addresses, are told apart nowhere: each means one."""
    users = sa.select(U.name).where(sa.or_(U.name == name, U.email == name))
    groups = sa.select(t.groups.c.name).where(t.groups.c.name == name)
    if connection.execute(users.union_all(groups)).first() is not None:
        raise InvalidInput([(path, f"{name} is taken: by a user, also one who was removed, or by a group.")])


def check_email(connection: Connection, email: str, name: str) -> None:
    if not email:
        return
    others = sa.select(U.name).where(U.name != name, sa.or_(U.email == email, U.name == email))
    if connection.execute(others).first() is not None:
        raise InvalidInput([("/email", "Another user has this address.")])


def put_into_groups(connection: Connection, name: str, wanted: tuple[str, ...], *, only: bool = False) -> bool:
    """Whether anything changed; with `only`, groups that are not wanted are left."""
    m = t.group_members
    known = set(connection.execute(sa.select(t.groups.c.name).where(t.groups.c.name.in_(wanted))).scalars())
    if unknown := sorted(set(wanted) - known):
        raise InvalidInput([("/groups", f"There is no group {', '.join(unknown)[:200]}.")])
    has = set(connection.execute(sa.select(m.c.group_name).where(m.c.user_name == name)).scalars())
    for group in sorted(known - has):
        connection.execute(sa.insert(m).values(group_name=group, user_name=name))
    left = has - known if only else set[str]()
    if left:
        connection.execute(sa.delete(m).where(m.c.user_name == name, m.c.group_name.in_(left)))
    return bool(known - has or left)
