"""Choose the channels of a notification and, for email, the recipients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from cairn.services.notifications import queries
from cairn.services.notifications.recipients import (
    NO_PREFERENCE,
    RecipientPreference,
    Recipients,
    preferences_of,
    recipient_names,
)
from cairn.services.notifications.subjects import NotificationSubject
from cairn.store import Connection
from cairn.store.runs.run_rows import Row
from cairn.store.tables.notifications import ChannelKind


@dataclass(frozen=True, slots=True)
class RoutedChannel:
    """A channel without its URL, which is a secret."""

    channel_id: str
    name: str
    kind: ChannelKind
    include_details: bool
    notification_kinds: frozenset[str]
    pipelines: frozenset[str]
    recipients: tuple[str, ...]
    fallback: str | None

    @classmethod
    def from_row(cls, row: Row) -> RoutedChannel:
        return cls(
            row.channel_id,
            row.name,
            ChannelKind(row.kind),
            row.include_details,
            frozenset(row.notification_kinds),
            frozenset(row.pipelines),
            tuple(row.recipients),
            row.fallback,
        )

    def matches(self, name_or_kind: str) -> bool:
        """Whether a rule that names this kind of channel, or this one, refers to the channel."""
        return name_or_kind.casefold() in (self.name.casefold(), self.kind.value)

    def accepts(self, kind: str, pipeline_id: str) -> bool:
        """Whether the channel receives these notifications when no rule names channels."""
        return kind in self.notification_kinds and (not self.pipelines or pipeline_id in self.pipelines)


@dataclass(frozen=True, slots=True)
class DeliveryTarget:
    """A channel to deliver to and, for email, the recipient."""

    channel: RoutedChannel | None
    name: str
    kind: str
    recipient: str = ""
    due_at: datetime | None = None  # None: now
    problem: str = ""  # why delivery is impossible

    @classmethod
    def for_channel(
        cls, channel: RoutedChannel, recipient: str = "", due_at: datetime | None = None, problem: str = ""
    ) -> DeliveryTarget:
        return cls(channel, channel.name, channel.kind.value, recipient, due_at, problem)


class Routing:
    def __init__(self, recipients: Recipients) -> None:
        self._recipients = recipients

    def targets(self, connection: Connection, subject: NotificationSubject, now: datetime) -> list[DeliveryTarget]:
        """The channels that the rule names. If it names none, the channels that accept this kind of notification."""
        enabled = enabled_channels(connection)
        names = subject.terms.channels
        if not names:
            pipeline = subject.loaded.facts.pipeline_id
            chosen = [channel for channel in enabled if channel.accepts(subject.kind.value, pipeline)]
            return self.targets_in(connection, subject, chosen, now)
        chosen = [channel for channel in enabled if any(channel.matches(name) for name in names)]
        unknown = [name for name in names if not any(channel.matches(name) for channel in enabled)]
        problem = "No enabled channel has this name or kind."
        return [
            *self.targets_in(connection, subject, chosen, now),
            *(DeliveryTarget(None, name, name, problem=problem) for name in unknown),
        ]

    def targets_in(
        self, connection: Connection, subject: NotificationSubject, channels: Sequence[RoutedChannel], now: datetime
    ) -> list[DeliveryTarget]:
        targets: list[DeliveryTarget] = []
        for channel in channels:
            if channel.kind is ChannelKind.EMAIL:
                targets += self._email_targets(connection, subject, channel, now)
            else:
                targets.append(DeliveryTarget.for_channel(channel))
        return targets

    def _email_targets(
        self, connection: Connection, subject: NotificationSubject, channel: RoutedChannel, now: datetime
    ) -> Iterable[DeliveryTarget]:
        names = (*recipient_names(subject), *(() if subject.terms.recipients else channel.recipients))
        people = list(self._recipients.resolve(connection, names))
        preferences = preferences_of(connection, {person.name for person in people})
        by_address = {person.email.casefold(): person for person in people if person.email}
        if not by_address:
            yield DeliveryTarget.for_channel(channel, problem="None of the recipients has an email address.")
        for person in by_address.values():
            preference = preferences.get(person.name, NO_PREFERENCE)
            if preference.allows(subject.kind.value, channel.name, channel.kind.value):
                yield DeliveryTarget.for_channel(channel, person.email, _due_at(preference, now))


def enabled_channels(connection: Connection) -> list[RoutedChannel]:
    return [RoutedChannel.from_row(row) for row in queries.enabled_channels(connection)]


def find_fallback(connection: Connection, channel: RoutedChannel | None) -> RoutedChannel | None:
    if channel is None or channel.fallback is None:
        return None
    return next((other for other in enabled_channels(connection) if other.name == channel.fallback), None)


def _due_at(preference: RecipientPreference, now: datetime) -> datetime | None:
    due_at = preference.quiet_hours.earliest_delivery(now) if preference.quiet_hours is not None else now
    return due_at if due_at > now else None
