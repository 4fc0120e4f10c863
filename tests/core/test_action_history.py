"""Equal, earlier and repeated actions, people's refusals, occurrences and the digest that decisions are bound to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cairn.core.action import Action, Place
from cairn.core.states import EXECUTED, ActionEffect, ActionState
from tests.core.action_builders import HERE, NOON, action, done, history, refusal, unknown

ELSEWHERE = Place("family", "another checkpoint")
S = ActionState


def ids(actions: tuple[Action, ...]) -> list[str]:
    return [each.id for each in actions]


def denied(**fields: Any) -> Action:
    """People said that an unknown outcome did not happen."""
    return unknown(**fields).replace(state=S.FAILED)


# ---- equal -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("state", list(ActionState))
def test_equal_are_approved_executed_and_once_unknown_actions(state: ActionState) -> None:
    other = action("earlier", state)
    counts = state in EXECUTED or state is S.APPROVED
    assert bool(history(other).equal(action())) == counts
    assert ids(history(other.replace(was_unknown=True)).equal(action())) == ["earlier"]
    assert history(other.replace(identity="another", was_unknown=True)).equal(action()) == ()


def test_equal_actions_are_found_at_every_place_and_in_every_generation() -> None:
    other = done(place=ELSEWHERE, generation=7)
    assert ids(history(other).equal(action())) == ["earlier"]


# ---- earlier -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("state", list(ActionState))
def test_earlier_are_executed_and_once_unknown_actions(state: ActionState) -> None:
    other, new = action("earlier", state, identity="another"), action(generation=1)
    assert bool(history(other).earlier(new)) == (state in EXECUTED)
    assert ids(history(other.replace(was_unknown=True)).earlier(new)) == ["earlier"]


@pytest.mark.parametrize(("generation", "counts"), [(0, True), (1, True), (2, False), (3, False)])
def test_earlier_actions_have_a_lower_generation(generation: int, counts: bool) -> None:
    assert bool(history(done(generation=generation)).earlier(action(generation=2))) == counts


@pytest.mark.parametrize("place", [ELSEWHERE, HERE._replace(item="a"), HERE._replace(family="another")])
def test_earlier_actions_are_at_the_same_place(place: Place) -> None:
    assert history(done(place=place)).earlier(action(generation=1)) == ()


@pytest.mark.parametrize(
    ("state", "by_script", "replayed", "counts"),
    [
        (S.DONE, True, True, False),  # the script continues after the outcome that it was given
        (S.DONE, True, False, True),
        (S.DONE, False, True, True),  # agents continue with their conversation, not with their outcomes
        (S.UNKNOWN, True, True, True),
        (S.HANDED_OVER, True, True, True),
    ],
)
def test_a_script_continues_after_the_outcomes_that_it_was_given(
    state: ActionState, by_script: bool, replayed: bool, counts: bool
) -> None:
    past = history(action("earlier", state, identity="another"), replayed=["earlier"] if replayed else [])
    assert bool(past.earlier(action(generation=1, by_script=by_script))) == counts


# ---- repeats -----------------------------------------------------------------------------------------
def test_repeats_are_equal_and_earlier_actions_oldest_first() -> None:
    past = history(
        done("earlier and equal", proposed_at=NOON + timedelta(seconds=2)),
        done("earlier", identity="another", proposed_at=NOON + timedelta(seconds=1)),
        unknown("equal", generation=1, place=ELSEWHERE, proposed_at=NOON),
        action("approved", S.APPROVED, generation=1, proposed_at=NOON),
        done("unrelated", identity="another", generation=1),
    )
    assert ids(past.repeats(action(generation=1))) == ["approved", "equal", "earlier", "earlier and equal"]


@pytest.mark.parametrize("effect", [ActionEffect.SENDS, ActionEffect.READS])
def test_what_changes_nothing_has_no_repeats(effect: ActionEffect) -> None:
    past, new = history(done(effect=effect)), action(effect=effect, generation=1)
    assert (past.repeats(new), past.blocking(new), past.being_executed(new)) == ((), None, None)


def test_a_denied_action_is_equal_but_not_shown_as_a_repeat() -> None:
    past = history(denied())
    assert (ids(past.equal(action())), past.repeats(action())) == (["earlier"], ())


@pytest.mark.parametrize("state", list(ActionState))
def test_an_equal_action_is_decided_and_finished_first(state: ActionState) -> None:
    past = history(action("earlier", state))
    open_states = {S.APPROVED, S.STARTED, S.HANDED_OVER, S.UNKNOWN}
    assert (past.blocking(action()) is not None) == (state in open_states)
    assert (past.being_executed(action()) is not None) == (state in open_states - {S.APPROVED})


def test_an_unknown_outcome_that_people_gave_up_on_blocks_nothing() -> None:
    past = history(unknown(settled=True))
    assert (past.blocking(action()), past.being_executed(action())) == (None, None)
    assert not past.unsettled_here(action())
    assert ids(past.repeats(action())) == ["earlier"]


def test_an_action_with_another_identity_blocks_nothing() -> None:
    past = history(unknown(identity="another"))
    assert (past.blocking(action(generation=1)), past.being_executed(action(generation=1))) == (None, None)


def test_an_unsettled_outcome_counts_at_its_place() -> None:
    assert history(unknown(identity="another")).unsettled_here(action(generation=3))
    assert not history(unknown(identity="another", place=ELSEWHERE)).unsettled_here(action())
    assert not history(done(identity="another")).unsettled_here(action())


def test_the_history_of_an_action_is_without_itself() -> None:
    past = history(done("a"), done("b"), refusals=[refusal()], replayed=["a"])
    assert past.of(done("a")) == history(done("b"), refusals=[refusal()], replayed=["a"])


# ---- refusals ----------------------------------------------------------------------------------------
FIRST, SECOND = HERE._replace(item="first"), HERE._replace(item="second")
ELSEWHERE_FIRST = ELSEWHERE._replace(item="first")


@pytest.mark.parametrize("kind", ["reject", "revise", "revoke"])
@pytest.mark.parametrize(
    ("refused_at", "proposed_at", "identity", "counts"),
    [
        (HERE, HERE, "same", True),
        (HERE, HERE, "another", True),
        (HERE, ELSEWHERE, "another", True),  # without items, a no counts in the whole family
        (FIRST, HERE, "another", True),
        (HERE, FIRST, "another", True),
        (FIRST, FIRST, "another", True),
        (FIRST, ELSEWHERE_FIRST, "another", True),
        (FIRST, SECOND, "another", False),  # one refused invoice does not stop the others
        (FIRST, SECOND, "same", True),
        (HERE, HERE._replace(family="another"), "same", False),
    ],
)
def test_where_a_no_counts(kind: str, refused_at: Place, proposed_at: Place, identity: str, counts: bool) -> None:
    past = history(refusals=[refusal(kind, refused_at, "same")])
    assert past.refused(action(place=proposed_at, identity=identity, generation=4)) == counts


@pytest.mark.parametrize(
    ("place", "counts"), [(HERE, True), (ELSEWHERE, False), (FIRST, False), (HERE._replace(family="another"), False)]
)
def test_a_modification_counts_at_its_place(place: Place, counts: bool) -> None:
    past = history(refusals=[refusal("modify")])
    assert [past.refused(action(place=place, identity=identity)) for identity in ("same", "another")] == [counts] * 2


def test_a_no_counts_for_its_operation() -> None:
    assert not history(refusals=[refusal()]).refused(action(operation="another"))
    assert not history().refused(action())


# ---- occurrences -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("others", "occurrence"),
    [
        ([], 1),
        ([done(occurrence=3), done("b", occurrence=1)], 4),
        ([done(occurrence=3, identity="another")], 1),
        ([done(occurrence=3, place=ELSEWHERE)], 4),
        ([action("earlier", S.APPROVED, occurrence=1)], 2),
        ([action("earlier", S.STARTED, occurrence=1)], 2),
        ([action("earlier", S.HANDED_OVER, occurrence=1)], 2),
        ([unknown()], 2),
        ([unknown(settled=True)], 2),
        ([action("earlier", S.FAILED, occurrence=1)], 1),  # never reached the receiver: its key is unused
        ([action("earlier", S.FAILED, occurrence=1, answered=True)], 2),  # the receiver stored its error
        ([denied()], 1),  # should people be wrong, the receiver notices
        ([denied(answered=True)], 1),  # its answer was no clear failure
        ([action("earlier", S.WITHDRAWN, occurrence=1)], 1),
        ([action("earlier", S.WAITING)], 1),
    ],
)
def test_the_next_occurrence(others: list[Action], occurrence: int) -> None:
    assert history(*others).next_occurrence(action()) == occurrence


# ---- what decisions are bound to ---------------------------------------------------------------------
def test_the_shown_digest_changes_with_everything_that_people_see() -> None:
    earlier = done("a", proposed_at=NOON), done("b", proposed_at=NOON)
    digests = [
        history().shown_digest(action()),
        history().shown_digest(action(version=2)),
        history().shown_digest(action(content_digest="another")),
        history(earlier[0]).shown_digest(action()),
        history(earlier[1]).shown_digest(action()),
        history(*earlier).shown_digest(action()),
        history(unknown("a", proposed_at=NOON)).shown_digest(action()),
    ]
    assert len(set(digests)) == len(digests)
    assert history(*reversed(earlier)).shown_digest(action()) == history(*earlier).shown_digest(action())


def test_the_shown_digest_does_not_depend_on_what_people_do_not_see() -> None:
    shown = history().shown_digest(action())
    unseen = history(done(identity="another"), denied(id="denied"), refusals=[refusal()])
    assert unseen.shown_digest(action(reason="another", state=S.WAITING)) == shown
    assert history(done()).shown_digest(action(effect=ActionEffect.SENDS)) == shown
