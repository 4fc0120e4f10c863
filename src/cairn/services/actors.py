"""Actors: the users behind requests, with their roles, scopes and permissions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    VIEWER = "viewer"  # reads
    EDITOR = "editor"  # defines, starts, pauses, cancels, retries, rolls back, submits forms
    APPROVER = "approver"  # reads, submits forms, decides approvals
    ADMIN = "admin"  # everything; only admins manage users, tokens, secrets and rules, and delete


ALL_ROLES = frozenset(role.value for role in Role)


class Scope(StrEnum):
    """What a token can be used for, within the roles of its user."""

    READ = "read"  # read; every token has it
    RUN = "run"  # start, pause, cancel, retry, rework, roll back, submit forms
    DECIDE = "decide"  # decide approvals
    DEFINE = "define"  # change definitions and scripts
    ADMIN = "admin"  # administration, and changes of the user's own account


ALL_SCOPES = frozenset(scope.value for scope in Scope)


@dataclass(frozen=True, slots=True)
class Permission:
    """Granted by any of these roles, and with a restricted token by any of these scopes."""

    roles: frozenset[str]
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Actor:
    """A signed-in user. Events record its name."""

    name: str
    roles: frozenset[str] = frozenset()
    email: str = ""
    groups: frozenset[str] = frozenset()
    acting_for: frozenset[str] = frozenset()  # names of users who delegated their decisions to this user
    scopes: frozenset[str] | None = None  # of the token; None: not restricted
    token_expires_at: datetime | None = field(default=None, compare=False)
    delegator_names: frozenset[str] = field(default=frozenset(), repr=False)  # `names_of` each user in `acting_for`

    def can(self, permission: Permission) -> bool:
        is_in_scope = self.scopes is None or not self.scopes.isdisjoint(permission.scopes)
        return is_in_scope and not self.roles.isdisjoint(permission.roles | {Role.ADMIN.value})

    @property
    def is_admin(self) -> bool:
        return Role.ADMIN.value in self.roles

    def is_one_of(self, people: Iterable[str]) -> bool:
        """Whether a name, email address, role or group in `people` matches this user or a user they act for."""
        return any(person.strip().casefold() in self.all_names for person in people)

    @property
    def all_names(self) -> frozenset[str]:
        """Every name that matches this user or a user they act for, case-folded."""
        return names_of(self.name, self.email, self.roles, self.groups) | self.acting_for | self.delegator_names


def names_of(name: str, email: str, roles: Iterable[str], groups: Iterable[str]) -> frozenset[str]:
    """Every name that matches a user, case-folded."""
    return frozenset(word.casefold() for word in (name, email, *roles, *groups) if word)


ADMIN = Actor("admin", ALL_ROLES)
