"""What people are to be told is written down in the transaction that it happens in."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import uuid4

import sqlalchemy as sa

from cairn.core.commands import CommandContext
from cairn.core.events import Event
from cairn.ports import JobEngine
from cairn.services.engine.commit import Commit
from cairn.store import Connection, LoadedRun
from cairn.store import tables as t
from cairn.store.prepared_statements import PreparedQuery, insert_into
from cairn.store.tables.notifications import NotificationKind

TOLD = frozenset(kind.value for kind in NotificationKind if kind is not NotificationKind.TEST)
CLOSED = frozenset({NotificationKind.APPROVAL_REJECTED.value, NotificationKind.APPROVAL_TIMEOUT.value})
FAILED = NotificationKind.EXECUTION_FAILED.value

_ANY = PreparedQuery(sa.select(t.channels.c.channel_id).where(t.channels.c.is_enabled == sa.true()).limit(1))
_INSERT = insert_into(t.notification_outbox)


class NotificationOutbox:
    def __init__(self, jobs: JobEngine) -> None:
        self._jobs = jobs

    def add(self, connection: Connection, commit: Commit, /) -> tuple[str, ...]:
        """The ids of the new notifications. They are saved with the commit and delivered after it."""
        told = [event for event in commit.decision.events if event.type in TOLD]
        if not told or _ANY.first(connection, {}) is None:
            return ()
        return tuple(self._write(connection, commit.before, event, commit.context) for event in worth_telling(told))

    def _write(self, connection: Connection, before: LoadedRun, event: Event, given: CommandContext) -> str:
        notification_id = str(uuid4())
        values = {
            "notification_id": notification_id,
            "kind": event.type.value,
            "pipeline_id": before.facts.pipeline_id,
            "run_id": before.facts.run_id,
            "execution_id": event.execution,
            "approval_id": event.approval,
            "actor": given.by,
            "detail": {name: value for name, value in event.detail.items() if name != "stack_trace"},
            "created_at": given.at,
            "content": None,
        }
        _INSERT.run(connection, values)
        self._jobs.enqueue_notice(connection, notification_id)
        return notification_id


def worth_telling(events: Iterable[Event]) -> list[Event]:
    """One thing is told once: a rejection fails its execution, which fails the run."""
    kinds = {event.type.value for event in events}
    left_out = {NotificationKind.RUN_FAILED.value} if kinds & (CLOSED | {FAILED}) else set[str]()
    closed = {event.execution for event in events if event.type.value in CLOSED}
    return [
        event
        for event in events
        if event.type.value not in left_out
        and not (event.type.value == FAILED and event.execution in closed)
        and not (event.type.value == NotificationKind.APPROVAL_AUTO_APPROVED.value and not event.detail.get("notify"))
    ]
