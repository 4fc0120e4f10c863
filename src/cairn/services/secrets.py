"""Secrets: encrypted at rest, never given back, never logged. Keys can be changed at any time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
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
SHORTEST, LONGEST = 4, 64 * 1024  # characters of a value: what is shorter cannot be told from other text
MASKED = "•••"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")
_BELIEVED = 5.0  # seconds that values are remembered for


class SecretUnreadable(ServiceError):
    """It was encrypted with a key that is not there."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The secret {name} cannot be read: it was encrypted with another key. Bring that key back, or set it anew."
        )


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A secret without its value; one that is not readable was encrypted with a key that is not there."""

    name: str
    created_at: datetime
    created_by: str
    updated_at: datetime
    updated_by: str
    is_readable: bool


class SecretStore:
    def __init__(self, admin_changes: AdminChanges, keys: EncryptionKeys, also: Iterable[str] = ()) -> None:
        """`also`: values of the settings, to be masked like those that are kept here."""
        self._changes = admin_changes
        self._also = tuple(also)
        self._keys = keys
        self._changing = asyncio.Lock()  # nothing is encrypted with a key that is being dropped
        self._known: tuple[float, dict[str, str | None]] | None = None
        self._pattern: re.Pattern[str] | None = None
        self._spelled: tuple[str, ...] = ()
        self._generation = 0
        admin_changes.on_change(self._forget)

    # ---- changes -------------------------------------------------------------------------------------
    async def put(self, name: str, value: str, actor: Actor) -> None:
        """Set a secret, or replace it."""
        if not _NAME.fullmatch(name):
            message = "A name begins with a letter and has letters, digits and . _ - after it, at most 100 characters."
            raise InvalidInput([("/name", message)])
        if not SHORTEST <= len(value) <= LONGEST:
            raise InvalidInput([("/value", f"A secret has {SHORTEST} to {LONGEST:,} characters.")])
        async with self._changing:
            keys = self._keys.all() or self._keys.add()
            ciphertext = seal(keys, name, value)
            await self._changes.apply(lambda change: _put(change, name, ciphertext), actor)
        await asyncio.to_thread(self.remember)

    async def remove(self, name: str, actor: Actor) -> None:
        await self._changes.apply(lambda change: _remove(change, name), actor)

    async def rotate(self, actor: Actor) -> int:
        """Encrypt every secret anew: with a new key, or with the newest of the settings. Says how many there are."""
        async with self._changing:
            fernet = _fernet(self._keys.add())
            count = await self._changes.apply(lambda change: _rotate(change, fernet), actor)
            self._keys.keep_newest()
        return count

    # ---- reading -------------------------------------------------------------------------------------
    def get(self, name: str) -> str | None:
        """The value, for those who need it inside the program; None if there is none."""
        values = self._values()
        if name not in values:
            return None
        if (value := values[name]) is None:
            raise SecretUnreadable(name)
        return value

    def list(self) -> list[StoredSecret]:
        values = self._values()
        rows = self._changes.database.read(lambda c: c.execute(sa.select(t.secrets).order_by(C.name)).all())
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

    def remember(self) -> None:
        """Know what is to be masked."""
        self._values()

    def mask(self, text: str) -> str:
        """The text without any secret that is known, however it is spelled there."""
        self.remember()
        return self.mask_remembered(text)

    def mask_remembered(self, text: str) -> str:
        """The same with what is in memory: for logs, which are also written while the database is away."""
        return self._pattern.sub(MASKED, text) if self._pattern is not None else text

    def partial_secret_length(self, text: str) -> int:
        """The number of characters at the end of the text that may be the start of a secret."""
        return max((_begun(text, word) for word in self._spelled), default=0)

    def _values(self) -> dict[str, str | None]:
        known, generation = self._known, self._generation
        if known is not None and monotonic() - known[0] < _BELIEVED:
            return known[1]
        at = monotonic()
        rows = self._changes.database.read(lambda c: c.execute(sa.select(C.name, C.ciphertext)).all())
        fernet = _fernet(self._keys.all()) if rows else None
        values = {row.name: _opened(fernet, row) for row in rows}
        self._spelled = _spelled([*self._also, *(value for value in values.values() if value is not None)])
        self._pattern = re.compile("|".join(map(re.escape, self._spelled))) if self._spelled else None
        if generation == self._generation:
            self._known = (at, values)
        return values

    def _forget(self) -> None:
        self._generation += 1
        self._known = None


def _fernet(keys: Iterable[str]) -> MultiFernet | None:
    made = [Fernet(key) for key in keys]
    return MultiFernet(made) if made else None


def seal(keys: Iterable[str], name: str, value: str) -> str:
    """With its name, so that no row can be given another's value."""
    inside = encode_json({"name": name, "value": value})
    return MultiFernet([Fernet(key) for key in keys]).encrypt(inside).decode()


def _opened(fernet: MultiFernet | None, row: Any) -> str | None:
    try:
        inside = cast("dict[str, str]", decode_json(fernet.decrypt(row.ciphertext))) if fernet is not None else {}
    except InvalidToken:
        return None
    return inside["value"] if inside.get("name") == row.name else None


def _spelled(values: Iterable[str]) -> tuple[str, ...]:
    """Each value as it is, as JSON writes it and as an address does; the longest first."""
    spelled = {word for v in values for word in (v, encode_json(v).decode()[1:-1], quote(v, safe=""), quote(v))}
    return tuple(sorted((word for word in spelled if len(word) >= SHORTEST), key=len, reverse=True))


def _begun(text: str, word: str) -> int:
    """How much of the word's start stands at the end of the text, without all of it."""
    at = text.find(word[:SHORTEST], max(0, len(text) - len(word) + 1))
    while at >= 0:
        if word.startswith(text[at:]):
            return len(text) - at
        at = text.find(word[:SHORTEST], at + 1)
    return next((length for length in range(SHORTEST - 1, 0, -1) if text.endswith(word[:length])), 0)


def _put(change: AdminChange, name: str, ciphertext: str) -> None:
    changed = {"ciphertext": ciphertext, "updated_at": change.at, "updated_by": change.actor.name}
    if change.connection.execute(sa.update(t.secrets).where(C.name == name).values(changed)).rowcount:
        change.record("secret_updated", secret=name)
        return
    made = {"name": name, "created_at": change.at, "created_by": change.actor.name, **changed}
    change.connection.execute(sa.insert(t.secrets).values(made))
    change.record("secret_created", secret=name)


def _remove(change: AdminChange, name: str) -> None:
    if change.connection.execute(sa.delete(t.secrets).where(C.name == name)).rowcount == 0:
        raise NotFound("secret", repr(name)[:80])
    change.record("secret_removed", secret=name)


def _rotate(change: AdminChange, fernet: MultiFernet | None) -> int:
    rows = change.connection.execute(sa.select(C.name, C.ciphertext).order_by(C.name).with_for_update()).all()
    for row in rows:
        if _opened(fernet, row) is None or fernet is None:
            raise SecretUnreadable(row.name)
        ciphertext = fernet.rotate(row.ciphertext).decode()
        change.connection.execute(sa.update(t.secrets).where(C.name == row.name).values(ciphertext=ciphertext))
    change.record("secrets_rotated", count=len(rows))
    return len(rows)
