"""One saved decision, what comes with a command, and how other parts of Cairn take part in both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cairn.core.commands import CommandContext
from cairn.core.decide import Decision
from cairn.core.rule_verdict import Judge
from cairn.services.engine.file_plan import FilePlan
from cairn.store import Connection, LoadedRun, NewArtifact


class Write(Protocol):
    """Rows that a feature saves in the transaction of a command."""

    def __call__(self, connection: Connection, commit: Commit, /) -> None: ...


class AfterCommit(Protocol):
    """One thing that is done in this process once commits are saved."""

    async def after_commit(self, commits: Sequence[Commit]) -> None: ...


class RuleSource(Protocol):
    """The approval rules as a transaction sees them."""

    def judge(self, connection: Connection, loaded: LoadedRun, artifacts: Iterable[NewArtifact] = (), /) -> Judge:
        """`artifacts` come with the command: rules can read them too."""
        ...


class BudgetCheck(Protocol):
    """Whether models may be called in a run."""

    def exhausted_message(self, connection: Connection, run_id: str, /) -> str:
        """Why the run can't call models now. Empty if it can."""
        ...

    def forget_all(self) -> None:
        """A definition has changed: limits that were read before may no longer apply."""
        ...


class Outbox(Protocol):
    """Notifications, saved in the transaction of what they report."""

    def add(self, connection: Connection, commit: Commit, /) -> tuple[str, ...]:
        """The ids of the notifications to deliver after the commit."""
        ...


@dataclass(frozen=True, slots=True)
class Participants:
    """Who takes part in every commit besides the engine."""

    rules: RuleSource
    budget: BudgetCheck
    outbox: Outbox
    writes: tuple[Write, ...]
    synced_revision: Callable[[str], int | None]  # of a run: the one that its folder has, if that is to be saved
    after_commit: Callable[[Sequence[Commit]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Attachments:
    """What comes with a command and is saved in its transaction."""

    artifacts: tuple[NewArtifact, ...] = ()
    writes: tuple[Write, ...] = ()


NO_ATTACHMENTS = Attachments()


@dataclass(frozen=True, slots=True)
class Commit:
    """One decision and how it is saved. While writes run, its transaction is still open."""

    before: LoadedRun
    after: LoadedRun  # of a simulated command: the same as before
    decision: Decision
    context: CommandContext
    file_plan: FilePlan
    jobs: tuple[str, ...] = ()
    lane: str | None = None  # that has reported
    outbox: tuple[str, ...] = ()  # notifications to deliver
    warnings: list[str] = field(default_factory=list[str])  # what failed after the commit

    @property
    def run_id(self) -> str:
        return self.after.facts.run_id

    @property
    def lane_continues(self) -> bool:
        """Whether the lane that has reported drives the run on at once."""
        return self.lane is not None and self.after.run.is_working
