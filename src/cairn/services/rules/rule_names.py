"""The users and channels that rules can name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cairn.ports import Clock
from cairn.services.identity.directory import UserIndex, load_user_index
from cairn.services.notifications.queries import channel_names
from cairn.store import Connection
from cairn.store.tables.notifications import ChannelKind


@dataclass(frozen=True, slots=True)
class RuleNames:
    users: UserIndex
    channels: frozenset[str]  # case-folded

    def count_users(self, name: str) -> int:
        return len(self.users.matching(name))

    def count_deciders(self, name: str) -> int:
        return sum(user.can_decide for user in self.users.matching(name))

    def has_channel(self, name: str) -> bool:
        return name.casefold() in self.channels or name.casefold() in set(ChannelKind)


def rule_names_reader(clock: Clock) -> Callable[[Connection], RuleNames]:
    def read(connection: Connection) -> RuleNames:
        names = frozenset(name.casefold() for name in channel_names(connection))
        return RuleNames(load_user_index(connection, clock.now()), names)

    return read
