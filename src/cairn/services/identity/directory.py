"""Find users by name, email address, role or group, including their delegates."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from cairn.ports import Clock
from cairn.services.actors import ADMIN, Actor, Role, names_of
from cairn.services.identity import queries
from cairn.store import Connection

APPROVER_ROLES = frozenset({Role.APPROVER.value, Role.ADMIN.value})


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """A user, or an email address that belongs to no user and has no name."""

    name: str
    email: str
    display_name: str
    roles: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()

    @property
    def all_names(self) -> frozenset[str]:
        return names_of(self.name, self.email, self.roles, self.groups)

    @property
    def can_decide(self) -> bool:
        return not self.roles.isdisjoint(APPROVER_ROLES)


@dataclass(frozen=True, slots=True)
class DirectoryMatch:
    """An actor, who is valid until a delegation to them starts or ends."""

    actor: Actor
    until: datetime | None


@dataclass(frozen=True, slots=True)
class UserIndex:
    """All users and delegations at one moment."""

    users: Mapping[str, DirectoryEntry]
    delegations: tuple[tuple[str, str], ...]  # from a user to another

    def resolve(self, names: Iterable[str]) -> frozenset[str]:
        """The users that the names refer to, with their delegates."""
        words = _normalized(names)
        found = {user.name for user in self.users.values() if not words.isdisjoint(user.all_names)}
        delegates = {to_user for from_user, to_user in self.delegations if from_user in found and to_user in self.users}
        return frozenset(found | delegates)

    def matching(self, name: str) -> list[DirectoryEntry]:
        """The users with this name, email address, role or group."""
        return [user for user in self.users.values() if not user.all_names.isdisjoint(_normalized((name,)))]

    def with_roles(self, roles: Collection[str]) -> frozenset[str]:
        """The users who have at least one of the roles."""
        return frozenset(user.name for user in self.users.values() if not user.roles.isdisjoint(roles))


def load_user_index(connection: Connection, now: datetime) -> UserIndex:
    delegations = tuple((row.from_user, row.to_user) for row in queries.current_delegations(connection, now))
    return UserIndex(_all_users(connection), delegations)


class Directory:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def resolve(self, connection: Connection, names: Iterable[str]) -> tuple[DirectoryEntry, ...]:
        """The users that the names refer to, with their delegates, then email addresses that belong to no user."""
        words = _normalized(names)
        index = load_user_index(connection, self._clock.now())
        known = {word for user in index.users.values() for word in (user.email, user.name)}
        external = sorted(word for word in words if "@" in word and word not in known)
        return (
            *(index.users[name] for name in sorted(index.resolve(words))),
            *(DirectoryEntry("", address, address) for address in external),
        )

    def count_deciders(self, connection: Connection, names: Iterable[str] = ()) -> int:
        """The number of users who can decide on approvals. `names` restricts them, unless it is empty."""
        words = _normalized(names)
        deciders = [user for user in _all_users(connection).values() if user.can_decide]
        return sum(1 for user in deciders if not words or not words.isdisjoint(user.all_names))

    def find(self, connection: Connection, name: str) -> DirectoryMatch | None:
        """The user as an actor, or None if there is no such user or they have been deleted."""
        user = _find_user(connection, name)
        if user is None:
            return None
        now = self._clock.now()
        rows = queries.delegations_to(connection, name, now)
        delegators = [
            delegator for row in rows if row.starts_at <= now and (delegator := _find_user(connection, row.from_user))
        ]
        changes = [row.starts_at if row.starts_at > now else row.ends_at for row in rows]
        actor = Actor(
            user.name,
            user.roles | ADMIN.roles if name == ADMIN.name else user.roles,
            user.email,
            user.groups,
            frozenset(delegator.name for delegator in delegators),
            delegator_names=frozenset(word for delegator in delegators for word in delegator.all_names),
        )
        return DirectoryMatch(actor, min(changes, default=None))


def _normalized(names: Iterable[str]) -> set[str]:
    return {name.strip().casefold() for name in names} - {""}


def _find_user(connection: Connection, name: str) -> DirectoryEntry | None:
    row = queries.active_user(connection, name)
    return None if row is None else _entry(row, queries.groups_of(connection, name))


def _all_users(connection: Connection) -> Mapping[str, DirectoryEntry]:
    groups: dict[str, list[str]] = {}
    for row in queries.all_memberships(connection):
        groups.setdefault(row.user_name, []).append(row.group_name)
    return {row.name: _entry(row, groups.get(row.name, ())) for row in queries.all_active_users(connection)}


def _entry(row: Any, groups: Iterable[str]) -> DirectoryEntry:
    roles = frozenset(cast("list[str]", row.roles))
    return DirectoryEntry(row.name, row.email, row.display_name or row.name, roles, frozenset(groups))
