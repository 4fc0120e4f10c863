"""Who approves an action: the order of the reasons for asking people, and of the rules."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest

from cairn.core.action import BY_DEFAULT, BY_PEOPLE, Action
from cairn.core.action_judgment import (
    MAX_FAILURES,
    STOP_ACTIONS,
    STOP_APPROVALS,
    Circumstances,
    GateStatus,
    Judgment,
    judge,
)
from cairn.core.action_rules import ApprovingRule, RuleLimit
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect, ActionState
from tests.core.action_builders import HERE, action, approving, asking, done, history, refusal, rules, unknown
from tests.mentions import mentions

SMALL, OTHER = approving(), approving("other")
NOTHING = Circumstances(history(), rules(SMALL))
Case = tuple[Action, Circumstances]


def past(c: Circumstances, *others: Action, **more: object) -> Circumstances:
    h = c.history
    return replace(c, history=replace(h, others=(*h.others, *others), **more))


def failures(count: int, **fields: object) -> list[Action]:
    return [action(f"failed {n}", ActionState.FAILED, identity=f"{n}", **fields) for n in range(count)]


def gate(c: Circumstances, stop: str = "", *, held: bool = False) -> Circumstances:
    return replace(c, gate=GateStatus(stop or c.gate.stop, held or c.gate.held))


# Each step on its own, in the order in which the first one counts. Other identities keep the steps apart.
STEPS: dict[str, Callable[[Action, Circumstances], Case]] = {
    "held": lambda a, c: (a, gate(c, held=True)),
    "stop of actions": lambda a, c: (a, gate(c, STOP_ACTIONS)),
    "unreadable rules": lambda a, c: (a, replace(c, rules=c.rules._replace(is_readable=False))),
    "a rule asks": lambda a, c: (a, replace(c, rules=c.rules._replace(asking=(asking(),)))),
    "modified": lambda a, c: (a.replace(modified=True), c),
    "a person's no": lambda a, c: (a, past(c, refusals=(refusal(identity="refused"),))),
    "equal": lambda a, c: (a, past(c, done("equal", generation=a.generation))),
    "earlier": lambda a, c: (a, past(c, done("earlier", identity="another", generation=a.generation - 1))),
    "unsettled": lambda a, c: (a, past(c, unknown("unsettled", identity="lost", generation=a.generation))),
    "failures": lambda a, c: (a, past(c, *failures(MAX_FAILURES, generation=a.generation))),
    "stop of approvals": lambda a, c: (a, c if c.gate.stop else gate(c, STOP_APPROVALS)),
    "no sandbox": lambda a, c: (a, replace(c, rules_distrusted="Its script has no sandbox.")),
    "no rule": lambda a, c: (a, replace(c, rules=c.rules._replace(approving=()))),
}
NEW = action(generation=5)


def judged(*steps: str) -> Judgment:
    case: Case = (NEW, NOTHING)
    for step in steps:
        case = STEPS[step](*case)
    return judge(*case)


def test_without_an_obstacle_the_rule_approves() -> None:
    assert judged() == Judgment(is_approved=True, rule=SMALL, reason=mentions("small"))


@pytest.mark.parametrize("step", STEPS)
def test_every_step_keeps_rules_from_approving(step: str) -> None:
    found = judged(step)
    assert (found.is_approved, found.rule) == (False, None)
    assert found.reason
    assert found.is_held == (step in ("held", "stop of actions", "unreadable rules"))


def test_every_step_has_its_own_reason() -> None:
    reasons = [judged(step).reason for step in STEPS]
    assert len(set(reasons)) == len(reasons)


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(STEPS, 2)))
def test_the_first_step_counts(first: str, second: str) -> None:
    assert judged(first, second) == judged(second, first) == judged(first)


def test_low_risk_passes_without_a_rule_but_not_past_a_step() -> None:
    low = NEW.replace(risk=RiskLevel.LOW)
    nothing = replace(NOTHING, rules=rules())
    assert judge(low, nothing) == Judgment(is_approved=True, reason=mentions())
    assert judge(low.replace(untrusted=True), nothing) == Judgment(reason=judged("no rule").reason)
    for step in STEPS.keys() - {"no rule"}:
        a, c = STEPS[step](low, nothing)
        assert not judge(a, c).is_approved, step
    assert judge(low, NOTHING).rule == SMALL  # a rule comes first


@pytest.mark.parametrize("risk", [RiskLevel.MEDIUM, RiskLevel.HIGH, RiskLevel.CRITICAL])
def test_a_higher_risk_needs_people_or_a_rule(risk: RiskLevel) -> None:
    assert not judge(NEW.replace(risk=risk), replace(NOTHING, rules=rules())).is_approved


@pytest.mark.parametrize("effect", [ActionEffect.SENDS, ActionEffect.READS])
@pytest.mark.parametrize("step", ["equal", "earlier", "unsettled"])
def test_only_changes_are_repeats(effect: ActionEffect, step: str) -> None:
    assert judge(*STEPS[step](NEW.replace(effect=effect), NOTHING)).is_approved


@pytest.mark.parametrize("step", ["held", "a rule asks", "a person's no", "failures", "stop of approvals"])
def test_the_other_steps_also_count_for_what_changes_nothing(step: str) -> None:
    assert not judge(*STEPS[step](NEW.replace(effect=ActionEffect.SENDS), NOTHING)).is_approved


def test_an_emergency_stop_of_the_rules_counts_like_that_of_the_gate() -> None:
    stopped = replace(NOTHING, rules=rules(SMALL, stopped=True))
    assert judge(NEW, stopped) == judged("stop of approvals")


def test_the_reason_names_every_rule_that_asks() -> None:
    found = judge(NEW, replace(NOTHING, rules=rules(asking("first"), SMALL, asking("second"))))
    assert found == Judgment(reason=mentions("first, second"))


def test_a_script_continues_after_the_outcomes_that_it_was_given() -> None:
    earlier = done("earlier", identity="another", generation=4)
    given = replace(NOTHING, history=history(earlier, replayed=["earlier"]))
    assert judge(NEW.replace(by_script=True), given).is_approved
    assert not judge(NEW, given).is_approved


@pytest.mark.parametrize(
    ("fields", "asks"),
    [
        ({}, True),
        ({"generation": 4}, False),
        ({"place": HERE._replace(item="a")}, False),
        ({"place": HERE._replace(checkpoint="another")}, False),
    ],
)
def test_failures_count_at_one_place_and_generation(fields: dict[str, object], asks: bool) -> None:
    many = [each.replace(**{"generation": 5} | fields) for each in failures(MAX_FAILURES)]
    assert judge(NEW, past(NOTHING, *many)).is_approved is not asks
    assert judge(NEW, past(NOTHING, *many[1:])).is_approved


# ---- approving rules -----------------------------------------------------------------------------------
def test_the_first_rule_without_a_problem_approves() -> None:
    full = {"small": "The limit is reached."}

    def problem(rule: ApprovingRule) -> str:
        return full.get(rule.rule, "")

    c = replace(NOTHING, rules=rules(SMALL, OTHER), limit_problem=problem)
    assert judge(NEW, c).rule == OTHER
    full["other"] = "This one too."
    assert judge(NEW, c) == Judgment(reason="This one too.")
    assert judge(NEW.replace(risk=RiskLevel.LOW), c) == Judgment(is_approved=True, reason=mentions())


def test_a_rule_that_can_not_approve_now_is_skipped_with_its_reason() -> None:
    blocked = SMALL._replace(blocked_by="outside business hours")
    assert judge(NEW, replace(NOTHING, rules=rules(blocked))) == Judgment(
        reason=mentions("small", "outside business hours")
    )
    assert judge(NEW, replace(NOTHING, rules=rules(blocked, OTHER))).rule == OTHER


def test_a_rule_approves_untrusted_proposals_only_if_it_says_so() -> None:
    untrusted, careless = NEW.replace(untrusted=True), OTHER._replace(allows_untrusted=True)
    assert judge(untrusted, NOTHING) == Judgment(reason=mentions("small"))
    assert judge(untrusted, replace(NOTHING, rules=rules(SMALL, careless))).rule == careless


@pytest.mark.parametrize("state", list(ActionState))
@pytest.mark.parametrize("limit", [None, RuleLimit(count=5)])
def test_without_a_limit_rules_approve_an_operation_once_at_a_place(
    state: ActionState, limit: RuleLimit | None
) -> None:
    other = action("other", state, identity="another", generation=5, approved_by="rule:any", settled=True)
    unlimited = replace(NOTHING, rules=rules(SMALL._replace(limit=limit)))
    used = state in (
        ActionState.APPROVED,
        ActionState.STARTED,
        ActionState.HANDED_OVER,
        ActionState.DONE,
        ActionState.UNKNOWN,
    )
    assert judge(NEW, past(unlimited, other)).is_approved == (limit is not None or not used)
    assert judge(NEW, past(unlimited, other.replace(approved_by=BY_PEOPLE))).is_approved
    assert judge(NEW, past(unlimited, other.replace(approved_by=BY_DEFAULT))).is_approved
    assert judge(NEW, past(unlimited, other.replace(place=HERE._replace(item="a")))).is_approved
    low = NEW.replace(risk=RiskLevel.LOW)
    assert judge(low, past(unlimited, other)).rule == unlimited.rules.approving[0]


def test_the_limit_is_asked_only_for_a_rule_that_could_approve() -> None:
    asked: list[ApprovingRule] = []

    def problem(rule: ApprovingRule) -> str:
        asked.append(rule)
        return ""

    blocked = SMALL._replace(blocked_by="not in the rollout")
    c = replace(NOTHING, rules=rules(blocked, OTHER, approving("third")), limit_problem=problem)
    assert judge(NEW, c).rule == OTHER
    assert judge(NEW.replace(untrusted=True), c).rule is None
    assert asked == [OTHER]


# ---- the state of the gate ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("status", "stops"),
    [
        (GateStatus(), False),
        (GateStatus(STOP_APPROVALS), False),
        (GateStatus(STOP_ACTIONS), True),
        (GateStatus(held=True), True),
        (GateStatus(held=True, reason="why"), True),
    ],
)
def test_what_stops_actions(status: GateStatus, stops: bool) -> None:
    assert status.stops_actions is stops
    assert bool(status.explanation) is stops
    assert not status.reason or status.explanation == status.reason
