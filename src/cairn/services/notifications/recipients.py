"""The recipients of a notification and their preferences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from cairn.core.states import ApprovalKind
from cairn.services.actors import Role
from cairn.services.notifications.queries import preference_rows
from cairn.services.notifications.subjects import NotificationSubject
from cairn.store import Connection
from cairn.store.tables.notifications import NotificationKind

APPROVERS = (Role.APPROVER.value, Role.ADMIN.value)
FORM_SUBMITTERS = (*APPROVERS, Role.EDITOR.value)
KINDS_FOR_THE_STARTER = frozenset(
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
    def resolve(self, connection: Connection, names: Iterable[str]) -> Iterable[Recipient]:
        """The users that these names, email addresses, roles and groups refer to."""
        ...


def recipient_names(subject: NotificationSubject) -> tuple[str, ...]:
    """The users, email addresses, roles and groups to notify."""
    approval, terms = subject.approval, subject.terms
    match subject.kind:
        case NotificationKind.APPROVAL_ASSIGNED:
            return tuple(subject.detail.get("to") or ())
        case NotificationKind.APPROVAL_ESCALATED if terms.escalate_to:
            return terms.escalate_to
        case kind if kind in KINDS_FOR_THE_STARTER:
            return (subject.loaded.facts.created_by, *terms.recipients)
        case _:
            is_form = approval is not None and approval.kind is ApprovalKind.INPUT
            assigned_to = approval.assigned_to if approval is not None else ()
            return terms.recipients or assigned_to or (FORM_SUBMITTERS if is_form else APPROVERS)


@dataclass(frozen=True, slots=True)
class QuietPeriod:
    """Hours of each day, in local time, in which no notifications are sent."""

    start: time
    end: time
    zone: ZoneInfo

    @classmethod
    def from_json(cls, stored: Any) -> QuietPeriod | None:
        if not stored:
            return None
        return cls(
            time.fromisoformat(stored["start"]), time.fromisoformat(stored["end"]), ZoneInfo(stored["time_zone"])
        )

    def earliest_delivery(self, now: datetime) -> datetime:
        """The end of the quiet hours, or `now` outside of them."""
        local = now.astimezone(self.zone)
        clock_time = local.time().replace(tzinfo=None)
        if self.start <= self.end:
            if not self.start <= clock_time < self.end:
                return now
        elif self.end <= clock_time < self.start:
            return now
        day = local.date() + timedelta(days=1) if clock_time >= self.end else local.date()
        return datetime.combine(day, self.end, self.zone).astimezone(now.tzinfo)


@dataclass(frozen=True, slots=True)
class RecipientPreference:
    channels: frozenset[str] | None = None  # names or kinds; None: all
    notification_kinds: frozenset[str] | None = None
    quiet_hours: QuietPeriod | None = None

    def allows(self, kind: str, channel: str, channel_kind: str) -> bool:
        channel_is_allowed = self.channels is None or not self.channels.isdisjoint({channel, channel_kind})
        return channel_is_allowed and (self.notification_kinds is None or kind in self.notification_kinds)


NO_PREFERENCE = RecipientPreference()


def preferences_of(connection: Connection, users: Iterable[str]) -> Mapping[str, RecipientPreference]:
    """Preferences by user. Users without preferences are left out."""
    return {
        row.user: RecipientPreference(
            _set_or_none(row.channels), _set_or_none(row.notification_kinds), QuietPeriod.from_json(row.quiet_hours)
        )
        for row in preference_rows(connection, users)
    }


def _set_or_none(stored: Any) -> frozenset[str] | None:
    return None if stored is None else frozenset(stored)
