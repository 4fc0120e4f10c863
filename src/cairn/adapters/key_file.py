"""Encryption keys of the secret store, from the settings or from a file that only its owner can read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cryptography.fernet import Fernet

NAME = "secret.key"


class InvalidEncryptionKey(ValueError):
    """The text is not an encryption key."""


class SettingsKeys:
    """Keys from the settings, which only the operator can change. Keys in the file still decrypt older secrets."""

    def __init__(self, keys: Sequence[str], file: KeyFile) -> None:
        self._keys = validated(keys, "CAIRN_SECRET_KEY")
        self._file = file

    def all(self) -> tuple[str, ...]:
        return (*self._keys, *self._file.all())

    def add(self) -> tuple[str, ...]:
        return self.all()

    def keep_newest(self) -> None:
        """Do nothing: older keys stay until the operator removes them from the settings."""


class KeyFile:
    """One key per line, newest first. The file is created when a key is first needed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME

    def all(self) -> tuple[str, ...]:
        try:
            text = self._path.read_text(encoding="ascii")
        except FileNotFoundError:
            return ()
        return validated(text.split(), str(self._path))

    def add(self) -> tuple[str, ...]:
        keys = (Fernet.generate_key().decode(), *self.all())
        self._write(keys)
        return keys

    def keep_newest(self) -> None:
        self._write(self.all()[:1])

    def _write(self, keys: tuple[str, ...]) -> None:
        """Write a temporary file and rename it, so that a crash can't leave a truncated key."""
        temporary = self._path.with_name(f".{NAME}.{os.getpid()}")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.fchmod(fd, 0o600)
            os.write(fd, "".join(f"{key}\n" for key in keys).encode())
            os.fsync(fd)
        finally:
            os.close(fd)
        temporary.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def encryption_keys(setting: str | None, folder: Path) -> SettingsKeys | KeyFile:
    """The keys from the setting (newest first, separated by commas), or from the data folder if it is empty."""
    file = KeyFile(folder)
    keys = [key.strip() for key in (setting or "").split(",") if key.strip()]
    return SettingsKeys(keys, file) if keys else file


def validated(keys: Sequence[str], source: str) -> tuple[str, ...]:
    for key in keys:
        try:
            Fernet(key)
        except ValueError:
            raise InvalidEncryptionKey(
                f"{source} contains an invalid key. A key is 32 random bytes in URL-safe base64 (44 characters)."
            ) from None
    return tuple(keys)
