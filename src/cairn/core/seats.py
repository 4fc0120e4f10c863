"""Seats: which people have to approve, and whether the votes so far fill all seats.

Each rule that asks has a requirement of its own. A person fills at most one seat of a requirement, and may fill seats
of several requirements. Any valid assignment of votes to seats counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class SeatGroup:
    """Equal seats, for members of any of these groups."""

    members: tuple[str, ...] = ()  # user names, email addresses, roles and groups; empty: all approvers
    count: int = 1
    reserved_for: tuple[str, ...] = ()  # the members that the seats were handed over to; empty: all members

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of the people who are asked to fill the seats. Empty: all approvers."""
        return self.reserved_for or self.members


Step = tuple[SeatGroup, ...]


@dataclass(frozen=True, slots=True)
class Requirement:
    """The seats that one rule requires. The next step is asked when a step is full."""

    rule: str = ""  # empty: the checkpoint's own settings
    scope: str = ""  # of the rule
    steps: tuple[Step, ...] = ((SeatGroup(),),)
    not_by_starter: bool = False

    @property
    def seat_count(self) -> int:
        return sum(group.count for step in self.steps for group in step)


class Capacity(NamedTuple):
    """Whom a vote can count for: the voter, or a user who delegated their decisions to the voter."""

    principal: str
    delegation_id: str = ""


class SeatVote(NamedTuple):
    """An approving vote, with every capacity that the voter had when they cast it. The tally chooses one of them."""

    actor: str
    capacities: tuple[Capacity, ...]


class Delegation(NamedTuple):
    delegation_id: str
    from_user: str
    to_user: str


@dataclass(frozen=True, slots=True)
class People:
    """The active users and delegations at one moment."""

    names: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])  # of each user: `names_of`
    approvers: frozenset[str] = frozenset()  # users who can vote
    delegations: tuple[Delegation, ...] = ()

    def capacities_of(self, actor: str) -> tuple[Capacity, ...]:
        delegated = (Capacity(d.from_user, d.delegation_id) for d in self.delegations if d.to_user == actor)
        return (Capacity(actor), *delegated)

    def is_member(self, user: str, members: Iterable[str]) -> bool:
        return not self.names.get(user, frozenset()).isdisjoint(name.strip().casefold() for name in members)

    def can_sit(self, principal: str, group: SeatGroup) -> bool:
        """Whether a vote for this user can fill a seat of the group."""
        belongs = self.is_member(principal, group.members) if group.members else principal in self.approvers
        return belongs and (not group.reserved_for or self.is_member(principal, group.reserved_for))


class FilledSeat(NamedTuple):
    step: int
    group: int  # index in the step
    actor: str
    capacity: Capacity


@dataclass(frozen=True, slots=True)
class SeatTally:
    """The best assignment of votes to the seats of one requirement."""

    requirement: Requirement
    filled: tuple[FilledSeat, ...] = ()

    @property
    def is_full(self) -> bool:
        return len(self.filled) == self.requirement.seat_count

    @property
    def open_step(self) -> int | None:
        """The step that is asked now."""
        filled = len(self.filled)
        for index, step in enumerate(self.requirement.steps):
            filled -= sum(group.count for group in step)
            if filled < 0:
                return index
        return None

    @property
    def open_groups(self) -> tuple[tuple[int, SeatGroup], ...]:
        """The groups of the open step that have a free seat, with their indexes."""
        step = self.open_step
        if step is None:
            return ()
        taken = [seat.group for seat in self.filled if seat.step == step]
        groups = enumerate(self.requirement.steps[step])
        return tuple((index, group) for index, group in groups if taken.count(index) < group.count)


def tally(
    requirements: Iterable[Requirement], votes: Sequence[SeatVote], people: People, starter: str
) -> tuple[SeatTally, ...]:
    """Assign the votes, in the order they were cast, to the seats of each requirement."""
    return tuple(_tally(requirement, votes, people, starter) for requirement in requirements)


def is_approved(tallies: Iterable[SeatTally]) -> bool:
    return all(each.is_full for each in tallies)


def could_be_filled(requirement: Requirement, votes: Sequence[SeatVote], people: People, starter: str) -> bool:
    """Whether the existing people could fill all seats, if everyone approved in every capacity."""
    cast = {vote.actor: vote.capacities for vote in votes}
    everyone = [
        SeatVote(actor, tuple(dict.fromkeys((*people.capacities_of(actor), *cast.get(actor, ())))))
        for actor in sorted(people.approvers)
    ]
    at_once = replace(requirement, steps=(tuple(group for step in requirement.steps for group in step),))
    return _tally(at_once, everyone, people, starter).is_full


def fills_seat(before: SeatTally, votes: Sequence[SeatVote], vote: SeatVote, people: People, starter: str) -> bool:
    """Whether this vote, in place of an earlier one of the same actor, fills one more seat."""
    after = _tally(before.requirement, (*(v for v in votes if v.actor != vote.actor), vote), people, starter)
    return len(after.filled) > len(before.filled)


