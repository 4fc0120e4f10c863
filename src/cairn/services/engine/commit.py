"""Commits, and the protocols that features implement to take part in them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cairn.core.commands import Command, CommandContext
from cairn.core.decide import Decision
from cairn.core.rule_verdict import Judge
from cairn.services.engine.file_plan import FilePlan
from cairn.store import Connection, LoadedRun, NewArtifact
from cairn.store.events.chain import EventRecord


class Write(Protocol):
    """Save the rows of a feature in the transaction of a command."""

    def __call__(self, connection: Connection, commit: Commit, /) -> None: ...


class AfterCommit(Protocol):
    """A step to run in this process after commits."""

    async def after_commit(self, commits: Sequence[Commit]) -> None: ...


class RuleSource(Protocol):
    """The active approval rules, as a transaction sees them."""

    def judge(self, connection: Connection, loaded: LoadedRun, artifacts: Iterable[NewArtifact] = (), /) -> Judge:
        """Return a function that judges decisions by the rules. Rules can also read the new `artifacts`."""
        ...


class BudgetCheck(Protocol):
    """Check whether a run may call models."""

    def exhausted_message(self, connection: Connection, run_id: str, /) -> str:
        """Why the run can't call models now, or an empty string."""
        ...

    def clear_cache(self) -> None:
        """Drop cached limits after a definition has changed."""
        ...


class Outbox(Protocol):
    """Save notifications in the transaction that they report on."""

    def add(self, connection: Connection, commit: Commit, /) -> tuple[str, ...]:
        """Return the ids of the notifications to deliver after the commit."""
        ...


@dataclass(frozen=True, slots=True)
class Participants:
    """The services that take part in every commit."""

    rules: RuleSource
    budget: BudgetCheck
    outbox: Outbox
    writes: tuple[Write, ...]
    synced_revision: Callable[[str], int | None]  # revision of the run in its folder, if not saved yet
    after_commit: Callable[[Sequence[Commit]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Attachments:
    """Artifacts, rows and events to save with a command."""

    artifacts: tuple[NewArtifact, ...] = ()
    writes: tuple[Write, ...] = ()
    events: tuple[EventRecord, ...] = ()

    def __add__(self, other: Attachments) -> Attachments:
        return Attachments(
            (*self.artifacts, *other.artifacts), (*self.writes, *other.writes), (*self.events, *other.events)
        )


class CommandSource(Protocol):
    """Build a command from what its transaction sees."""

    def __call__(
        self, connection: Connection, before: LoadedRun, context: CommandContext, /
    ) -> tuple[Command, Attachments]: ...


NO_ATTACHMENTS = Attachments()


@dataclass(frozen=True, slots=True)
class Commit:
    """A saved decision. Its transaction is still open while the writes run."""

    before: LoadedRun
    after: LoadedRun  # same as `before` if the command is only simulated
    decision: Decision
    context: CommandContext
    file_plan: FilePlan
    jobs: tuple[str, ...] = ()
    lane: str | None = None  # the lane that sent the command
    outbox: tuple[str, ...] = ()  # notifications to deliver
    late_events: list[EventRecord] = field(default_factory=list[EventRecord])  # that writes record
    warnings: list[str] = field(default_factory=list[str])  # failures after the commit

    @property
    def run_id(self) -> str:
        return self.after.facts.run_id

    @property
    def lane_continues(self) -> bool:
        """Whether the lane that sent the command continues with the next execution."""
        return self.lane is not None and self.after.run.is_working
