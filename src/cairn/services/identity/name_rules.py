"""Validate names, email addresses, roles and short texts of users and groups."""

from __future__ import annotations

import re

from cairn.services.actors import ALL_ROLES
from cairn.services.errors import InvalidInput

MAX_NAME_LENGTH = 100
MAX_LINE_LENGTH = 200
MAX_EMAIL_LENGTH = 254

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._@+-]{0,98}[a-z0-9])?")
_EMAIL = re.compile(r"[^\s@<>\"'(),:;\\\[\]]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?")
# The actors of events that are not users.
_RESERVED = frozenset({"cairn", "file", "nobody", "repair", "retention", "rule", "system", "timer", "worker"})


def name_of(text: str, noun: str = "user", path: str = "/name") -> str:
    """The valid name in lower case, so that no two names differ only in case."""
    name = text.strip().lower()
    if not _NAME.fullmatch(name):
        message = (
            f"Use 1 to {MAX_NAME_LENGTH} lowercase letters (a to z), digits and . _ - + @. "
            "Start and end with a letter or digit."
        )
        raise InvalidInput([(path, message)])
    if name in _RESERVED or name in ALL_ROLES:
        raise InvalidInput([(path, f"{name} is a reserved name. Choose another name for the {noun}.")])
    return name


def email_of(text: str, path: str = "/email") -> str:
    """The valid address in lower case. It can be empty."""
    email = text.strip().lower()
    if email and (len(email) > MAX_EMAIL_LENGTH or not _EMAIL.fullmatch(email) or not email.isprintable()):
        raise InvalidInput([(path, "This is not a valid email address.")])
    return email


def line_of(text: str, path: str, max_length: int = MAX_LINE_LENGTH) -> str:
    """The valid single line, without characters that could control a terminal or inject a header."""
    line = text.strip()
    if not line.isprintable():
        raise InvalidInput([(path, "Enter a single line of text without control characters.")])
    if len(line) > max_length:
        raise InvalidInput([(path, f"Enter at most {max_length} characters.")])
    return line


def roles_of(names: list[str], path: str = "/roles") -> list[str]:
    unknown = sorted(set(names) - ALL_ROLES)
    if unknown:
        raise InvalidInput([(path, f"Unknown role: {', '.join(unknown)}. Choose from {', '.join(sorted(ALL_ROLES))}.")])
    return sorted(set(names))
