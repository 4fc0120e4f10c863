"""Secrets: encrypted at rest, never returned, never logged. Encryption keys can be rotated at any time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any, cast
from urllib.parse import quote

import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from cairn.documents import decode_json, encode_json
from cairn.ports.keys import EncryptionKeys
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput, ServiceError
from cairn.store import tables as t
from cairn.store.errors import NotFound

C = t.secrets.c
MIN_LENGTH, MAX_LENGTH = 4, 64 * 1024  # characters; a shorter value could not be masked without masking other text
MASKED = "•••"
RESERVED = "channel."  # starts the names of Cairn's own secrets, which are not listed and belong to other objects
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")
_CACHE_SECONDS = 5.0


SaveOwnSecret = Callable[[AdminChange, str, str | None], None]  # saves the value, or removes the secret if it is None


class SecretUnreadable(ServiceError):
    """The secret was encrypted with a key that is missing."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The secret {name} can't be decrypted: its key is missing. Restore the key or set the secret again."
        )


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A secret without its value. It is readable unless its encryption key is missing."""

    name: str
    created_at: datetime
    created_by: str
    updated_at: datetime
    updated_by: str
    is_readable: bool


class SecretStore:
    def __init__(self, admin_changes: AdminChanges, keys: EncryptionKeys, other_values: Iterable[str] = ()) -> None:
        """`other_values` are secrets from the settings, which are masked too."""
        self._changes = admin_changes
        self._other_values = tuple(other_values)
        self._keys = keys
        self._lock = asyncio.Lock()  # prevents encryption with a key that a rotation is about to delete
        self._cached: tuple[float, dict[str, str | None]] | None = None
        self._pattern: re.Pattern[str] | None = None
        self._spellings: tuple[str, ...] = ()
        self._generation = 0
        admin_changes.on_change(self._forget)

    # Changes
    async def save(self, name: str, value: str, actor: Actor) -> None:
        """Create or replace a secret."""
        if not _NAME.fullmatch(name):
            message = "Start with a letter, followed by letters, digits and . _ - (at most 100 characters)."
            raise InvalidInput([("/name", message)])
        if name.startswith(RESERVED):
            raise InvalidInput([("/name", f"Names that start with {RESERVED!r} are reserved. Choose another name.")])
        if not MIN_LENGTH <= len(value) <= MAX_LENGTH:
            raise InvalidInput([("/value", f"Enter {MIN_LENGTH} to {MAX_LENGTH:,} characters.")])
        async with self._lock:
            keys = self._keys.all() or self._keys.add()
            ciphertext = encrypt(keys, name, value)
            await self._changes.apply(lambda change: _save(change, name, ciphertext), actor)
        await asyncio.to_thread(self.load)

    async def remove(self, name: str, actor: Actor) -> None:
        if name.startswith(RESERVED):
            raise NotFound("secret", repr(name)[:80])
        await self._changes.apply(lambda change: _remove(change, name), actor)

    @asynccontextmanager
    async def own_secrets(self) -> AsyncGenerator[SaveOwnSecret]:
        """Save or remove secrets of Cairn itself within a change inside the block, without events of their own."""

        def save(change: AdminChange, name: str, value: str | None) -> None:
            keys = (self._keys.all() or self._keys.add()) if value is not None else ()
            _save_own(change, name, encrypt(keys, name, value) if value is not None else None)

        async with self._lock:
            yield save
        await asyncio.to_thread(self.load)

    async def rotate(self, actor: Actor) -> int:
        """Encrypt all secrets again, with a new key or the newest key of the settings. Returns their number."""
        async with self._lock:
            fernet = _fernet(self._keys.add())
            count = await self._changes.apply(lambda change: _rotate(change, fernet), actor)
            self._keys.keep_newest()
        return count

    # Reading
    def get(self, name: str) -> str | None:
        """The value, for use inside the server. None if the secret doesn't exist."""
        values = self._values()
        if name not in values:
            return None
        if (value := values[name]) is None:
            raise SecretUnreadable(name)
        return value

    def list(self) -> list[StoredSecret]:
        values = self._values()
        query = sa.select(t.secrets).where(~C.name.startswith(RESERVED)).order_by(C.name)
        rows = self._changes.database.read(lambda c: c.execute(query).all())
        return [
            StoredSecret(
                row.name,
                row.created_at,
                row.created_by,
                row.updated_at,
                row.updated_by,
                values.get(row.name) is not None,
            )
            for row in rows
        ]

    def unreadable(self) -> list[str]:
        """The names of all secrets that can't be decrypted, Cairn's own included."""
        return sorted(name for name, value in self._values().items() if value is None)

    def load(self) -> None:
        """Load the values to mask."""
        self._values()

    def mask(self, text: str) -> str:
        """Mask all secrets in the text, also in JSON and URL encoding."""
        self.load()
        return self.mask_loaded(text)

    def mask_loaded(self, text: str) -> str:
        """Like `mask`, with the values in memory. Logs use it, because they work without the database."""
        return self._pattern.sub(MASKED, text) if self._pattern is not None else text

    def partial_secret_length(self, text: str) -> int:
        """The number of characters at the end of the text that may be the start of a secret."""
        return max((_partial_length(text, word) for word in self._spellings), default=0)

    def _values(self) -> dict[str, str | None]:
        cached, generation = self._cached, self._generation
        if cached is not None and monotonic() - cached[0] < _CACHE_SECONDS:
            return cached[1]
        at = monotonic()
        rows = self._changes.database.read(lambda c: c.execute(sa.select(C.name, C.ciphertext)).all())
        fernet = _fernet(self._keys.all()) if rows else None
        values = {row.name: _decrypt(fernet, row) for row in rows}
        self._spellings = _spellings([*self._other_values, *(value for value in values.values() if value is not None)])
        self._pattern = re.compile("|".join(map(re.escape, self._spellings))) if self._spellings else None
        if generation == self._generation:
            self._cached = (at, values)
        return values

    def _forget(self) -> None:
        self._generation += 1
        self._cached = None


