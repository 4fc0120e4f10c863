"""Seats of approvals: who can fill them, in which order, and what moves them."""

from __future__ import annotations

import pytest

from cairn.core.seats import (
    Capacity,
    Delegation,
    FilledSeat,
    People,
    Requirement,
    SeatGroup,
    SeatVote,
    could_be_filled,
    escalate,
    fills_seat,
    free_groups,
    hand_over,
    reassign,
    tally,
)
from tests.core.seat_builders import STARTER, approves, people_of, seats, steps, vote

PEOPLE = people_of(ann="finance", bob="finance", cy="legal", dan="finance legal", eve="", starter="finance")


@pytest.mark.parametrize(
    ("votes", "requirement", "expected"),
    [
        pytest.param(["eve"], seats(""), True, id="any approver"),
        pytest.param([], seats(""), False, id="no vote"),
        pytest.param(["mallory"], seats(""), False, id="not an approver"),
        pytest.param(["eve"], seats("finance"), False, id="not a member"),
        pytest.param(["ann"], seats("finance", "finance"), False, id="one of two"),
        pytest.param(["ann", "ann"], seats("finance", "finance"), False, id="one person, two votes"),
        pytest.param(["ann", "bob"], seats("finance", "finance"), True, id="two members"),
        pytest.param(["ann", "bob"], seats("finance", "legal"), False, id="two of one group, one of each needed"),
        pytest.param(["dan"], seats("finance", "legal"), False, id="one person in both groups fills one seat"),
        pytest.param(["dan", "ann"], seats("finance", "legal"), True, id="dan sits in legal, so that ann can sit"),
        pytest.param(["dan", "cy"], seats("finance", "legal"), True, id="dan sits in finance, so that cy can sit"),
        pytest.param(["eve", "ann"], seats("finance", ""), True, id="a group and any approver"),
        pytest.param(["starter"], seats("finance"), True, id="the starter"),
        pytest.param(["starter"], seats("finance", not_by_starter=True), False, id="not by the starter"),
        pytest.param(["ann", "cy"], steps(("finance",), ("legal",)), True, id="steps in order"),
        pytest.param(["cy", "ann"], steps(("finance",), ("legal",)), False, id="a vote before its step doesn't count"),
        pytest.param(["cy", "ann", "cy"], steps(("finance",), ("legal",)), True, id="the same vote again, in its step"),
        pytest.param(["dan", "ann", "cy"], steps(("finance", "legal"), ("legal",)), True, id="two seats, then one"),
        pytest.param(["dan", "dan"], steps(("finance",), ("legal",)), False, id="one person in two steps"),
        pytest.param(["dan", "cy", "bob"], steps(("finance",), ("legal",), ("finance",)), True, id="three steps"),
    ],
)
def test_votes_fill_seats(votes: list[str], requirement: Requirement, expected: bool) -> None:
    assert approves(PEOPLE, [vote(actor) for actor in votes], requirement) is expected


def test_a_person_can_fill_a_seat_of_every_rule() -> None:
    dual, legal = seats("", ""), seats("legal")
    assert not approves(PEOPLE, [vote("ann"), vote("bob")], dual, legal)
    assert approves(PEOPLE, [vote("ann"), vote("cy")], dual, legal)


# ---- delegations ----------------------------------------------------------------------------------------------
def test_a_delegate_fills_the_seat_of_the_delegator() -> None:
    (result,) = tally([seats("finance")], [vote("eve", "ann")], PEOPLE, STARTER)
    assert result.filled == (FilledSeat(0, 0, "eve", Capacity("ann", "ann-to-eve")),)


def test_a_person_and_their_delegate_are_one() -> None:
    assert not approves(PEOPLE, [vote("ann"), vote("eve", "ann")], seats("finance", "finance"))
    assert approves(PEOPLE, [vote("bob"), vote("eve", "ann")], seats("finance", "finance"))


def test_two_delegates_of_one_person_are_one() -> None:
    votes = [vote("eve", "ann"), vote("cy", "ann")]
    assert not approves(PEOPLE, votes, seats("finance", "finance"))


def test_a_delegate_who_is_a_member_too_fills_one_seat() -> None:
    assert not approves(PEOPLE, [vote("bob", "ann")], seats("finance", "finance"))


def test_the_tally_chooses_the_capacity_that_completes_the_seats() -> None:
    """Bob votes for cy here, because ann is the only other one in finance."""
    assert approves(PEOPLE, [vote("bob", "cy"), vote("ann")], seats("finance", "legal"))


def test_the_starters_delegate_counts_as_the_starter_only_when_acting_for_them() -> None:
    requirement = seats("finance", not_by_starter=True)
    assert not approves(PEOPLE, [vote("eve", STARTER)], requirement)
    assert approves(PEOPLE, [vote("bob", STARTER)], requirement)
    assert not approves(PEOPLE, [vote(STARTER, "ann")], requirement)


def test_a_delegator_who_has_left_the_group_gives_no_seat() -> None:
    assert not approves(PEOPLE, [vote("ann", "removed", own=False)], seats("finance"))


# ---- eligibility at the tally ----------------------------------------------------------------------------------
def test_a_voter_who_left_the_group_loses_the_seat_until_they_return() -> None:
    votes, requirement = [vote("ann"), vote("cy")], seats("finance", "legal")
    assert approves(PEOPLE, votes, requirement)
    assert not approves(people_of(ann="", cy="legal"), votes, requirement)
    assert approves(people_of(ann="finance", cy="legal"), votes, requirement)


