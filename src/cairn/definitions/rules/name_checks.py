"""Check that the people and channels that rules name exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol, cast

from cairn.core.states import ApprovalKind
from cairn.definitions.findings import Finding
from cairn.definitions.frozen_model import Document
from cairn.definitions.raw_document import get, objects, section
from cairn.documents import Value
from cairn.documents.pointers import child, join

_SEAT_KEYS = ("from", "step")  # of approvers that are seats or steps


class KnownNames(Protocol):
    """The users and channels that names refer to."""

    def count_users(self, name: str) -> int:
        """The users with this name, email address, role or group."""
        ...

    def count_deciders(self, name: str) -> int:
        """Those of them who can decide approvals."""
        ...

    def has_channel(self, name: str) -> bool:
        """Whether this is a kind of channel, or the name of one."""
        ...


class LocatedName(NamedTuple):
    path: str
    name: str


def check_names(document: Value, known: KnownNames) -> Iterator[Finding]:
    """Errors at names that refer to no user, to no user who can decide, or to no channel."""
    for path, rule in _rules(document):
        action, is_form = section(rule, "action"), get(rule, "trigger", "kind") == ApprovalKind.INPUT
        escalation, notification = section(action, "escalation"), section(action, "notification")
        asked = list(_names(f"{path}/action/approvers", action.get("approvers")))
        if escalation.get("enabled", True) is True:
            asked += _names(f"{path}/action/escalation/escalate_to", escalation.get("escalate_to"))
        for located in asked:
            if known.count_users(located.name) == 0:
                yield _unknown(located)
            elif known.count_deciders(located.name) == 0 and not is_form:  # editors can submit forms, too
                yield _undecided(located)
        for located in _names(f"{path}/action/notification/recipients", notification.get("recipients")):
            if "@" not in located.name and known.count_users(located.name) == 0:
                yield _unknown(located)
        channels = [
            *_names(f"{path}/action/notification/channels", notification.get("channels")),
            *_names(f"{path}/action/notification_channels", action.get("notification_channels")),
        ]
        for located in channels:
            if not known.has_channel(located.name):
                message = f"no channel is named {located.name!r}: use the name of a channel, or a kind such as email"
                yield Finding(located.path, message)


def _unknown(located: LocatedName) -> Finding:
    message = f"no user, email address, role or group matches {located.name!r}: correct it, or add the user first"
    return Finding(located.path, message)


def _undecided(located: LocatedName) -> Finding:
    message = f"{located.name!r} includes no user who can decide: name others, or give a user the role approver"
    return Finding(located.path, message)


def _rules(document: Value) -> Iterator[tuple[str, Document]]:
    for keys in (("checkpoints",), ("auto_approval", "rules")):
        for index, rule in objects(document, *keys):
            yield join((*keys, index)), rule


def _names(path: str, value: object) -> Iterator[LocatedName]:
    """The names in a value of any valid shape: one name, a list, seats or steps."""
    match value:
        case str():
            yield LocatedName(path, value)
        case list():
            for index, item in enumerate(cast("list[Any]", value)):
                yield from _names(child(path, index), item)
        case dict():
            seat = cast("Mapping[str, Any]", value)
            for key in _SEAT_KEYS:
                yield from _names(child(path, key), seat.get(key))
        case _:
            return
