"""The subject of a notification. It is read on delivery, shortly after the commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from cairn.core.approval import Approval
from cairn.core.execution import Execution
from cairn.core.rule_verdict import ApprovalTerms
from cairn.core.states import ApprovalStatus
from cairn.services.approvals.eligibility import eligibility_of
from cairn.services.approvals.titles import approval_title, brief_title
from cairn.services.identity.directory import load_user_index
from cairn.services.notifications import queries
from cairn.store import Connection, LoadedRun
from cairn.store.runs.run_rows import Row
from cairn.store.tables.notifications import NotificationKind

OUTCOMES: Mapping[str, str] = {
    "done": "Executed",
    "returned": "Returned to the proposer",
    "failed": "Failed",
    "unknown": "Unknown",
    "test": "Test run, not executed",
}
LoadRun = Callable[[Connection, str], LoadedRun]


@dataclass(frozen=True, slots=True)
class ActionSubject:
    """A proposed action."""

    parameters: Mapping[str, Any]
    reasoning: str
    risk_reasons: tuple[str, ...]
    summary: str
    state: str
    result: Any

    @property
    def outcome_text(self) -> str:
        """What came of the action."""
        error = cast("Mapping[str, Any]", self.result).get("error") if isinstance(self.result, Mapping) else None
        text = OUTCOMES.get(self.state, "Not executed")
        return f"{text}: {error}" if error else text


@dataclass(frozen=True, slots=True)
class NotificationSubject:
    kind: NotificationKind
    notification: Row
    loaded: LoadedRun
    execution: Execution | None = None
    approval: Approval | None = None
    action: ActionSubject | None = None
    evaluated_rules: tuple[Mapping[str, Any], ...] = ()
    warning: str = ""  # too few people can decide

    @property
    def terms(self) -> ApprovalTerms:
        return self.approval.terms if self.approval is not None else ApprovalTerms()

    @property
    def detail(self) -> Mapping[str, Any]:
        """The metadata of the event."""
        return self.notification.detail

    @property
    def checkpoint_name(self) -> str:
        if self.execution is None:
            return ""
        place = self.loaded.places.get(self.execution.key)
        return place.name if place is not None else self.execution.key

    @property
    def checkpoint_id(self) -> str | None:
        place = self.loaded.places.get(self.execution.key) if self.execution is not None else None
        return place.checkpoint_id if place is not None else None

    @property
    def title(self) -> str:
        """The title of the approval."""
        approval = self.approval
        if approval is None:
            return ""
        return approval_title(
            approval.kind,
            self.checkpoint_name,
            reason=approval.reason,
            operation_type=approval.operation_type,
            summary=self.action.summary if self.action is not None else None,
        )

    @property
    def brief_title(self) -> str:
        return brief_title(self.approval.kind, self.checkpoint_name) if self.approval is not None else ""

    @property
    def action_title(self) -> str:
        return self.title if self.action is not None else ""

    @property
    def step(self) -> str:
        """The position of the checkpoint, such as "2 of 5"."""
        return f"{self.execution.position + 1} of {len(self.loaded.places)}" if self.execution is not None else ""

    @property
    def run_label(self) -> str:
        version = self.loaded.facts.run_version
        return f"v{version}" if version is not None else "test run"


def load_subject(connection: Connection, notification: Row, load_run: LoadRun, now: datetime) -> NotificationSubject:
    loaded = load_run(connection, notification.run_id)
    approval_id = notification.approval_id
    approval = loaded.run.approvals.get(approval_id) if approval_id else None
    execution_id = notification.execution_id or (approval.execution if approval else None)
    return NotificationSubject(
        NotificationKind(notification.kind),
        notification,
        loaded,
        loaded.run.executions.get(execution_id) if execution_id else None,
        approval,
        _action(connection, approval_id) if approval_id else None,
        queries.evaluated_rules(connection, approval_id) if approval_id else (),
        _approver_warning(connection, approval, loaded.facts.created_by, now) if approval else "",
    )


def _approver_warning(connection: Connection, approval: Approval, starter: str, now: datetime) -> str:
    eligibility = eligibility_of(approval, starter)
    if approval.status is not ApprovalStatus.PENDING or eligibility.is_unrestricted:
        return ""
    return eligibility.warning(load_user_index(connection, now)) or ""


def _action(connection: Connection, approval_id: str) -> ActionSubject | None:
    row = queries.proposed_action(connection, approval_id)
    if row is None:
        return None
    reasons = tuple(map(str, row.risk_reasons))
    return ActionSubject(row.parameters, row.reasoning, reasons, row.summary, row.state, row.result)
