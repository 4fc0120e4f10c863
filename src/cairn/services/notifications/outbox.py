"""Save notifications in the transaction of the event that they report."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from cairn.core.commands import CommandContext
from cairn.core.events import Event
from cairn.ports import JobEngine
from cairn.services.engine.commit import Commit
from cairn.services.notifications.queries import has_enabled_channel
from cairn.services.notifications.records import insert_notification
from cairn.store import Connection, LoadedRun
from cairn.store.tables.notifications import NotificationKind

NOTIFIED_EVENTS = frozenset(kind.value for kind in NotificationKind if kind is not NotificationKind.TEST)
UNSUCCESSFUL_DECISIONS = frozenset({NotificationKind.APPROVAL_REJECTED.value, NotificationKind.APPROVAL_TIMEOUT.value})
EXECUTION_FAILED = NotificationKind.EXECUTION_FAILED.value
RUN_FAILED = NotificationKind.RUN_FAILED.value
AUTO_APPROVED = NotificationKind.APPROVAL_AUTO_APPROVED.value


class NotificationOutbox:
    def __init__(self, jobs: JobEngine) -> None:
        self._jobs = jobs

    def add(self, connection: Connection, commit: Commit, /) -> tuple[str, ...]:
        """Save the notifications of a commit and return their ids. They are delivered after the commit."""
        events = [event for event in commit.decision.events if event.type in NOTIFIED_EVENTS]
        if not events or not has_enabled_channel(connection):
            return ()
        return tuple(
            self._save(connection, commit.before, event, commit.context) for event in notifiable_events(events)
        )

    def _save(self, connection: Connection, before: LoadedRun, event: Event, context: CommandContext) -> str:
        notification_id = str(uuid4())
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
        self._jobs.enqueue_notification(connection, notification_id)
        return notification_id


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
