"""Keys that secrets are encrypted with."""

from __future__ import annotations

from typing import Protocol


class EncryptionKeys(Protocol):
    def all(self) -> tuple[str, ...]:
        """The newest first; none before the first secret."""
        ...

    def add(self) -> tuple[str, ...]:
        """All keys, with a new one before them where this program makes them."""
        ...

    def keep_newest(self) -> None:
        """Nothing is encrypted with the others any more."""
        ...
