"""The global rules as a file that may be edited: what is saved there comes into force, what is wrong is told."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cairn.core.rules import GLOBAL
from cairn.definitions import DefinitionError, Finding
from cairn.documents import MAX_YAML_BYTES
from cairn.store import Connection, Database, rules
from cairn.store.rules import digest_of
from cairn.store.settings import read_setting, save_setting

log = logging.getLogger(__name__)

NAME = "rules.yaml"
ASIDE = "rules.refused.yaml"
_State = tuple[int, int, int] | None  # what tells one state of a file from another


class RulesFileWatcher:
    """Follows the file and the database: a change of either reaches the other within half a second.

    Which of the two has moved is told by what they had in common last; the settings keep it, by folder.
    """

    def __init__(self, database: Database, path: Path, save: Callable[[str], Awaitable[Any]]) -> None:
        self._database = database
        self.path = path
        self._save = save
        self._key = f"rules_file:{path.absolute()}"
        self._state: _State = None
        self._revision = -1  # that was in force at the last look
        self._looking = asyncio.Lock()
        self.faults: tuple[Finding, ...] = ()  # of what lies there; what was in force before still is

    async def follow(self) -> None:
        """Take what somebody has written into the file, or let it follow what was saved elsewhere."""
        async with self._looking:
            revision, state = await self._database.aread(_revision), await asyncio.to_thread(_state, self.path)
            if (state, revision) == (self._state, self._revision):
                return
            is_new, self._state, self._revision = revision != self._revision, state, revision
            try:
                text = await asyncio.to_thread(_read, self.path) if state is not None else None
            except (OSError, ValueError) as error:
                self._object((Finding("", f"the file cannot be read: {error}"),))
                return
            await self._compare(text, revision, is_new)

    async def _compare(self, text: str | None, revision: int, is_new: bool) -> None:
        stored, noted = await self._database.aread(lambda c: (_text(c, revision), read_setting(c, self._key)))
        if text is None:
            if revision > 0 and is_new:  # a file that was taken away stays away until something is saved
                await self._write(stored)
        elif text == stored:
            await self._agree(stored)
        elif digest_of(text) == noted:
            await self._write(stored)
        else:
            await self._take(text)

    async def give(self) -> None:
        """Let the file have what is in force, whatever it held; what was wrong in it is moved aside."""
        async with self._looking:
            self._revision = await self._database.aread(_revision)
            if self.faults:
                await asyncio.to_thread(_move_aside, self.path)
            await self._write(await self._database.aread(lambda c: _text(c, self._revision)))

    async def _take(self, text: str) -> None:
        try:
            await self._save(text)
        except DefinitionError as error:
            self._object(error.findings)
            return
        self._revision = await self._database.aread(_revision)
        await self._agree(text)

    async def _write(self, text: str) -> None:
        try:
            await asyncio.to_thread(_write, self.path, text)
        except OSError as error:
            log.warning("%s could not be written: %s", self.path, error)
            return
        self._state = await asyncio.to_thread(_state, self.path)
        await self._agree(text)

    async def _agree(self, text: str) -> None:
        self.faults, digest = (), digest_of(text)
        if await self._database.aread(lambda c: read_setting(c, self._key)) != digest:
            await self._database.transact(lambda c: save_setting(c, self._key, digest))

    def _object(self, faults: tuple[Finding, ...]) -> None:
        if faults != self.faults:
            log.warning("%s is not in force, what was before still is: %s", self.path, "; ".join(map(str, faults)))
        self.faults = faults


def _revision(connection: Connection) -> int:
    return rules.head(connection, GLOBAL).revision


def _text(connection: Connection, revision: int) -> str:
    return rules.text(connection, GLOBAL, revision) or ""


def _state(path: Path) -> _State:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(MAX_YAML_BYTES + 1)
    if len(content) > MAX_YAML_BYTES:
        raise ValueError(f"it has more than {MAX_YAML_BYTES:,} bytes")
    return content.decode()


def _write(path: Path, text: str) -> None:
    """Beside, then in its place; where a link stands, what it leads to is replaced."""
    target = path.resolve()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _move_aside(path: Path) -> None:
    with suppress(OSError):
        path.replace(path.with_name(ASIDE))
