"""Keys for encrypting secrets."""

from __future__ import annotations

from typing import Protocol


class EncryptionKeys(Protocol):
    def all(self) -> tuple[str, ...]:
        """All keys, newest first; empty before the first secret is stored."""
        ...

    def add(self) -> tuple[str, ...]:
        """Generate a key, unless the keys come from the settings. Returns all keys, newest first."""
        ...

    def keep_newest(self) -> None:
        """Delete all older keys. Call it once nothing is encrypted with them."""
        ...
