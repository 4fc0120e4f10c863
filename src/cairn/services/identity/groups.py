"""Groups of users, named where people are asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput
from cairn.services.identity.name_rules import line_of, name_of
from cairn.services.identity.users import check_free
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.errors import NotFound

G, M, U = t.groups.c, t.group_members.c, t.users.c
LONGEST = 500  # characters of a description


class Groups:
    def __init__(self, admin_changes: AdminChanges) -> None:
        self._changes = admin_changes

    async def create(self, name: str, description: str, members: Sequence[str], actor: Actor) -> str:
        return await self._changes.apply(lambda change: _create(change, name, description, members), actor)

    async def change(
        self, name: str, actor: Actor, *, description: str | None = None, members: Sequence[str] | None = None
    ) -> None:
        """What is None stays as it is."""
        await self._changes.apply(lambda change: _change(change, name, description, members), actor)

    async def remove(self, name: str, actor: Actor) -> None:
        """Its members stay. Who is asked by its name is asked no more."""
        await self._changes.apply(lambda change: _remove(change, name), actor)


def _create(change: AdminChange, name: str, description: str, members: Sequence[str]) -> str:
    name = name_of(name, "group")
    check_free(change.connection, name)
    row = {"name": name, "description": line_of(description, "/description", LONGEST)}
    change.connection.execute(sa.insert(t.groups).values(**row, created_at=change.at, created_by=change.actor.name))
    kept, _ = _set_members(change, name, members)
    change.record("group_created", group=name, members=kept)
    return name


def _change(change: AdminChange, name: str, description: str | None, members: Sequence[str] | None) -> None:
    row = find(change.connection, name)
    if description is not None and (text := line_of(description, "/description", LONGEST)) != row.description:
        change.connection.execute(sa.update(t.groups).where(G.name == name).values(description=text))
        change.record("group_updated", group=name)
    if members is not None:
        kept, earlier = _set_members(change, name, members)
        if kept != earlier:
            change.record("group_members_updated", group=name, members=kept, earlier_members=earlier)


def _remove(change: AdminChange, name: str) -> None:
    find(change.connection, name)
    change.connection.execute(sa.delete(t.group_members).where(M.group_name == name))
    change.connection.execute(sa.delete(t.groups).where(G.name == name))
    change.record("group_removed", group=name)


def _set_members(change: AdminChange, name: str, members: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those it has then, and those it had."""
    wanted = {member.strip().lower() for member in members}
    known = set(
        change.connection.execute(sa.select(U.name).where(U.name.in_(wanted), U.removed_at.is_(None))).scalars()
    )
    if unknown := sorted(wanted - known):
        raise InvalidInput([("/members", f"There is no user {', '.join(unknown)[:200]}.")])
    has = set(change.connection.execute(sa.select(M.user_name).where(M.group_name == name)).scalars())
    for member in sorted(known - has):
        change.connection.execute(sa.insert(t.group_members).values(group_name=name, user_name=member))
    if left := has - known:
        change.connection.execute(sa.delete(t.group_members).where(M.group_name == name, M.user_name.in_(left)))
    return sorted(known), sorted(has)


def find(connection: Connection, name: str) -> Any:
    row = connection.execute(sa.select(t.groups).where(G.name == name).with_for_update()).one_or_none()
    if row is None:
        raise NotFound("group", repr(name)[:80])
    return row
