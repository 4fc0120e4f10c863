"""Votes on actions: what they are bound to, whose seats they fill, and what rules require."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cairn.core.action import Action, ActionRequirement, History
from cairn.core.action_votes import (
    APPROVE,
    DID_NOT_HAPPEN,
    EXECUTE_AGAIN,
    HAPPENED,
    SEND_AGAIN,
    USE_EARLIER,
    cast,
    has_seat,
    is_agreed,
    required_seats,
    unfillable,
    valid_votes,
    with_requirements,
)
from cairn.core.seats import Capacity, Delegation, Requirement
from cairn.core.states import ActionEffect, ActionState
from tests.core.action_builders import NOON, action, asking, done, electorate, history, requiring, unknown, vote
from tests.core.seat_builders import STARTER, people_of, seats, steps

NOTHING = history()


def waiting(*requirements: Requirement, **fields: Any) -> Action:
    return action(state=ActionState.WAITING, requirements=requiring(*requirements), **fields)


def actors(of: Action, past: History = NOTHING, choice: str = APPROVE) -> list[str]:
    return [each.actor for each in valid_votes(of, past, choice)]


# ---- what a vote is bound to -----------------------------------------------------------------------------
def test_a_vote_counts_for_its_version_choice_and_what_was_shown() -> None:
    new = waiting(version=2)
    counted = new.replace(
        votes=(
            vote(new, "ann"),
            vote(new, "bob", version=1),
            vote(new, "cleo", shown_digest="another"),
            vote(new, "dora", choice=HAPPENED),
            vote(new, "eve"),
        )
    )
    assert actors(counted) == ["ann", "eve"]
    assert actors(counted, choice=HAPPENED) == ["dora"]


@pytest.mark.parametrize(
    ("on_repeat", "counts"), [(EXECUTE_AGAIN, True), (USE_EARLIER, False), (None, False), ("", False)]
)
def test_a_repeat_needs_the_choice_to_execute_again(on_repeat: str | None, counts: bool) -> None:
    past, new = history(done()), waiting()
    shown = vote(new, past=past, on_repeat=on_repeat)
    assert bool(actors(new.replace(votes=(shown,)), past)) == counts
    unseen = vote(new, on_repeat=on_repeat)  # before the earlier action existed
    assert actors(new.replace(votes=(unseen,)), past) == []


def test_a_vote_before_the_first_repeat_no_longer_counts_and_counts_again_without_it() -> None:
    new = waiting()
    new = new.replace(votes=(vote(new),))
    assert actors(new, history(done())) == []
    assert actors(new, history(done(identity="another"))) == ["ann"]
    assert actors(new, history(unknown().replace(state=ActionState.FAILED))) == ["ann"]


def test_what_changes_nothing_is_never_a_repeat() -> None:
    new = waiting(effect=ActionEffect.SENDS)
    assert actors(new.replace(votes=(vote(new),)), history(done(effect=ActionEffect.SENDS))) == ["ann"]


@pytest.mark.parametrize("choice", [HAPPENED, DID_NOT_HAPPEN, SEND_AGAIN])
def test_a_settlement_is_not_bound_to_the_earlier_actions(choice: str) -> None:
    new = unknown("new")
    new = new.replace(votes=(vote(new, choice=choice, shown_digest="another"),))
    assert actors(new, history(done()), choice) == ["ann"]
    assert is_agreed(new, NOTHING, electorate(), choice)
    others = {HAPPENED, DID_NOT_HAPPEN, SEND_AGAIN, APPROVE} - {choice}
    assert [is_agreed(new, NOTHING, electorate(), other) for other in others] == [False] * 3


# ---- casting ---------------------------------------------------------------------------------------------
def test_a_person_has_one_vote_and_the_last_one_counts() -> None:
    new = waiting()
    for each in (
        vote(new, "ann", shown_digest="old"),
        vote(new, "bob"),
        vote(new, "ann", at=NOON + timedelta(hours=1)),
    ):
        new = cast(new, each)
    assert [(v.actor, v.at) for v in new.votes] == [("bob", NOON), ("ann", NOON + timedelta(hours=1))]
    assert actors(new) == ["bob", "ann"]


def test_a_changed_mind_takes_the_seat_back() -> None:
    new = unknown("new", requirements=requiring(seats("", "")))
    for each in (
        vote(new, "ann", choice=HAPPENED),
        vote(new, "ann", choice=SEND_AGAIN),
        vote(new, "bob", choice=HAPPENED),
    ):
        new = cast(new, each)
    assert not is_agreed(new, NOTHING, electorate(), HAPPENED)


def test_casting_does_not_change_the_action_before_it() -> None:
    new = waiting()
    cast(new, vote(new))
    assert new.votes == ()


# ---- seats -----------------------------------------------------------------------------------------------
def test_without_requirements_any_approver_can_approve() -> None:
    new = waiting()
    assert required_seats(new) == (Requirement(),)
    assert not is_agreed(new, NOTHING, electorate())
    assert is_agreed(cast(new, vote(new)), NOTHING, electorate())
    assert not is_agreed(cast(new, vote(new, "nobody")), NOTHING, electorate())


def test_the_seats_of_every_rule_have_to_be_filled() -> None:
    people = electorate(people_of(ann="finance", bob="legal", cleo=""))
    new = waiting(seats("finance"), seats("", "legal"))
    assert not is_agreed(cast(new, vote(new, "ann")), NOTHING, people)
    assert is_agreed(cast(cast(new, vote(new, "ann")), vote(new, "bob")), NOTHING, people)  # ann sits in both


def test_a_person_and_their_delegate_are_one() -> None:
    people = electorate(people_of((Delegation("1", "bob", "cleo"),), ann="", bob="", cleo=""))
    new = waiting(seats("", ""))
    for_bob = (Capacity("cleo"), Capacity("bob", "1"))
    both = cast(cast(new, vote(new, "bob")), vote(new, "cleo", capacities=for_bob[1:]))
    assert not is_agreed(both, NOTHING, people)
    assert is_agreed(cast(both, vote(new, "cleo", capacities=for_bob)), NOTHING, people)  # as herself


def test_the_starter_and_who_acts_for_them_are_excluded_together() -> None:
    people = electorate(people_of((Delegation("1", STARTER, "ann"),), ann="", starter=""))
    new = waiting(seats("", not_by_starter=True))
    as_starter = vote(new, "ann", capacities=(Capacity(STARTER, "1"),))
    assert not is_agreed(cast(new, as_starter), NOTHING, people)
    assert not is_agreed(cast(new, vote(new, STARTER)), NOTHING, people)
    assert is_agreed(cast(new, vote(new, "ann")), NOTHING, people)


def test_a_later_step_counts_later_votes() -> None:
    people = electorate(people_of(ann="leads", bob="legal"))
    new = waiting(steps(("leads",), ("legal",)))
    early = cast(cast(new, vote(new, "bob")), vote(new, "ann"))
    assert not is_agreed(early, NOTHING, people)
    assert is_agreed(cast(early, vote(new, "bob")), NOTHING, people)  # voting again moves the vote to the end


@pytest.mark.parametrize(("actor", "expected"), [("ann", True), ("bob", True), ("cleo", False), ("nobody", False)])
def test_who_has_a_seat(actor: str, expected: bool) -> None:
    people = electorate(people_of(ann="leads", bob="legal", cleo=""))
    new = waiting(steps(("leads",), ("legal",)))
    assert has_seat(new, actor, people) is expected  # also of a step that is not open yet
    assert has_seat(waiting(), actor, people) is (actor != "nobody")
    filled = cast(cast(new, vote(new, "ann")), vote(new, "bob"))
    assert has_seat(filled, actor, people) is expected


def test_a_delegate_has_the_seat_of_the_delegator() -> None:
    people = electorate(people_of((Delegation("1", "ann", "bob"),), ann="finance", bob=""))
    assert has_seat(waiting(seats("finance")), "bob", people)


def test_requirements_that_nobody_can_fill_are_named() -> None:
    people = electorate(people_of(ann="finance", bob=""))
    possible, impossible = seats("finance", ""), seats("finance", "finance")
    assert unfillable(waiting(possible, impossible), (), people) == (impossible,)


# ---- requirements ----------------------------------------------------------------------------------------
def test_requirements_are_added_once_and_never_removed() -> None:
    careful, strict = asking("careful", seats("")), asking("strict", seats("", ""))
    new = with_requirements(action(), [careful])
    assert new.requirements == (ActionRequirement("global/careful", careful.requirement, careful.requirement),)
    assert with_requirements(new, [careful]) is new
    assert with_requirements(new, []) is new
    both = with_requirements(new, [strict, careful])
    assert [each.rule_id for each in both.requirements] == ["global/careful", "global/strict"]


def test_a_changed_rule_adds_its_new_seats() -> None:
    old, new = asking("careful", seats("")), asking("careful", seats("legal"))
    found = with_requirements(with_requirements(action(), [old]), [new])
    assert required_seats(found) == (seats(""), seats("legal"))


def test_a_hand_over_replaces_seats_without_adding_the_rule_again() -> None:
    careful = asking("careful", seats("legal"))
    first = with_requirements(action(), [careful])
    handed = first.replace(requirements=(replace(first.requirements[0], current=seats("finance")),))
    assert required_seats(handed) == (seats("finance"),)
    assert with_requirements(handed, [careful]) is handed


# ---- modifications (they restart the count of approvals) ----------------------------------------------------
def test_a_modification_restarts_the_count() -> None:
    people = electorate()
    new = cast(waiting(seats("", "")), vote(waiting(), "ann"))
    modified = new.replace(version=2, content_digest="less")
    modified = cast(modified, vote(modified, "bob"))
    assert not is_agreed(modified, NOTHING, people)
    assert is_agreed(cast(modified, vote(modified, "ann")), NOTHING, people)


def test_a_modification_back_to_the_first_content_restarts_the_count_too() -> None:
    new = waiting(seats("", ""))
    back = cast(new, vote(new, "ann")).replace(version=3)
    back = cast(back, vote(back, "cleo"))
    assert actors(back) == ["cleo"]
    assert not is_agreed(back, NOTHING, electorate())
