"""What people, groups and secrets may be called, and what may be said of them."""

from __future__ import annotations

import re

from cairn.services.actors import ALL_ROLES
from cairn.services.errors import InvalidInput

LONGEST_NAME = 100
LONGEST_LINE = 200
LONGEST_EMAIL = 254

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._@+-]{0,98}[a-z0-9])?")
_EMAIL = re.compile(r"[^\s@<>\"'(),:;\\\[\]]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?")
# Who admin_changes in the trail besides users.
_RESERVED = frozenset({"cairn", "file", "nobody", "repair", "retention", "rule", "system", "timer", "worker"})


def name_of(given: str, what: str = "user", path: str = "/name") -> str:
    """The name as it is kept: in small letters, so that no two differ by those alone."""
    name = given.strip().lower()
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            [(path, "A name has letters a to z, digits and . _ - + @ between them, at most 100 characters.")]
        )
    if name in _RESERVED or name in ALL_ROLES:
        raise InvalidInput([(path, f"{name} means something else here: choose another name for the {what}.")])
    return name


def email_of(given: str, path: str = "/email") -> str:
    """The address as it is kept: in small letters. Empty is none."""
    email = given.strip().lower()
    if email and (len(email) > LONGEST_EMAIL or not _EMAIL.fullmatch(email) or not email.isprintable()):
        raise InvalidInput([(path, "This is not an e-mail address.")])
    return email


def line_of(given: str, path: str, longest: int = LONGEST_LINE) -> str:
    """One line of text, without what would steer a terminal or begin another header."""
    text = given.strip()
    if not text.isprintable():
        raise InvalidInput([(path, "This has to be one line of text, without control characters.")])
    if len(text) > longest:
        raise InvalidInput([(path, f"At most {longest} characters are taken.")])
    return text


def roles_of(given: list[str], path: str = "/roles") -> list[str]:
    unknown = sorted(set(given) - ALL_ROLES)
    if unknown:
        raise InvalidInput([(path, f"There is no role {', '.join(unknown)}: only {', '.join(sorted(ALL_ROLES))}.")])
    return sorted(set(given))
