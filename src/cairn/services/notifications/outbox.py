"""Save notifications in the transaction of the event that they report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import NAMESPACE_OID, uuid4, uuid5

from cairn.core.commands import CommandContext
from cairn.core.events import Event, EventType
from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.ports import JobEngine
from cairn.services.engine.commit import Commit
from cairn.services.notifications.queries import has_enabled_channel, notification_or_none
from cairn.services.notifications.records import insert_notification
from cairn.store import Connection, LoadedRun
from cairn.store.tables.notifications import NotificationKind

NOTIFIED_EVENTS = frozenset(kind.value for kind in NotificationKind if kind is not NotificationKind.TEST)
UNSUCCESSFUL_DECISIONS = frozenset({NotificationKind.APPROVAL_REJECTED.value, NotificationKind.APPROVAL_TIMEOUT.value})
EXECUTION_FAILED = NotificationKind.EXECUTION_FAILED.value
RUN_FAILED = NotificationKind.RUN_FAILED.value
AUTO_APPROVED = NotificationKind.APPROVAL_AUTO_APPROVED.value
OUTCOME_IS_FINAL = frozenset(
    {
        EventType.EXECUTION_FAILED,
        EventType.EXECUTION_CANCELLED,
        EventType.EXECUTION_ARCHIVED,
        EventType.EXECUTION_RETRIED,
        EventType.EXECUTION_REVISED,
    }
)


class NotificationOutbox:
    def __init__(self, jobs: JobEngine) -> None:
        self._jobs = jobs

    def add(self, connection: Connection, commit: Commit, /) -> tuple[str, ...]:
        """Save the notifications of a commit and return the ids of those to deliver after the commit."""
        released = [n for approval in _ended_automatic_approvals(commit) for n in self.release(connection, approval)]
        events = [event for event in commit.decision.events if event.type in NOTIFIED_EVENTS]
        if not events or not has_enabled_channel(connection):
            return tuple(released)
        for event in notifiable_events(events):
            is_held = _awaits_outcome(commit, event)
            notification_id = _held_id(event.approval) if is_held else str(uuid4())
            self._save(connection, notification_id, commit.before, event, commit.context)
            if not is_held:
                self._jobs.enqueue_notification(connection, notification_id)
                released.append(notification_id)
        return tuple(released)

    def release(self, connection: Connection, approval_id: str) -> list[str]:
        """Deliver the notification of an automatic approval, because its action has an outcome."""
        notification_id = _held_id(approval_id)
        notification = notification_or_none(connection, notification_id)
        if notification is None or notification.content is not None:
            return []
        self._jobs.enqueue_notification(connection, notification_id)
        return [notification_id]

    def _save(
        self, connection: Connection, notification_id: str, before: LoadedRun, event: Event, context: CommandContext
    ) -> None:
        values = {
            "notification_id": notification_id,
            "kind": event.type.value,
            "pipeline_id": before.facts.pipeline_id,
            "run_id": before.facts.run_id,
            "execution_id": event.execution,
            "approval_id": event.approval,
            "actor": context.by,
            "detail": {name: value for name, value in event.detail.items() if name != "stack_trace"},
            "created_at": context.at,
            "content": None,
        }
        insert_notification(connection, values)


def _held_id(approval_id: str | None) -> str:
    return str(uuid5(NAMESPACE_OID, f"notification/{approval_id}"))


def _awaits_outcome(commit: Commit, event: Event) -> bool:
    """Whether the event is an automatic approval of an action, whose outcome is reported with it."""
    approval = commit.after.run.approvals.get(event.approval or "")
    return event.type.value == AUTO_APPROVED and approval is not None and approval.kind is ApprovalKind.ACTION


def _ended_automatic_approvals(commit: Commit) -> Iterator[str]:
    """Actions that a rule approved earlier, of executions that now end or wait: no outcome will come any more."""
    ended = {event.execution for event in commit.decision.events if event.type in OUTCOME_IS_FINAL}
    if ended:
        for approval in commit.before.run.approvals.values():
            is_automatic = approval.status is ApprovalStatus.AUTO_APPROVED and approval.kind is ApprovalKind.ACTION
            if is_automatic and approval.execution in ended:
                yield approval.id


def notifiable_events(events: Sequence[Event]) -> list[Event]:
    """Report each problem once: a rejection fails its execution, which fails the run."""
    types = {event.type.value for event in events}
    run_failure_is_explained = bool(types & (UNSUCCESSFUL_DECISIONS | {EXECUTION_FAILED}))
    decided = {event.execution for event in events if event.type.value in UNSUCCESSFUL_DECISIONS}
    return [
        event
        for event in events
        if not (event.type.value == RUN_FAILED and run_failure_is_explained)
        and not (event.type.value == EXECUTION_FAILED and event.execution in decided)
        and not (event.type.value == AUTO_APPROVED and not event.detail.get("notify"))
    ]
