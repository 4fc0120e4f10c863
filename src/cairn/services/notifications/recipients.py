"""Who is told: named by a rule, by a role, or by what happened; each as they want it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Protocol
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from cairn.core.states import Kind
from cairn.services.actors import Role
from cairn.services.notifications.subjects import Subject
from cairn.store import tables as t
from cairn.store.tables.notifications import NoticeKind

DECIDERS = (Role.APPROVER.value, Role.ADMIN.value)
SUBMITTERS = (*DECIDERS, Role.EDITOR.value)
STARTERS = frozenset(
    {NoticeKind.EXECUTION_FAILED, NoticeKind.RUN_FAILED, NoticeKind.RUN_COMPLETED}
    | {NoticeKind.APPROVAL_REJECTED, NoticeKind.APPROVAL_TIMEOUT}
    | {NoticeKind.BUDGET_NEARLY_SPENT, NoticeKind.BUDGET_SPENT}
)


class Person(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def email(self) -> str: ...


class People(Protocol):
    def people(self, connection: sa.Connection, named: Iterable[str]) -> Iterable[Person]:
        """Persons, addresses, roles and groups, as those who are behind them."""
        ...


def named(subject: Subject) -> tuple[str, ...]:
    """Persons, addresses, roles and groups that are told of it."""
    a, terms = subject.approval, subject.terms
    match subject.kind:
        case NoticeKind.APPROVAL_ASSIGNED:
            return tuple(subject.detail.get("to") or ())
        case NoticeKind.APPROVAL_ESCALATED if terms.escalate_to:
            return terms.escalate_to
        case kind if kind in STARTERS:
            return (subject.loaded.facts.created_by, *terms.recipients)
        case _:
            may = SUBMITTERS if a is not None and a.kind is Kind.INPUT else DECIDERS
            return terms.recipients or (a.asked_of if a is not None else ()) or may


@dataclass(frozen=True, slots=True)
class Quiet:
    """Hours of each day in which nothing is sent, by the clock of a place."""

    start: time
    end: time
    zone: ZoneInfo

    @classmethod
    def of(cls, stored: Any) -> Quiet | None:
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
class Preference:
    channels: frozenset[str] | None = None  # names or kinds; None: all
    kinds: frozenset[str] | None = None
    quiet: Quiet | None = None

    def wants(self, kind: str, channel: str, channel_kind: str) -> bool:
        reaches = self.channels is None or not self.channels.isdisjoint({channel, channel_kind})
        return reaches and (self.kinds is None or kind in self.kinds)


ALL = Preference()


def preferences(connection: sa.Connection, users: Iterable[str]) -> dict[str, Preference]:
    p = t.notice_preferences
    rows = connection.execute(sa.select(p).where(p.c.user.in_(list(users))))
    return {row.user: Preference(_set(row.channels), _set(row.kinds), Quiet.of(row.quiet)) for row in rows}


def _set(stored: Any) -> frozenset[str] | None:
    return None if stored is None else frozenset(stored)
