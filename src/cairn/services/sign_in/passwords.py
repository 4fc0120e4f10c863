"""Passwords: hashed with argon2 in a thread, and rehashed when its cost settings have been raised."""

from __future__ import annotations

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from cairn.services.errors import InvalidInput

MIN_LENGTH, MAX_LENGTH = 12, 512  # characters
_MAX_CONCURRENT = 2  # each hash takes 64 MB of memory


class Passwords:
    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT)
        self._dummy_hash = ""

    async def hash(self, password: str) -> str:
        async with self._slots:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def verify(self, password: str, hashed: str | None) -> bool:
        """Whether the password matches. It takes as long without a hash, so timing doesn't reveal who has one."""
        if hashed is None and not self._dummy_hash:
            self._dummy_hash = await self.hash("nobody's password")
        async with self._slots:
            is_match = await asyncio.to_thread(self._matches, hashed or self._dummy_hash, password)
        return is_match and hashed is not None

    def is_outdated(self, hashed: str) -> bool:
        return self._hasher.check_needs_rehash(hashed)

    def _matches(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False


def check(password: str, name: str, path: str = "/password") -> None:
    """Reject a password that is easy to guess."""
    if len(password) < MIN_LENGTH:
        raise InvalidInput([(path, f"Use at least {MIN_LENGTH} characters, for example several words.")])
    if len(password) > MAX_LENGTH:
        raise InvalidInput([(path, f"Use at most {MAX_LENGTH} characters.")])
    if len(set(password)) < 5 or (
        len(name) > 3 and password.casefold().replace(name, "").strip(" .-_0123456789!") == ""
    ):
        raise InvalidInput([(path, "This password is too easy to guess. Choose another one.")])
