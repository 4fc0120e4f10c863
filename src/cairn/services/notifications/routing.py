"""Which channels a notice goes to, and on those that reach single persons, to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from cairn.services.notifications.recipients import ALL, RecipientPreference, Recipients, named, preferences
from cairn.services.notifications.subjects import NotificationSubject
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.tables.notifications import ChannelKind


@dataclass(frozen=True, slots=True)
class RoutedChannel:
    """As it is set up; its address is a secret of its own."""

    channel_id: str
    name: str
    kind: ChannelKind
    include_details: bool
    notification_kinds: frozenset[str]
    pipelines: frozenset[str]
    recipients: tuple[str, ...]
    fallback: str | None

    def is_named(self, wanted: str) -> bool:
        return wanted.casefold() in (self.name.casefold(), self.kind.value)

    def takes(self, kind: str, pipeline_id: str) -> bool:
        """Without a rule that names it."""
        return kind in self.notification_kinds and (not self.pipelines or pipeline_id in self.pipelines)


@dataclass(frozen=True, slots=True)
class DeliveryTarget:
    """One delivery to be made."""

    channel: RoutedChannel | None
    name: str
    kind: str
    recipient: str = ""
    due_at: datetime | None = None  # None: at once
    problem: str = ""  # why nothing can be sent there


def channels(connection: Connection) -> list[RoutedChannel]:
    """Those that are in use."""
    query = sa.select(t.channels).where(t.channels.c.is_enabled == sa.true()).order_by(t.channels.c.name)
    return [read(row) for row in connection.execute(query)]


def read(row: sa.Row[tuple[object, ...]]) -> RoutedChannel:
    return RoutedChannel(
        row.channel_id,
        row.name,
        ChannelKind(row.kind),
        row.include_details,
        frozenset(row.notification_kinds),
        frozenset(row.pipelines),
        tuple(row.recipients),
        row.fallback,
    )


class Routing:
    def __init__(self, people: Recipients) -> None:
        self._people = people

    def route(self, connection: Connection, subject: NotificationSubject, now: datetime) -> list[DeliveryTarget]:
        """By the rule's channels where it names some, otherwise by what each channel takes."""
        known = channels(connection)
        wanted = subject.terms.channels
        if not wanted:
            pipeline = subject.loaded.facts.pipeline_id
            chosen = [channel for channel in known if channel.takes(subject.kind.value, pipeline)]
            return self.address(connection, subject, chosen, now)
        chosen = [channel for channel in known if any(channel.is_named(name) for name in wanted)]
        missing = [name for name in wanted if not any(channel.is_named(name) for channel in known)]
        lost = [
            DeliveryTarget(None, name, name, problem="No channel of this name or kind is set up.") for name in missing
        ]
        return [*self.address(connection, subject, chosen, now), *lost]

    def address(
        self, connection: Connection, subject: NotificationSubject, chosen: Sequence[RoutedChannel], now: datetime
    ) -> list[DeliveryTarget]:
        found: list[DeliveryTarget] = []
        for channel in chosen:
            if channel.kind is ChannelKind.EMAIL:
                found += self._persons(connection, subject, channel, now)
            else:
                found.append(DeliveryTarget(channel, channel.name, channel.kind.value))
        return found

    def _persons(
        self, connection: Connection, subject: NotificationSubject, channel: RoutedChannel, now: datetime
    ) -> Iterable[DeliveryTarget]:
        everybody = (*named(subject), *(() if subject.terms.recipients else channel.recipients))
        people = list(self._people.people(connection, everybody))
        wishes = preferences(connection, {person.name for person in people})
        reached = {person.email.casefold(): person for person in people if person.email}
        if not reached:
            yield DeliveryTarget(
                channel, channel.name, channel.kind.value, problem="Nobody who is told has an address."
            )
        for person in reached.values():
            wish = wishes.get(person.name, ALL)
            if wish.wants(subject.kind.value, channel.name, channel.kind.value):
                yield DeliveryTarget(channel, channel.name, channel.kind.value, person.email, _due(wish, now))


def _due(wish: RecipientPreference, now: datetime) -> datetime | None:
    due = wish.quiet.over_at(now) if wish.quiet is not None else now
    return due if due > now else None


def fallback_of(known: Iterable[RoutedChannel], channel: RoutedChannel | None) -> RoutedChannel | None:
    by_name: Mapping[str, RoutedChannel] = {one.name: one for one in known}
    return by_name.get(channel.fallback) if channel is not None and channel.fallback is not None else None
