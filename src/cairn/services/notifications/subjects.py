"""What a notice is about, read when it is known that somebody is told: a moment after the commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import sqlalchemy as sa

from cairn.core.approval import Approval
from cairn.core.execution import Execution
from cairn.core.rule_verdict import ApprovalTerms
from cairn.core.states import ApprovalStatus
from cairn.services.approvals.eligibility import eligibility_of
from cairn.services.identity.directory import roll
from cairn.store import Connection, LoadedRun
from cairn.store import tables as t
from cairn.store.tables.notifications import NotificationKind

Load = Callable[[Connection, str], LoadedRun]
Row = sa.Row[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class ActionSubject:
    """What was proposed to be done outside."""

    parameters: Mapping[str, Any]
    reasoning: str
    risk_reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotificationSubject:
    kind: NotificationKind
    row: Row  # of the notice
    loaded: LoadedRun
    execution: Execution | None = None
    approval: Approval | None = None
    action: ActionSubject | None = None
    considered: tuple[Mapping[str, Any], ...] = ()  # the rules that were looked at
    warning: str = ""  # that too few people may decide

    @property
    def terms(self) -> ApprovalTerms:
        return self.approval.terms if self.approval is not None else ApprovalTerms()

    @property
    def detail(self) -> Mapping[str, Any]:
        return self.row.detail

    @property
    def checkpoint(self) -> str:
        """The name that people gave it."""
        if self.execution is None:
            return ""
        place = self.loaded.places.get(self.execution.key)
        return place.name if place is not None else self.execution.key

    @property
    def step(self) -> str:
        """Its place among all of them."""
        return f"{self.execution.position + 1} of {len(self.loaded.places)}" if self.execution is not None else ""

    @property
    def run(self) -> str:
        version = self.loaded.facts.run_version
        return f"v{version}" if version is not None else "test run"


def read(connection: Connection, row: Row, load: Load, now: datetime) -> NotificationSubject:
    loaded = load(connection, row.run_id)
    run = loaded.run
    approval = run.approvals.get(row.approval_id) if row.approval_id else None
    name = row.execution_id or (approval.execution if approval else None)
    return NotificationSubject(
        NotificationKind(row.kind),
        row,
        loaded,
        run.executions.get(name) if name else None,
        approval,
        _action(connection, row.approval_id),
        _considered(connection, row.approval_id),
        _warning(connection, approval, loaded.facts.created_by, now) if approval else "",
    )


def _warning(connection: Connection, a: Approval, starter: str, now: datetime) -> str:
    """Told when it is met."""
    eligibility = eligibility_of(a, starter)
    if a.status is not ApprovalStatus.PENDING or eligibility.is_unrestricted:
        return ""
    return eligibility.warning(roll(connection, now)) or ""


def _action(connection: Connection, approval_id: str | None) -> ActionSubject | None:
    a = t.actions.c
    query = sa.select(a.parameters, a.reasoning, a.risk_reasons).where(a.approval_id == approval_id)
    row = connection.execute(query).one_or_none() if approval_id else None
    return ActionSubject(row.parameters, row.reasoning, tuple(map(str, row.risk_reasons))) if row is not None else None


def _considered(connection: Connection, approval_id: str | None) -> tuple[Mapping[str, Any], ...]:
    query = sa.select(t.approvals.c.evaluated_rules).where(t.approvals.c.approval_id == approval_id)
    found = connection.execute(query).scalar_one_or_none() if approval_id else None
    return tuple(cast("list[Mapping[str, Any]]", found or []))
