"""Compare the tally with an oracle that tries every permutation of votes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.core.seats import Capacity, People, Requirement, SeatGroup, SeatVote, could_be_filled, tally

USERS = ("a", "b", "c", "d", "e")
GROUPS = ("g", "h")


def seatings(requirement: Requirement, votes: list[SeatVote], people: People, starter: str) -> Iterator[None]:
    """Every way to give each seat another vote, in one of its capacities, that breaks no rule."""
    places = [
        (step, group) for step, groups in enumerate(requirement.steps) for group in groups for _ in range(group.count)
    ]
    for chosen in permutations(range(len(votes)), len(places)):
        if len({votes[at].actor for at in chosen}) < len(places):
            continue
        last = [max(at for (s, _), at in zip(places, chosen, strict=True) if s == step) for step, _ in places]
        if any(
            last[j] >= chosen[i]
            for i, (later, _) in enumerate(places)
            for j, (earlier, _) in enumerate(places)
            if earlier < later
        ):
            continue
        for capacities in product(*(votes[at].capacities for at in chosen)):
            principals = [capacity.principal for capacity in capacities]
            if len(set(principals)) == len(places) and all(
                allowed(requirement, group, votes[at].actor, principal, people, starter)
                for (_, group), at, principal in zip(places, chosen, principals, strict=True)
            ):
                yield


def allowed(
    requirement: Requirement, group: SeatGroup, actor: str, principal: str, people: People, starter: str
) -> bool:
    if actor not in people.approvers or (requirement.not_by_starter and starter in (actor, principal)):
        return False
    belongs = (
        bool(set(group.members) & people.names.get(principal, frozenset()))
        if group.members
        else principal in people.approvers
    )
    return belongs and (not group.reserved_for or principal in group.reserved_for)


def seat_groups() -> st.SearchStrategy[SeatGroup]:
    members = st.sampled_from([(), ("g",), ("h",), ("g", "h"), ("a",)])
    reserved = st.sampled_from([(), (), (), ("b",), ("a", "c")])
    return st.builds(SeatGroup, members, st.integers(1, 2), reserved)


def requirements() -> st.SearchStrategy[Requirement]:
    step = st.lists(seat_groups(), min_size=1, max_size=2).map(tuple)
    return st.builds(
        Requirement, st.just(""), st.just(""), st.lists(step, min_size=1, max_size=2).map(tuple), st.booleans()
    ).filter(lambda requirement: requirement.seat_count <= 4)


def votes() -> st.SearchStrategy[list[SeatVote]]:
    capacities = st.lists(st.sampled_from(USERS), max_size=2, unique=True)
    return st.lists(st.builds(_vote, st.sampled_from(USERS), capacities), max_size=5)


def _vote(actor: str, delegators: list[str]) -> SeatVote:
    return SeatVote(actor, (Capacity(actor), *(Capacity(d, f"{d}{actor}") for d in delegators if d != actor)))


def people() -> st.SearchStrategy[People]:
    memberships = st.fixed_dictionaries({user: st.sets(st.sampled_from(GROUPS)) for user in USERS})
    return st.builds(_people, memberships, st.sets(st.sampled_from(USERS), min_size=2))


def _people(memberships: dict[str, set[str]], approvers: set[str]) -> People:
    return People({user: frozenset({user, *groups}) for user, groups in memberships.items()}, frozenset(approvers))


@settings(max_examples=400)
@given(requirements(), votes(), people(), st.sampled_from(USERS))
def test_votes_fill_all_seats_if_and_only_if_a_permutation_does(
    requirement: Requirement, cast: list[SeatVote], present: People, starter: str
) -> None:
    (result,) = tally([requirement], cast, present, starter)
    assert result.is_full is (next(seatings(requirement, cast, present, starter), "none") is None)


@settings(max_examples=200)
@given(requirements(), votes(), people(), st.sampled_from(USERS))
def test_seats_that_are_filled_could_be_filled(
    requirement: Requirement, cast: list[SeatVote], present: People, starter: str
) -> None:
    (result,) = tally([requirement], cast, present, starter)
    latest = list({vote.actor: vote for vote in cast}.values())
    (of_latest,) = tally([requirement], latest, present, starter)
    assert not of_latest.is_full or could_be_filled(requirement, latest, present, starter)
    assert len({seat.actor for seat in result.filled}) == len(result.filled)
    assert len({seat.capacity.principal for seat in result.filled}) == len(result.filled)
