"""Passwords: hashed with argon2 beside the event loop, and hashed anew when the cost has been raised."""

from __future__ import annotations

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from cairn.services.errors import InvalidInput

SHORTEST, LONGEST = 12, 512  # characters
_AT_ONCE = 2  # each takes 64 MB while it is hashed


class Passwords:
    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._nobodys = ""

    async def hash(self, password: str) -> str:
        async with self._places:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def fits(self, password: str, hashed: str | None) -> bool:
        """Whether it is the password. Without one it takes as long, so that nobody learns who has one."""
        if hashed is None and not self._nobodys:
            self._nobodys = await self.hash("nobody's password")
        async with self._places:
            is_right = await asyncio.to_thread(self._verify, hashed or self._nobodys, password)
        return is_right and hashed is not None

    def is_outdated(self, hashed: str) -> bool:
        return self._hasher.check_needs_rehash(hashed)

    def _verify(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False


def check(password: str, name: str, path: str = "/password") -> None:
    """Refuse a password that is easily guessed."""
    if len(password) < SHORTEST:
        raise InvalidInput([(path, f"A password has {SHORTEST} characters or more: several words are a good one.")])
    if len(password) > LONGEST:
        raise InvalidInput([(path, f"A password has at most {LONGEST} characters.")])
    if len(set(password)) < 5 or (
        len(name) > 3 and password.casefold().replace(name, "").strip(" .-_0123456789!") == ""
    ):
        raise InvalidInput([(path, "This one is easily guessed: choose another.")])
