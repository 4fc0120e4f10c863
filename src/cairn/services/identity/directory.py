"""Who is meant by a name, an address, a role or a group; and what somebody is known as."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import sqlalchemy as sa

from cairn.ports import Clock
from cairn.services.actors import ADMIN, Actor, Role, names_of
from cairn.store import Connection
from cairn.store import tables as t

U, M, D = t.users.c, t.group_members.c, t.delegations.c
DECIDERS = frozenset({Role.APPROVER.value, Role.ADMIN.value})


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """Somebody who can be told something; without a name, only an address."""

    name: str
    email: str
    display_name: str
    roles: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()

    @property
    def all_names(self) -> frozenset[str]:
        return names_of(self.name, self.email, self.roles, self.groups)

    @property
    def may_decide(self) -> bool:
        return not self.roles.isdisjoint(DECIDERS)


@dataclass(frozen=True, slots=True)
class DirectoryMatch:
    """An actor, and until when it is one as it stands: a delegation may begin or end."""

    actor: Actor
    until: datetime | None


@dataclass(frozen=True, slots=True)
class UserIndex:
    """Everybody who is there, and who stands for whom, at one moment."""

    everybody: Mapping[str, DirectoryEntry]
    standing: tuple[tuple[str, str], ...]  # who is away, and who stands for that one

    def meant(self, named: Iterable[str]) -> frozenset[str]:
        """The users who are meant by these words, and who stands for them."""
        words = {word.strip().casefold() for word in named} - {""}
        meant = {person.name for person in self.everybody.values() if not words.isdisjoint(person.all_names)}
        return frozenset(meant | {to for of, to in self.standing if of in meant and to in self.everybody})

    def holders(self, roles: Collection[str]) -> frozenset[str]:
        return frozenset(person.name for person in self.everybody.values() if not person.roles.isdisjoint(roles))


def roll(connection: Connection, now: datetime) -> UserIndex:
    return UserIndex(_everybody(connection), tuple(_standing(connection, now)))


class Directory:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def people(self, connection: Connection, named: Iterable[str]) -> tuple[DirectoryEntry, ...]:
        """Everybody who is meant, once each, by name; and who stands for them now. Nobody named is nobody."""
        words = {word.strip().casefold() for word in named} - {""}
        found = roll(connection, self._clock.now())
        everybody, meant = found.everybody, found.meant(words)
        known = {word for person in everybody.values() for word in (person.email, person.name)}
        outside = sorted(word for word in words if "@" in word and word not in known)
        return (*(everybody[name] for name in sorted(meant)), *(DirectoryEntry("", word, word) for word in outside))

    def count_deciders(self, connection: Connection, named: Iterable[str] = ()) -> int:
        """How many users may decide: among those named, or all of them where nobody is."""
        words = {word.strip().casefold() for word in named} - {""}
        deciders = [person for person in _everybody(connection).values() if person.may_decide]
        return sum(1 for person in deciders if not words or not words.isdisjoint(person.all_names))

    def find(self, connection: Connection, name: str) -> DirectoryMatch | None:
        """A user who is there, as an actor."""
        person = _person(connection, name)
        if person is None:
            return None
        now = self._clock.now()
        rows = connection.execute(
            sa.select(D.from_user, D.starts_at, D.ends_at).where(
                D.to_user == name, D.ended_at.is_(None), D.ends_at > now
            )
        ).all()
        away = [one for row in rows if row.starts_at <= now and (one := _person(connection, row.from_user))]
        edges = [row.starts_at if row.starts_at > now else row.ends_at for row in rows]
        delegator_names = frozenset(word for one in away for word in one.all_names)
        roles = person.roles | ADMIN.roles if name == ADMIN.name else person.roles
        acting_for = frozenset(one.name for one in away)
        actor = Actor(person.name, roles, person.email, person.groups, acting_for, delegator_names=delegator_names)
        return DirectoryMatch(actor, min(edges, default=None))


def _person(connection: Connection, name: str) -> DirectoryEntry | None:
    row = connection.execute(sa.select(t.users).where(U.name == name, U.removed_at.is_(None))).one_or_none()
    if row is None:
        return None
    groups = connection.execute(sa.select(M.group_name).where(M.user_name == name)).scalars()
    return _as_person(row, groups)


def _everybody(connection: Connection) -> Mapping[str, DirectoryEntry]:
    groups: dict[str, list[str]] = {}
    for row in connection.execute(sa.select(t.group_members)):
        groups.setdefault(row.user_name, []).append(row.group_name)
    rows = connection.execute(sa.select(t.users).where(U.removed_at.is_(None)).order_by(U.name))
    return {row.name: _as_person(row, groups.get(row.name, ())) for row in rows}


def _as_person(row: Any, groups: Iterable[str]) -> DirectoryEntry:
    roles = frozenset(cast("list[str]", row.roles))
    return DirectoryEntry(row.name, row.email, row.display_name or row.name, roles, frozenset(groups))


def _standing(connection: Connection, now: datetime) -> list[tuple[str, str]]:
    """Who is away, and who stands for that one."""
    query = sa.select(D.from_user, D.to_user).where(D.ended_at.is_(None), D.starts_at <= now, D.ends_at > now)
    return [(row.from_user, row.to_user) for row in connection.execute(query)]
