"""Who is told: named by a rule, by a role, or by what happened; each as they want it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Protocol
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from cairn.core.states import ApprovalKind
from cairn.services.actors import Role
from cairn.services.notifications.subjects import NotificationSubject
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.tables.notifications import NotificationKind

DECIDERS = (Role.APPROVER.value, Role.ADMIN.value)
SUBMITTERS = (*DECIDERS, Role.EDITOR.value)
STARTERS = frozenset(
    {NotificationKind.EXECUTION_FAILED, NotificationKind.RUN_FAILED, NotificationKind.RUN_COMPLETED}
    | {NotificationKind.APPROVAL_REJECTED, NotificationKind.APPROVAL_TIMEOUT}
    | {NotificationKind.BUDGET_WARNING, NotificationKind.BUDGET_EXHAUSTED}
)


class Recipient(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def email(self) -> str: ...


class Recipients(Protocol):
    def people(self, connection: Connection, named: Iterable[str]) -> Iterable[Recipient]:
        """Persons, addresses, roles and groups, as those who are behind them."""
        ...


def named(subject: NotificationSubject) -> tuple[str, ...]:
    """Persons, addresses, roles and groups that are told of it."""
    a, terms = subject.approval, subject.terms
    match subject.kind:
        case NotificationKind.APPROVAL_ASSIGNED:
            return tuple(subject.detail.get("to") or ())
        case NotificationKind.APPROVAL_ESCALATED if terms.escalate_to:
            return terms.escalate_to
        case kind if kind in STARTERS:
            return (subject.loaded.facts.created_by, *terms.recipients)
        case _:
            may = SUBMITTERS if a is not None and a.kind is ApprovalKind.INPUT else DECIDERS
            return terms.recipients or (a.assigned_to if a is not None else ()) or may


@dataclass(frozen=True, slots=True)
class QuietPeriod:
    """Hours of each day in which nothing is sent, by the clock of a place."""

    start: time
    end: time
    zone: ZoneInfo

    @classmethod
    def of(cls, stored: Any) -> QuietPeriod | None:
        if not stored:
            return None
        return cls(
            time.fromisoformat(stored["start"]), time.fromisoformat(stored["end"]), ZoneInfo(stored["time_zone"])
        )

    def over_at(self, now: datetime) -> datetime:
        """Now, or when they end."""
        here = now.astimezone(self.zone)
        clock = here.time().replace(tzinfo=None)
        if self.start <= self.end:
            if not self.start <= clock < self.end:
                return now
        elif self.end <= clock < self.start:
            return now
        day = here.date() + timedelta(days=1) if clock >= self.end else here.date()
        return datetime.combine(day, self.end, self.zone).astimezone(now.tzinfo)


@dataclass(frozen=True, slots=True)
class RecipientPreference:
    channels: frozenset[str] | None = None  # names or kinds; None: all
    kinds: frozenset[str] | None = None
    quiet: QuietPeriod | None = None

    def wants(self, kind: str, channel: str, channel_kind: str) -> bool:
        reaches = self.channels is None or not self.channels.isdisjoint({channel, channel_kind})
        return reaches and (self.kinds is None or kind in self.kinds)


ALL = RecipientPreference()


def preferences(connection: Connection, users: Iterable[str]) -> dict[str, RecipientPreference]:
    p = t.notification_preferences
    rows = connection.execute(sa.select(p).where(p.c.user.in_(list(users))))
    return {
        row.user: RecipientPreference(_set(row.channels), _set(row.notification_kinds), QuietPeriod.of(row.quiet_hours))
        for row in rows
    }


def _set(stored: Any) -> frozenset[str] | None:
    return None if stored is None else frozenset(stored)