def test_a_voter_who_can_no_longer_decide_loses_the_seat() -> None:
    names = {"ann": frozenset({"ann", "finance"})}
    assert not approves(People(names), [vote("ann")], seats("finance"))


def test_names_of_groups_match_in_any_case() -> None:
    assert approves(PEOPLE, [vote("ann")], Requirement(steps=((SeatGroup((" Finance ",)),),)))


# ---- progress --------------------------------------------------------------------------------------------------
def test_the_tally_says_which_seats_are_free() -> None:
    requirement = steps(("finance", "finance", "legal"), ("",))
    (result,) = tally([requirement], [vote("ann"), vote("cy")], PEOPLE, STARTER)
    assert (len(result.filled), result.open_step) == (2, 0)
    assert result.open_groups == ((0, SeatGroup(("finance",), 2)),)
    assert free_groups(result, vote("bob"), PEOPLE, STARTER) == result.open_groups
    assert free_groups(result, vote("eve"), PEOPLE, STARTER) == ()


def test_a_vote_fills_a_seat_by_making_room() -> None:
    """Dan's vote takes the seat in finance until ann can only sit there."""
    votes, requirement = [vote("dan")], seats("finance", "legal")
    (before,) = tally([requirement], votes, PEOPLE, STARTER)
    assert fills_seat(before, votes, vote("ann"), PEOPLE, STARTER)
    assert fills_seat(before, votes, vote("cy"), PEOPLE, STARTER)
    assert not fills_seat(before, votes, vote("dan"), PEOPLE, STARTER)
    assert not fills_seat(before, votes, vote("eve"), PEOPLE, STARTER)


def test_a_full_tally_has_no_open_step() -> None:
    (result,) = tally([seats("")], [vote("eve")], PEOPLE, STARTER)
    assert (result.is_full, result.open_step, result.open_groups) == (True, None, ())


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (seats("finance", "finance", "finance"), True),
        (seats("finance", "finance", "finance", not_by_starter=True), True),
        (seats("finance", "finance", "finance", "finance", not_by_starter=True), False),
        (seats("legal", "legal"), True),
        (seats("legal", "legal", "legal"), False),
        (steps(("legal",), ("legal",)), True),
        (steps(("legal", "legal"), ("legal",)), False),
        (seats("nobody"), False),
    ],
)
def test_whether_the_existing_people_could_fill_all_seats(requirement: Requirement, expected: bool) -> None:
    assert could_be_filled(requirement, [], PEOPLE, STARTER) is expected


def test_delegations_count_for_whether_seats_could_be_filled() -> None:
    delegated = People(
        {**PEOPLE.names, "away": frozenset({"away", "legal"})}, PEOPLE.approvers, (Delegation("d1", "away", "eve"),)
    )
    requirement = seats("legal", "legal", "legal")
    assert could_be_filled(requirement, [], delegated, STARTER)
    ended = People(delegated.names, delegated.approvers)
    assert not could_be_filled(requirement, [], ended, STARTER)
    assert could_be_filled(requirement, [vote("eve", "away")], ended, STARTER)  # cast while the delegation was active


def test_many_approvers_are_seated_without_trying_every_order() -> None:
    names = {f"user-{number}": frozenset({f"user-{number}", "finance", "legal"}) for number in range(200)}
    crowd = People(names, frozenset(names))
    requirement = seats(*["finance"] * 10, *["legal"] * 10, "audit")
    assert not could_be_filled(requirement, [], crowd, STARTER)
    assert not approves(crowd, [SeatVote(name, (Capacity(name),)) for name in names], requirement)


# ---- changes of seats --------------------------------------------------------------------------------------------
def test_a_seat_that_was_handed_over_is_for_its_new_holder_only() -> None:
    requirement = hand_over(seats("finance", "finance", "legal"), 0, 0, ("bob",))
    assert requirement.steps == (
        (SeatGroup(("finance",)), SeatGroup(("finance",), 1, ("bob",)), SeatGroup(("legal",))),
    )
    assert not approves(PEOPLE, [vote("ann"), vote("dan"), vote("cy")], requirement)
    assert approves(PEOPLE, [vote("ann"), vote("bob"), vote("cy")], requirement)
    assert not approves(
        people_of(ann="finance", bob="", cy="legal"), [vote("ann"), vote("bob"), vote("cy")], requirement
    )


def test_a_reassigned_seat_is_for_other_people() -> None:
    requirement = reassign(seats("finance", "legal"), 0, 1, ("eve",))
    assert requirement.seat_count == 2
    assert approves(PEOPLE, [vote("ann"), vote("eve")], requirement)
    assert not approves(PEOPLE, [vote("eve"), vote("cy")], requirement)


def test_escalation_adds_people_to_seats_and_lowers_nothing() -> None:
    requirement = escalate(steps(("finance", "finance"), ("",)), ("legal",))
    assert requirement.steps == ((SeatGroup(("finance", "legal"), 2),), (SeatGroup(),))
    reserved = escalate(hand_over(seats("finance"), 0, 0, ("bob",)), ("legal",))
    assert reserved.steps == ((SeatGroup(("finance", "legal"), 1, ("bob", "legal")),),)
