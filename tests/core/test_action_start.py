"""The check at the start of an action, in the order in which the first reason counts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from cairn.core.action import BY_DEFAULT, BY_OVERRIDE, BY_PEOPLE, Action
from cairn.core.action_judgment import STOP_ACTIONS, STOP_APPROVALS, Circumstances, GateStatus
from cairn.core.action_rules import ApprovingRule
from cairn.core.action_start import StartCheck, StartState, StartVerdict, check_start
from cairn.core.action_votes import EXECUTE_AGAIN, SEND_AGAIN, Electorate
from cairn.core.rule_verdict import RiskLevel
from cairn.core.seats import People
from cairn.core.states import ActionEffect, ActionState
from tests.core.action_builders import (
    NOON,
    action,
    approving,
    asking,
    done,
    electorate,
    history,
    refusal,
    requiring,
    rules,
    unknown,
    vote,
)
from tests.core.seat_builders import people_of, seats
from tests.mentions import mentions

V = StartVerdict
FREE = StartState(NOON, is_current=True, run_in_progress=True)
UNTIL = NOON + timedelta(hours=24)


@dataclass(frozen=True)
class Start:
    """What a check depends on. By default, nothing keeps the action from starting."""

    action: Action
    state: StartState = FREE
    circumstances: Circumstances = field(default_factory=lambda: Circumstances(history(), rules(approving())))
    electorate: Electorate = field(default_factory=electorate)

    def check(self) -> StartCheck:
        return check_start(self.action, self.state, self.circumstances, self.electorate)

    def at(self, **changes: object) -> Start:
        return replace(self, state=replace(self.state, **changes))

    def given(self, **changes: object) -> Start:
        return replace(self, circumstances=replace(self.circumstances, **changes))


def approved(by: str = BY_PEOPLE, **fields: Any) -> Start:
    new = action(state=ActionState.APPROVED, approved_by=by, approved_until=UNTIL, occurrence=1, **fields)
    return Start(new.replace(votes=(vote(new),)) if by in (BY_PEOPLE, BY_OVERRIDE) else new)


def resend(*voters: str) -> Start:
    new = unknown("new", resend_permitted=True, approved_until=UNTIL)
    votes = tuple(vote(new, actor, choice=SEND_AGAIN) for actor in voters or ("ann",))
    return Start(new.replace(votes=votes))


KINDS: dict[str, Callable[[], Start]] = {
    "people": approved,
    "override": lambda: approved(BY_OVERRIDE),
    "rule": lambda: approved("rule:global/small"),
    "low risk": lambda: approved(BY_DEFAULT, risk=RiskLevel.LOW),
    "resend": resend,
}
# Each reason on its own, in the order in which the first one counts.
REASONS: dict[str, tuple[StartVerdict, Callable[[Start], Start]]] = {
    "not current": (V.WITHDRAW, lambda s: s.at(is_current=False)),
    "paused": (V.HOLD, lambda s: s.at(run_in_progress=False)),
    "held": (V.HOLD, lambda s: s.given(gate=replace(s.circumstances.gate, held=True))),
    "stopped": (V.HOLD, lambda s: s.given(gate=replace(s.circumstances.gate, stop=STOP_ACTIONS))),
    "unreadable": (V.HOLD, lambda s: s.given(rules=s.circumstances.rules._replace(is_readable=False))),
    "blocked": (V.BLOCK, lambda s: s.at(blocked="The host is no longer allowed.")),
    "expired": (V.ASK_AFRESH, lambda s: s.at(at=UNTIL)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_without_an_obstacle_an_action_starts(kind: str) -> None:
    assert KINDS[kind]().check() == StartCheck(V.START)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_on_its_own(kind: str, reason: str) -> None:
    verdict, change = REASONS[reason]
    assert change(KINDS[kind]()).check() == StartCheck(verdict, mentions())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(REASONS, 2)))
def test_the_first_reason_counts(kind: str, first: str, second: str) -> None:
    start = KINDS[kind]()
    both = REASONS[first][1](REASONS[second][1](start)).check()
    assert both == REASONS[first][1](start).check()


def test_an_approval_is_valid_until_its_end() -> None:
    assert approved().at(at=UNTIL - timedelta(microseconds=1)).check().verdict is V.START
    assert approved().at(at=UNTIL).check().verdict is V.ASK_AFRESH
    without_end = approved()
    without_end = replace(without_end, action=without_end.action.replace(approved_until=None))
    assert without_end.at(at=UNTIL).check().verdict is V.START


@pytest.mark.parametrize("state", list(ActionState))
@pytest.mark.parametrize("kind", ["people", "override", "rule", "low risk"])
def test_an_equal_action_finishes_first(kind: str, state: ActionState) -> None:
    start = KINDS[kind]().given(history=history(action("earlier", state)))
    is_open = state in (ActionState.STARTED, ActionState.HANDED_OVER, ActionState.UNKNOWN)
    assert (start.check().verdict is V.HOLD) == is_open
    assert not is_open or start.check().reason == mentions("earlier")
    assert start.at(is_current=False, blocked="why").check().verdict is V.WITHDRAW


def test_an_equal_action_holds_before_a_block() -> None:
    start = approved().given(history=history(unknown())).at(blocked="why", at=UNTIL)
    assert start.check().verdict is V.HOLD


def test_other_actions_do_not_hold_it() -> None:
    assert approved().given(history=history(unknown(identity="another"))).check().verdict is V.START
    sends: dict[str, Any] = {"effect": ActionEffect.SENDS}
    assert approved(**sends).given(history=history(unknown(**sends))).check().verdict is V.START


def test_an_unknown_action_may_be_sent_again_whatever_its_history() -> None:
    """It is itself the open question."""
    assert resend().given(history=history(unknown("other"))).check().verdict is V.START


# ---- approved by people ----------------------------------------------------------------------------------
def test_a_new_rule_that_asks_adds_its_seats() -> None:
    two = asking("two", seats("", ""))
    start = approved().given(rules=rules(two))
    assert start.check() == StartCheck(V.ASK, mentions())
    both = start.action.replace(votes=(*start.action.votes, vote(start.action, "bob")))
    assert replace(start, action=both).check().verdict is V.START


def test_the_seats_of_a_removed_rule_stay() -> None:
    start = approved(requirements=requiring(seats("", "")))
    assert start.given(rules=rules()).check().verdict is V.ASK


def test_seats_need_people_who_still_belong() -> None:
    start = replace(approved(requirements=requiring(seats("finance"))), electorate=electorate(people_of(ann="finance")))
    assert start.check().verdict is V.START
    assert replace(start, electorate=electorate(people_of(ann=""))).check().verdict is V.ASK
    left = People({"ann": frozenset({"ann", "finance"})}, frozenset())  # no longer an approver
    assert replace(start, electorate=electorate(left)).check().verdict is V.ASK


@pytest.mark.parametrize("by", [BY_PEOPLE, BY_OVERRIDE])
def test_a_decision_is_bound_to_the_earlier_actions_that_were_shown(by: str) -> None:
    start = approved(by)
    changed = start.given(history=history(done(identity="another", generation=-1)))
    assert changed.check().verdict is V.ASK
    again = vote(start.action, past=changed.circumstances.history, on_repeat=EXECUTE_AGAIN)
    assert replace(changed, action=start.action.replace(votes=(again,))).check().verdict is V.START


def test_an_override_needs_no_seats() -> None:
    start = approved(BY_OVERRIDE, requirements=requiring(seats("finance", "legal")))
    assert start.given(rules=rules(asking())).check().verdict is V.START


def test_what_people_approved_needs_no_rule() -> None:
    refused = approved().given(
        rules=rules(), history=history(refusals=[refusal()]), gate=GateStatus(STOP_APPROVALS), rules_distrusted="why"
    )
    assert refused.check().verdict is V.START


# ---- approved by a rule ----------------------------------------------------------------------------------
def reached(_: ApprovingRule) -> str:
    return "The limit is reached."


NO_LONGER: list[dict[str, Any]] = [
    {"rules": rules()},
    {"rules": rules(asking())},
    {"rules": rules(approving(blocked_by="outside business hours"))},
    {"limit_problem": reached},
    {"gate": GateStatus(STOP_APPROVALS)},
    {"rules_distrusted": "no sandbox"},
    {"history": history(refusals=[refusal()])},
    {"history": history(done())},
]


@pytest.mark.parametrize("changes", NO_LONGER)
def test_a_rule_is_judged_again_at_the_start(changes: dict[str, Any]) -> None:
    assert approved("rule:global/small").given(**changes).check() == StartCheck(V.ASK, mentions())


def test_another_rule_can_approve_at_the_start() -> None:
    assert approved("rule:global/removed").check().verdict is V.START


def test_a_low_risk_action_is_judged_again_at_the_start() -> None:
    start = approved(BY_DEFAULT, risk=RiskLevel.LOW)
    assert start.given(rules=rules()).check().verdict is V.START
    assert start.given(rules=rules(asking())).check().verdict is V.ASK


# ---- sent again ------------------------------------------------------------------------------------------
def test_sending_again_needs_votes_for_exactly_that() -> None:
    start = resend()
    approves = replace(start, action=start.action.replace(votes=(vote(start.action),)))
    assert approves.check().verdict is V.ASK
    assert resend().given(rules=rules(asking("two", seats("", "")))).check().verdict is V.ASK
    assert resend("ann", "bob").given(rules=rules(asking("two", seats("", "")))).check().verdict is V.START


def test_sending_again_is_not_left_to_a_rule() -> None:
    start = resend()
    by_rule = start.action.replace(approved_by="rule:global/small", votes=())
    assert replace(start, action=by_rule).check().verdict is V.ASK
    assert replace(start, action=by_rule.replace(approved_by=BY_OVERRIDE)).check().verdict is V.ASK
