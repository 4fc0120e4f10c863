"""Who gives a command."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    VIEWER = "viewer"  # reads
    EDITOR = "editor"  # defines, starts, pauses, cancels, retries, rolls back, submits forms
    APPROVER = "approver"  # reads, submits, decides
    ADMIN = "admin"  # does all, and alone deletes


ALL_ROLES = frozenset(role.value for role in Role)


@dataclass(frozen=True, slots=True)
class Actor:
    """A signed-in identity. Its name stands with everything it does."""

    name: str
    roles: frozenset[str] = frozenset()

    def may(self, allowed: frozenset[str]) -> bool:
        return not self.roles.isdisjoint(allowed | {Role.ADMIN.value})


ADMIN = Actor("admin", ALL_ROLES)
