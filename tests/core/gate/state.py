"""What the model stores: runs, their work, actions and refusals. A backup is a copy of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import NamedTuple

from cairn.core.action import Action, Place, Refusal
from cairn.core.action_judgment import GateStatus
from cairn.core.frozen import Replaceable
from tests.core.gate.catalog import RULES, Content

CLOSED = frozenset({"completed", "failed", "cancelled"})


class Driver(NamedTuple):
    """A process of a server. A restarted server has another incarnation."""

    server: str
    incarnation: int

    def __str__(self) -> str:
        return f"{self.server} {self.incarnation}"


@dataclass(frozen=True)
class WorkRun(Replaceable):
    id: str
    family: str
    starter: str
    status: str = "in progress"  # or paused, completed, failed, cancelled
    is_test: bool = False
    uses_earlier: bool = False  # `on_repeat` of its checkpoints


@dataclass(frozen=True)
class Work(Replaceable):
    """An execution. A script repeats its program from the beginning, and an agent proposes what it likes."""

    id: str
    run: str
    place: Place
    program: tuple[Content, ...] = ()  # of a script
    status: str = "ready"  # or completed, failed, cancelled
    is_archived: bool = False
    driver: Driver | None = None
    position: int = 0  # in the program
    calls: tuple[str, ...] = ()  # the actions of the recorded calls, by position
    handed_over: str = ""  # the action that has not been reported yet

    @property
    def is_script(self) -> bool:
        return bool(self.program)

    @property
    def is_live(self) -> bool:
        return self.status == "ready" and not self.is_archived


@dataclass(frozen=True, slots=True)
class StartLine:
    """A line of the journal: the action as it was started."""

    number: int
    action: Action


@dataclass(frozen=True, slots=True)
class RefusalLine:
    id: str
    refusal: Refusal


@dataclass
class Stored:
    """The database."""

    runs: dict[str, WorkRun] = field(default_factory=dict[str, WorkRun])
    work: dict[str, Work] = field(default_factory=dict[str, Work])
    actions: dict[str, Action] = field(default_factory=dict[str, Action])
    contents: dict[str, Content] = field(default_factory=dict[str, Content])
    refusals: dict[str, Refusal] = field(default_factory=dict[str, Refusal])
    generations: dict[Place, int] = field(default_factory=dict[Place, int])
    cleared: dict[Place, int] = field(default_factory=dict[Place, int])  # how many refusals no longer count
    status: GateStatus = field(default_factory=GateStatus)
    rules: frozenset[str] = frozenset(RULES)
    last_start: int = 0

    def copy(self) -> Stored:
        return replace(
            self,
            runs=dict(self.runs),
            work=dict(self.work),
            actions=dict(self.actions),
            contents=dict(self.contents),
            refusals=dict(self.refusals),
            generations=dict(self.generations),
            cleared=dict(self.cleared),
        )

    def totals(self, rule: str, window: str, without: str) -> tuple[int, Decimal]:
        """What a window of a limit has used, without one action."""
        uses = [
            a.limit_use
            for a in self.actions.values()
            if a.id != without and a.limit_use and (a.limit_use.rule, a.limit_use.window) == (rule, window)
        ]
        return len(uses), sum((use.amount or Decimal(0) for use in uses), Decimal(0))
