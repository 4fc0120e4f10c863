"""Where the keys of secrets are: in the settings, or in a file that only its owner can read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cryptography.fernet import Fernet

NAME = "secret.key"


class WrongKey(ValueError):
    """A key that is none."""


class SettingsKeys:
    """Of the settings: whoever runs the program changes them. What the file's keys have encrypted stays readable."""

    def __init__(self, keys: Sequence[str], file: KeyFile) -> None:
        self._keys = checked(keys, "CAIRN_SECRET_KEY")
        self._file = file

    def all(self) -> tuple[str, ...]:
        return (*self._keys, *self._file.all())

    def add(self) -> tuple[str, ...]:
        return self.all()

    def keep_newest(self) -> None:
        """The older ones stay until the settings leave them out."""


class KeyFile:
    """One key a line, the newest first; made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    def all(self) -> tuple[str, ...]:
        try:
            text = self._path.read_text(encoding="ascii")
        except FileNotFoundError:
            return ()
        return checked(text.split(), str(self._path))

    def add(self) -> tuple[str, ...]:
        keys = (Fernet.generate_key().decode(), *self.all())
        self._write(keys)
        return keys

    def keep_newest(self) -> None:
        self._write(self.all()[:1])

    def _write(self, keys: tuple[str, ...]) -> None:
        """Beside first, then in its place: a key that is half there is lost."""
        beside = self._path.with_name(f".{NAME}.{os.getpid()}")
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.fchmod(fd, 0o600)
            os.write(fd, "".join(f"{key}\n" for key in keys).encode())
            os.fsync(fd)
        finally:
            os.close(fd)
        beside.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def keys_of(given: str | None, folder: Path) -> SettingsKeys | KeyFile:
    """Those of the settings, newest first and with commas between them; else those of the folder."""
    file = KeyFile(folder)
    keys = [key.strip() for key in (given or "").split(",") if key.strip()]
    return SettingsKeys(keys, file) if keys else file


def checked(keys: Sequence[str], where: str) -> tuple[str, ...]:
    for key in keys:
        try:
            Fernet(key)
        except ValueError:
            raise WrongKey(
                f"{where} has a key that is none: a key is 32 random bytes in URL-safe base64, 44 characters."
            ) from None
    return tuple(keys)