def _fernet(keys: Iterable[str]) -> MultiFernet | None:
    fernets = [Fernet(key) for key in keys]
    return MultiFernet(fernets) if fernets else None


def encrypt(keys: Iterable[str], name: str, value: str) -> str:
    """Encrypt the value with its name, so that no secret can be given the value of another one."""
    content = encode_json({"name": name, "value": value})
    return MultiFernet([Fernet(key) for key in keys]).encrypt(content).decode()


def _decrypt(fernet: MultiFernet | None, row: Any) -> str | None:
    try:
        content = cast("dict[str, str]", decode_json(fernet.decrypt(row.ciphertext))) if fernet is not None else {}
    except InvalidToken:
        return None
    return content["value"] if content.get("name") == row.name else None


def _spellings(values: Iterable[str]) -> tuple[str, ...]:
    """Each value as it is, in JSON and in URL encoding. The longest come first."""
    spellings = {word for v in values for word in (v, encode_json(v).decode()[1:-1], quote(v, safe=""), quote(v))}
    return tuple(sorted((word for word in spellings if len(word) >= MIN_LENGTH), key=len, reverse=True))


def _partial_length(text: str, word: str) -> int:
    """The length of the longest proper prefix of the word at the end of the text."""
    at = text.find(word[:MIN_LENGTH], max(0, len(text) - len(word) + 1))
    while at >= 0:
        if word.startswith(text[at:]):
            return len(text) - at
        at = text.find(word[:MIN_LENGTH], at + 1)
    return next((length for length in range(MIN_LENGTH - 1, 0, -1) if text.endswith(word[:length])), 0)


def _save(change: AdminChange, name: str, ciphertext: str) -> None:
    values = {"ciphertext": ciphertext, "updated_at": change.at, "updated_by": change.actor.name}
    if change.connection.execute(sa.update(t.secrets).where(C.name == name).values(values)).rowcount:
        change.record("secret_updated", secret=name)
        return
    created = {"name": name, "created_at": change.at, "created_by": change.actor.name}
    change.connection.execute(sa.insert(t.secrets).values(created | values))
    change.record("secret_created", secret=name)


def _save_own(change: AdminChange, name: str, ciphertext: str | None) -> None:
    change.connection.execute(sa.delete(t.secrets).where(C.name == name))
    if ciphertext is not None:
        times = {"created_at": change.at, "updated_at": change.at}
        people = {"created_by": change.actor.name, "updated_by": change.actor.name}
        change.connection.execute(sa.insert(t.secrets).values(name=name, ciphertext=ciphertext, **times, **people))


def _remove(change: AdminChange, name: str) -> None:
    if change.connection.execute(sa.delete(t.secrets).where(C.name == name)).rowcount == 0:
        raise NotFound("secret", repr(name)[:80])
    change.record("secret_deleted", secret=name)


def _rotate(change: AdminChange, fernet: MultiFernet | None) -> int:
    rows = change.connection.execute(sa.select(C.name, C.ciphertext).order_by(C.name).with_for_update()).all()
    for row in rows:
        if _decrypt(fernet, row) is None or fernet is None:
            raise SecretUnreadable(row.name)
        ciphertext = fernet.rotate(row.ciphertext).decode()
        change.connection.execute(sa.update(t.secrets).where(C.name == row.name).values(ciphertext=ciphertext))
    count = sum(not row.name.startswith(RESERVED) for row in rows)
    change.record("secrets_rotated", count=count)
    return count
