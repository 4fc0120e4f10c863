"""One saved decision, what comes with a command, and how other parts of Cairn take part in both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from sqlalchemy import Connection

from cairn.core.decide import Decision
from cairn.core.messages import Given
from cairn.services.filing import Filing
from cairn.store import Loaded, NewArtifact


class Write(Protocol):
    """Rows that a feature saves in the transaction of a command."""

    def __call__(self, connection: Connection, commit: Commit, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Attachments:
    """What comes with a command and is saved in its transaction."""

    artifacts: tuple[NewArtifact, ...] = ()
    writes: tuple[Write, ...] = ()


NO_ATTACHMENTS = Attachments()


@dataclass(frozen=True, slots=True)
class Commit:
    """One decision and how it is saved. While writes run, its transaction is still open."""

    before: Loaded
    after: Loaded  # of a simulated command: the same as before
    decision: Decision
    context: Given
    file_plan: Filing
    jobs: tuple[str, ...] = ()
    outbox: tuple[str, ...] = ()  # notifications to deliver
    info: bytes | None = None  # the content of `run_info.json`, where it was read in the same transaction
    warnings: list[str] = field(default_factory=list[str])  # what failed after the commit

    @property
    def run_id(self) -> str:
        return self.after.facts.run_id
