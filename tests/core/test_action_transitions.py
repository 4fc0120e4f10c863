"""Every cell of the table of actions, compared with a list in the tests."""

from __future__ import annotations

import itertools

import pytest

from cairn.core.action_transitions import ACTION, LOCKED, ActionTransition, move
from cairn.core.errors import CommandRefused
from cairn.core.states import EXECUTED, NOT_STARTED, ActionState
from tests.core.action_builders import action
from tests.core.spec_tables import ACTION_TRANSITIONS, transitions_of

FINAL = {"done", "refused", "reused", "test", "withdrawn", "expired"}


@pytest.mark.parametrize(("state", "transition"), list(itertools.product(ActionState, ActionTransition)))
def test_every_cell_of_the_table_of_actions(state: ActionState, transition: ActionTransition) -> None:
    legal = transitions_of(ACTION_TRANSITIONS).get((state.value, transition.value))
    before = action(state=state)
    if legal is None:
        with pytest.raises(CommandRefused):
            move(before, transition, reason="why")
    else:
        assert move(before, transition, reason="why") == before.replace(state=ActionState(legal), reason="why")


def test_every_state_has_a_row_and_every_transition_is_used() -> None:
    assert ACTION.keys() == set(ActionState)
    assert {state.value for state, row in ACTION.items() if not row} == FINAL
    assert {transition for row in ACTION.values() for transition in row} == set(ActionTransition)


def test_a_started_action_never_returns_to_a_state_before_its_start() -> None:
    """It stays executed or failed, and only a restored database makes a failed one unknown again."""
    assert {state.value for state in LOCKED} == {"started", "handed_over", "done", "unknown", "failed"}
    for state in LOCKED:
        assert set(ACTION[state].values()) <= LOCKED
    assert ACTION[ActionState.FAILED] == {ActionTransition.MERGE: ActionState.UNKNOWN}


def test_only_a_start_a_hand_over_and_a_merge_lead_to_an_executed_state() -> None:
    starts = {
        transition
        for state, row in ACTION.items()
        for transition, to in row.items()
        if state not in LOCKED and to in EXECUTED
    }
    assert starts == {ActionTransition.START, ActionTransition.HAND_OVER, ActionTransition.MERGE}
    assert {
        state for state, row in ACTION.items() if row.keys() & {ActionTransition.START, ActionTransition.HAND_OVER}
    } == {ActionState.APPROVED, ActionState.UNKNOWN}


def test_states_are_grouped() -> None:
    assert {state.value for state in NOT_STARTED} == {"proposed", "waiting", "approved"}
    assert {state.value for state in EXECUTED} == {"started", "handed_over", "done", "unknown"}
