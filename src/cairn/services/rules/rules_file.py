"""The global rules as a file: valid edits become active, and errors are reported."""

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

FILENAME = "rules.yaml"
REJECTED_FILENAME = "rules.refused.yaml"
_FileState = tuple[int, int, int] | None  # changes with each write of the file


class RulesFileWatcher:
    """Keeps the file and the database in sync, in both directions, within half a second.

    The digest of the last synced text shows which of them has changed. It is stored in the settings, per folder.
    """

    def __init__(self, database: Database, path: Path, save: Callable[[str], Awaitable[Any]]) -> None:
        self._database = database
        self.path = path
        self._save = save
        self._key = f"rules_file:{path.absolute()}"
        self._state: _FileState = None
        self._revision = -1  # active at the last check
        self._lock = asyncio.Lock()
        self.errors: tuple[Finding, ...] = ()  # of the file; the previous rules stay active

    async def sync(self) -> None:
        """Save edits of the file, or write rules to it that were saved elsewhere."""
        async with self._lock:
            revision = await self._database.aread(_revision)
            state = await asyncio.to_thread(_file_state, self.path)
            if (state, revision) == (self._state, self._revision):
                return
            is_new, self._state, self._revision = revision != self._revision, state, revision
            try:
                text = await asyncio.to_thread(_read, self.path) if state is not None else None
            except (OSError, ValueError) as error:
                self._report((Finding("", f"the file can't be read: {error}"),))
                return
            await self._compare(text, revision, is_new)

    async def _compare(self, text: str | None, revision: int, is_new: bool) -> None:
        stored, last_digest = await self._database.aread(lambda c: (_text(c, revision), read_setting(c, self._key)))
        if text is None:
            if revision > 0 and is_new:  # a deleted file is written again only when rules are saved
                await self._write(stored)
        elif text == stored:
            await self._mark_synced(stored)
        elif digest_of(text) == last_digest:
            await self._write(stored)
        else:
            await self._save_edit(text)

    async def overwrite(self) -> None:
        """Write the active rules to the file. A file with errors is renamed first."""
        async with self._lock:
            self._revision = await self._database.aread(_revision)
            if self.errors:
                await asyncio.to_thread(_set_aside, self.path)
            await self._write(await self._database.aread(lambda c: _text(c, self._revision)))

    async def _save_edit(self, text: str) -> None:
        try:
            await self._save(text)
        except DefinitionError as error:
            self._report(error.findings)
            return
        self._revision = await self._database.aread(_revision)
        await self._mark_synced(text)

    async def _write(self, text: str) -> None:
        try:
            await asyncio.to_thread(_write, self.path, text)
        except OSError as error:
            log.warning("Can't write %s: %s", self.path, error)
            return
        self._state = await asyncio.to_thread(_file_state, self.path)
        await self._mark_synced(text)

    async def _mark_synced(self, text: str) -> None:
        self.errors, digest = (), digest_of(text)
        if await self._database.aread(lambda c: read_setting(c, self._key)) != digest:
            await self._database.transact(lambda c: save_setting(c, self._key, digest))

    def _report(self, errors: tuple[Finding, ...]) -> None:
        if errors != self.errors:
            log.warning("%s has errors, the previous rules stay active: %s", self.path, "; ".join(map(str, errors)))
        self.errors = errors


def _revision(connection: Connection) -> int:
    return rules.active_version(connection, GLOBAL).revision


def _text(connection: Connection, revision: int) -> str:
    return rules.text(connection, GLOBAL, revision) or ""


def _file_state(path: Path) -> _FileState:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(MAX_YAML_BYTES + 1)
    if len(content) > MAX_YAML_BYTES:
        raise ValueError(f"it is larger than {MAX_YAML_BYTES:,} bytes")
    return content.decode()


def _write(path: Path, text: str) -> None:
    """Write a new file and rename it. If the path is a link, its target is replaced."""
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


def _set_aside(path: Path) -> None:
    with suppress(OSError):
        path.replace(path.with_name(REJECTED_FILENAME))
