"""The journal of actions: files in a folder outside the database, one for each server that runs at the same time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

from cairn.documents import DocumentError, decode_json, encode_json
from cairn.ports.journal import JournalError

PREFIX, SUFFIX = "journal-", ".jsonl"
MAX_SERVERS = 100
MAX_LINE = 64 * 1024


class FileJournal:
    """Appends lines to a file of the folder that no other process uses.

    The name of a file is its id. It is unique, because several machines can share a database, and because numbers must
    not be used twice if a folder was missing for a while.
    """

    def __init__(self, base: Path) -> None:
        """`base` has a folder for each installation."""
        self._base = base
        self._folder = base
        self._lock = Lock()  # several actions can start at the same time
        self._file: int | None = None
        self._name = ""
        self._is_torn = False  # the file ends in the middle of a line

    def select(self, installation: str) -> None:
        """Use the folder of this installation."""
        self.close()
        self._folder = self._base / installation

    @property
    def id(self) -> str:
        """Raises JournalError."""
        with self._lock, self._errors():
            self._open()
            return self._name

    @property
    def folder(self) -> Path:
        return self._folder

    def append(self, line: Mapping[str, Any]) -> None:
        """Write a line and flush it to disk. Raises JournalError."""
        content = encode_json(dict(line)) + b"\n"
        if len(content) > MAX_LINE:
            raise JournalError(f"{self._folder}: A line of {len(content)} bytes is too long.")
        with self._lock, self._errors():
            file = self._open()
            if self._is_torn:
                content = b"\n" + content
            self._is_torn = True  # until the whole line is on disk
            if os.write(file, content) != len(content):
                raise JournalError(f"{self._folder}: The disk is full.")
            os.fsync(file)
            self._is_torn = False

    def read(self) -> Iterator[Mapping[str, Any]]:
        """Every complete line of every file, oldest first in each. Raises JournalError."""
        with self._errors():
            for file in self._files():
                yield from _lines(file)

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob(f"{PREFIX}*{SUFFIX}")) if self._folder.exists() else []

    def _open(self) -> int:
        if self._file is not None:
            return self._file
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = self._files()
        new = [self._folder / f"{PREFIX}{uuid4()}{SUFFIX}"] if len(known) < MAX_SERVERS else []
        for path in [*known, *new]:
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # of another process
                os.close(file)
                continue
            self._sync_folder()
            self._file, self._name, self._is_torn = file, path.name.removesuffix(SUFFIX), _is_torn(file)
            return file
        raise JournalError(f"{self._folder}: More than {MAX_SERVERS} processes use this folder.")

    def _sync_folder(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _errors(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise JournalError(f"{self._folder}: {error.strerror or error}") from error


def _is_torn(file: int) -> bool:
    """Whether a crash cut off the last line. Nothing was sent for it."""
    size = os.fstat(file).st_size
    return size > 0 and os.pread(file, 1, size - 1) != b"\n"


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as lines:
        for line in lines:
            try:
                value = decode_json(line, max_bytes=MAX_LINE)
            except DocumentError:
                continue  # cut off by a crash, before its action was sent
            if isinstance(value, dict):
                yield value
