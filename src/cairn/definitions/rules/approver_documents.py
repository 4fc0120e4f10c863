"""Read the approvers of a rule from its document: people, seats, or steps of seats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from cairn.core.seats import SeatGroup, Step
from cairn.definitions.rules.condition_documents import as_tuple
from cairn.documents.pointers import child


class LocatedSeats(NamedTuple):
    """The seats of one group, with their JSON pointer relative to the action."""

    path: str
    seats: SeatGroup


def steps_of(action: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps, one after another. People of whom any can decide are one group of seats."""
    steps = _located_steps(action)
    return tuple(tuple(located.seats for located in step) for step in steps)


def seats_of(action: Mapping[str, Any]) -> list[LocatedSeats]:
    """All seats, of all steps. Parts with another shape are left out: the schema reports them."""
    return [located for step in _located_steps(action) for located in step]


def names_seats(action: Mapping[str, Any]) -> bool:
    """Whether the approvers are seats or steps, which have their own counts."""
    return _has_objects(action.get("approvers"))


def _located_steps(action: Mapping[str, Any]) -> list[list[LocatedSeats]]:
    approvers = action.get("approvers")
    if not _has_objects(approvers):
        count = action.get("require_approval_count", 1)
        path = "/require_approval_count" if _count(count) > 1 else "/approvers"
        return [[LocatedSeats(path, SeatGroup(as_tuple(approvers), _count(count)))]]
    if not _has_steps(approvers):
        return [_seats("/approvers", approvers)]
    return [
        _seats(child(child("/approvers", position), "step"), item["step"])
        for position, item in enumerate(cast("list[Any]", approvers))
        if isinstance(item, dict) and "step" in item
    ]


def _seats(path: str, value: Any) -> list[LocatedSeats]:
    """One step: people, one seat, or several seats."""
    if not _has_objects(value):
        return [LocatedSeats(path, SeatGroup(as_tuple(value)))]
    if isinstance(value, dict):
        return [_seat(path, cast("dict[str, Any]", value))]
    items = cast("list[Any]", value)
    return [
        _seat(child(path, position), cast("dict[str, Any]", item))
        for position, item in enumerate(items)
        if isinstance(item, dict)
    ]


def _seat(path: str, seat: dict[str, Any]) -> LocatedSeats:
    return LocatedSeats(path, SeatGroup(as_tuple(seat.get("from")), _count(seat.get("count", 1))))


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 1 else 1


def _has_objects(value: Any) -> bool:
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    return any(isinstance(item, dict) for item in items)


def _has_steps(value: Any) -> bool:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return any(isinstance(item, dict) and "step" in item for item in items)