def free_groups(tally: SeatTally, vote: SeatVote, people: People, starter: str) -> tuple[tuple[int, SeatGroup], ...]:
    """The groups with a free seat that this vote could fill, with their indexes in the open step."""
    return tuple(
        (index, group)
        for index, group in tally.open_groups
        if next(_capacities(tally.requirement, vote, group, people, starter), None) is not None
    )


def hand_over(requirement: Requirement, step: int, group: int, to: tuple[str, ...]) -> Requirement:
    """Reserve one seat of a group for some of its members."""
    return _split(requirement, step, group, lambda seat: replace(seat, reserved_for=to))


def reassign(requirement: Requirement, step: int, group: int, to: tuple[str, ...]) -> Requirement:
    """Give one seat of a group to other people."""
    return _split(requirement, step, group, lambda _: SeatGroup(to))


def escalate(requirement: Requirement, to: tuple[str, ...]) -> Requirement:
    """Add people to all seats. The number of seats stays."""

    def widened(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*names, *to))) if names else ()

    steps = tuple(
        tuple(SeatGroup(widened(group.members), group.count, widened(group.reserved_for)) for group in step)
        for step in requirement.steps
    )
    return replace(requirement, steps=steps)


def _split(requirement: Requirement, step: int, group: int, change: Callable[[SeatGroup], SeatGroup]) -> Requirement:
    """Change one seat of a group. Its other seats stay as they are."""
    seats = requirement.steps[step][group]
    changed = change(replace(seats, count=1))
    rest = (changed,) if seats.count == 1 else (replace(seats, count=seats.count - 1), changed)
    groups = (*requirement.steps[step][:group], *rest, *requirement.steps[step][group + 1 :])
    return replace(requirement, steps=(*requirement.steps[:step], groups, *requirement.steps[step + 1 :]))


def _capacities(
    requirement: Requirement, vote: SeatVote, group: SeatGroup, people: People, starter: str
) -> Iterator[Capacity]:
    """The capacities in which this vote can fill a seat of the group now."""
    if vote.actor not in people.approvers or (requirement.not_by_starter and vote.actor == starter):
        return
    for capacity in vote.capacities:
        is_barred = requirement.not_by_starter and capacity.principal == starter
        if not is_barred and people.can_sit(capacity.principal, group):
            yield capacity


class _State(NamedTuple):
    """A set of equivalent partial assignments."""

    step: int
    free: tuple[int, ...]  # seats of each group of the step
    actors: frozenset[str]  # that fill a seat and vote again
    principals: frozenset[str]  # that fill a seat and that a later vote could count for

    def sit(self, requirement: Requirement, group: int, actor: str, principal: str) -> _State:
        free = (*self.free[:group], self.free[group] - 1, *self.free[group + 1 :])
        step = self.step if any(free) else self.step + 1
        return _State(
            step, free if any(free) else _free(requirement, step), self.actors | {actor}, self.principals | {principal}
        )


def _free(requirement: Requirement, step: int) -> tuple[int, ...]:
    return tuple(group.count for group in requirement.steps[step]) if step < len(requirement.steps) else ()


def _tally(requirement: Requirement, votes: Sequence[SeatVote], people: People, starter: str) -> SeatTally:
    """Try every assignment, one vote after the other.

    A vote can only fill a seat of the step that is open when it is reached, so later steps count later votes.
    Assignments that leave the same seats and people free are tried once.
    """
    states: dict[_State, tuple[FilledSeat, ...]] = {
        _State(0, _free(requirement, 0), frozenset(), frozenset()): (),
    }
    for index, vote in enumerate(votes):
        found = dict(states)
        for state, filled in states.items():
            if state.step == len(requirement.steps):
                return SeatTally(requirement, filled)
            if vote.actor in state.actors:
                continue
            for group, seats in enumerate(requirement.steps[state.step]):
                if not state.free[group]:
                    continue
                for capacity in _capacities(requirement, vote, seats, people, starter):
                    if capacity.principal not in state.principals:
                        after = state.sit(requirement, group, vote.actor, capacity.principal)
                        found.setdefault(after, (*filled, FilledSeat(state.step, group, vote.actor, capacity)))
        states = _merged(found, votes[index + 1 :])
    return SeatTally(requirement, max(states.values(), key=len))


def _merged(
    states: Mapping[_State, tuple[FilledSeat, ...]], later: Sequence[SeatVote]
) -> dict[_State, tuple[FilledSeat, ...]]:
    """The states without the people that no later vote concerns."""
    actors = frozenset(vote.actor for vote in later)
    principals = frozenset(capacity.principal for vote in later for capacity in vote.capacities)
    merged: dict[_State, tuple[FilledSeat, ...]] = {}
    for state, filled in states.items():
        merged.setdefault(
            state._replace(actors=state.actors & actors, principals=state.principals & principals), filled
        )
    return merged
