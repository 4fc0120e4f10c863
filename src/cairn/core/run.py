"""The run aggregate, as a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Self

from cairn.core.approval import Approval
from cairn.core.budget import UNLIMITED, Budget
from cairn.core.execution import Execution, ExecutionIndex
from cairn.core.frozen import Replaceable
from cairn.core.plan import Plan
from cairn.core.states import (
    ApprovalStatus,
    ExecutionState,
    RollbackTrigger,
    RunStatus,
)


@dataclass(frozen=True, slots=True)
class Rollback:
    """The changes of a rollback in this run."""

    id: str
    created_count: int  # of the run before the rollback; objects created later are newer
    pass_number: int
    status_before: RunStatus
    target: int | None  # position; None if the whole run was archived
    archived: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()  # executions that were open; an undo restores them as cancelled
    triggered_by: RollbackTrigger = RollbackTrigger.USER_REQUEST
    undone: bool = False
    completed_before: datetime | None = None  # when the run had ended, if it had ended


@dataclass(frozen=True)
class Run(Replaceable):
    id: str
    plan: Plan
    status: RunStatus = RunStatus.NOT_STARTED
    pass_number: int = 1
    restart_count: int = 0
    pause_requested: bool = False
    executions: Mapping[str, Execution] = field(default_factory=dict[str, Execution])  # in the order of creation
    approvals: Mapping[str, Approval] = field(default_factory=dict[str, Approval])  # in the order of request
    rollbacks: tuple[Rollback, ...] = ()
    reworks: int = 0
    created_count: int = 0  # executions, approvals and rollbacks created so far
    archived_by: str | None = None  # rollback id
    timer_generation: int = 0  # incremented whenever the run becomes active
    active_since: datetime | None = None
    active_seconds: float = 0.0  # with a runner at work
    started_at: datetime | None = None
    completed_at: datetime | None = None  # when it ended, with any outcome
    paused_at: datetime | None = None
    last_resumed_at: datetime | None = None
    budget: Budget = UNLIMITED  # of this run; other limits come from the definition
    over_budget: str = ""  # why it pauses, if the budget is the reason
    budget_warned: bool = False  # people were notified that most of the budget is used

    def replace(self, **changes: Any) -> Self:
        run = super().replace(**changes)
        if "executions" in changes or "pass_number" in changes:
            run.__dict__.pop("index", None)
        if "approvals" in changes:
            run.__dict__.pop("pending", None)
        return run

    def with_executions(self, *changed: Execution) -> Run:
        """The run with new or changed executions."""
        run = self.replace(executions={**self.executions, **{e.id: e for e in changed}})
        if len(changed) == 1 and (changed[0].id in self.index.current or changed[0].id not in self.executions):
            run.__dict__["index"] = self.index.with_execution(changed[0])
        return run

    def with_approval(self, a: Approval) -> Run:
        """The run with a new or changed approval."""
        return self.replace(approvals={**self.approvals, a.id: a})

    @cached_property
    def index(self) -> ExecutionIndex:
        return ExecutionIndex.from_executions(self.executions.values(), self.pass_number)

    @property
    def current(self) -> tuple[Execution, ...]:
        """Executions of this pass that are not archived, in the order of creation."""
        return tuple(self.index.current.values())

    @property
    def open(self) -> tuple[Execution, ...]:
        return tuple(self.index.open.values())

    @property
    def failed(self) -> tuple[Execution, ...]:
        return tuple(self.index.failed.values())

    @property
    def is_working(self) -> bool:
        return any(e.state is ExecutionState.WORKING for e in self.index.open.values())

    @property
    def can_dispatch(self) -> bool:
        """Whether executions can start or be dispatched."""
        return self.status is RunStatus.IN_PROGRESS and not self.pause_requested

    def latest(self, key: str) -> Execution | None:
        """The completed execution of this pass whose artifacts are current for `key`."""
        return self.index.done.get(key)

    @property
    def active_keys(self) -> set[str]:
        """Keys with an open or failed execution."""
        return {e.key for e in self.index.open.values()} | {e.key for e in self.index.failed.values()}

    @property
    def complete(self) -> frozenset[str]:
        """Keys that are completed and not being reworked."""
        return frozenset(self.index.done.keys() - self.active_keys)

    @cached_property
    def pending(self) -> tuple[Approval, ...]:
        return tuple(a for a in self.approvals.values() if a.status is ApprovalStatus.PENDING)

    def pending_of(self, execution: str) -> tuple[Approval, ...]:
        return tuple(a for a in self.pending if a.execution == execution)

    def rework_depth(self, execution: Execution) -> int:
        """The number of nested reworks that led to this execution."""
        requester = self.executions.get(execution.parent_execution) if execution.parent_execution else None
        return int(execution.is_rework) + (self.rework_depth(requester) if requester else 0)
