"""Who gives a command."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    VIEWER = "viewer"  # reads
    EDITOR = "editor"  # defines, starts, pauses, cancels, retries, rolls back, submits forms
    APPROVER = "approver"  # reads, submits, decides
    ADMIN = "admin"  # does all, and alone sees to users, tokens, secrets, rules and deleting


ALL_ROLES = frozenset(role.value for role in Role)


class Scope(StrEnum):
    """What a token may be used for, within what the roles of its user allow."""

    READ = "read"  # looks; every token may
    RUN = "run"  # starts, pauses, cancels, retries, sends back, rolls back, submits forms
    DECIDE = "decide"  # answers approvals
    DEFINE = "define"  # writes definitions and scripts
    ADMIN = "admin"  # what only admins may, and what concerns one's own account


ALL_SCOPES = frozenset(scope.value for scope in Scope)


@dataclass(frozen=True, slots=True)
class Permission:
    """Who may do something: any of these roles, and with a narrowed token any of these scopes."""

    roles: frozenset[str]
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Actor:
    """A signed-in identity. Its name stands with everything it does."""

    name: str
    roles: frozenset[str] = frozenset()
    email: str = ""
    groups: frozenset[str] = frozenset()
    stands_for: frozenset[str] = frozenset()  # names of those who are away and let this one decide
    scopes: frozenset[str] | None = None  # of the token that is used; None narrows nothing
    until: datetime | None = field(default=None, compare=False)  # when the token that is used ends
    lent: frozenset[str] = field(default=frozenset(), repr=False)  # what those it stands for are known as

    def may(self, allowed: Permission) -> bool:
        is_within = self.scopes is None or not self.scopes.isdisjoint(allowed.scopes)
        return is_within and not self.roles.isdisjoint(allowed.roles | {Role.ADMIN.value})

    @property
    def is_admin(self) -> bool:
        return Role.ADMIN.value in self.roles

    def is_one_of(self, people: Iterable[str]) -> bool:
        """Is it, or somebody it stands for, named among them: by name, address, role or group?"""
        return any(named.strip().casefold() in self.answers_to for named in people)

    @property
    def answers_to(self) -> frozenset[str]:
        """Every word that names it, or somebody it stands for; in small letters."""
        return known_as(self.name, self.email, self.roles, self.groups) | self.stands_for | self.lent


def known_as(name: str, email: str, roles: Iterable[str], groups: Iterable[str]) -> frozenset[str]:
    """Every word that names this person among others; the case of letters does not matter."""
    return frozenset(word.casefold() for word in (name, email, *roles, *groups) if word)


ADMIN = Actor("admin", ALL_ROLES)
