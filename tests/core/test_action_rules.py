"""The rules about one action: every rule that asks, and in order every rule that could approve."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from cairn.core.action_rules import ActionRules, ApprovingRule, AskingRule, LimitUse, RuleLimit
from cairn.core.business_hours import BusinessHours, HourRange
from cairn.core.conditions import OneOf
from cairn.core.rule_judge import sample
from cairn.core.rule_verdict import ApprovalTerms, ConditionResult, EvaluatedRule, ProposedAction
from cairn.core.rules import GLOBAL, RuleSection, id_from
from cairn.core.seats import Requirement, SeatGroup
from cairn.core.states import ApprovalKind
from tests.core.rule_builders import (
    ALWAYS,
    NEVER,
    NOON,
    PIPELINE,
    action,
    approves,
    asks,
    book,
    compared,
    field,
    judge_one,
)
from tests.mentions import mentions

PARENT = "22222222-2222-4222-8222-222222222222"
AUTO = RuleSection.AUTO_APPROVAL


def names(found: ActionRules) -> tuple[list[str], list[str]]:
    return [rule.rule for rule in found.asking], [rule.rule for rule in found.approving if rule.can_approve]


def told(found: ActionRules) -> dict[str, str]:
    return {rule.rule: rule.outcome for rule in found.evaluated}


def test_without_rules_nothing_asks_and_nothing_approves() -> None:
    assert judge_one([]) == ActionRules((), (), (), is_stopped=False, is_readable=True)
    assert judge_one([], stopped=True).is_stopped
    assert judge_one([book(stopped=True)]).is_stopped


def test_every_rule_that_asks_counts_with_its_own_seats() -> None:
    terms = ApprovalTerms(required_approvals=2, approvers=("finance",), not_by_starter=True, timeout=60.0)
    steps = ((SeatGroup(("leads",)),), (SeatGroup(("legal",), 2), SeatGroup(("finance",))))
    books = [
        book(asks("Two of finance", terms=terms, priority=7), asks("never", NEVER), revision=3),
        book(asks("In steps", steps=steps), approves("yes"), scope=PIPELINE, revision=5),
    ]
    found = judge_one(books)
    assert found.asking == (
        AskingRule(
            "global/two-of-finance",
            "Two of finance",
            GLOBAL,
            3,
            7,
            Requirement("Two of finance", GLOBAL, ((SeatGroup(("finance",), 2),),), True),
            terms,
        ),
        AskingRule(
            f"{PIPELINE}/in-steps",
            "In steps",
            PIPELINE,
            5,
            100,
            Requirement("In steps", PIPELINE, steps),
            ApprovalTerms(timeout=3600.0),
        ),
    )
    assert told(found) == {
        "Two of finance": "requires approval",
        "never": "does not match",
        "In steps": "requires approval",
        "yes": mentions("Two", "of", "finance"),
    }


def test_what_approves_comes_in_order_with_the_rules_of_pipelines_first() -> None:
    books = [
        book(approves("global", priority=1), approves("global auto", section=AUTO, priority=0)),
        book(
            approves("own auto", section=AUTO, priority=1),
            approves("own"),
            approves("own first", priority=2),
            scope=PIPELINE,
        ),
        book(approves("parent"), scope=PARENT),
    ]
    approving = ["own first", "own", "own auto", "parent", "global", "global auto"]
    assert names(judge_one(books)) == ([], approving)


def test_an_approving_rule_has_what_decides_whether_it_approves() -> None:
    limit = RuleLimit(count=5, per="day")
    terms = ApprovalTerms(recipients=("ops",), timeout=5.0)
    rule = approves("A b", limit=limit, allows_untrusted=True, notify=True, log=False, channels=("teams",), terms=terms)
    found = judge_one([book(rule, revision=2)])
    assert found.approving == (
        ApprovingRule(
            "global/a-b",
            "A b",
            GLOBAL,
            2,
            is_in_hours=True,
            in_rollout=True,
            allows_untrusted=True,
            limit=limit,
            audit=False,
            notify=True,
            log=False,
            terms=ApprovalTerms(channels=("teams",), recipients=("ops",)),
            limit_use=LimitUse(),
        ),
    )
    assert found.evaluated == (
        EvaluatedRule(
            "A b",
            GLOBAL,
            "checkpoints",
            "approves",
            (ConditionResult("kind", " or ".join(kind.value for kind in ApprovalKind), "action", True),),
        ),
    )


UNKNOWN = compared("amount", ">", 10)


def test_unknown_asks_and_never_approves() -> None:
    found = judge_one([book(asks("asks", UNKNOWN), approves("approves", UNKNOWN))], action())
    assert names(found) == (["asks"], [])
    assert names(judge_one([book(approves("approves", UNKNOWN))], action())) == ([], [])


@pytest.mark.parametrize("rule", [asks("a", enabled=False), asks("a", shadow=True), approves("a", shadow=True)])
def test_disabled_and_shadow_rules_are_left_out(rule: Any) -> None:
    assert names(judge_one([book(rule)])) == ([], [])


HOURS = BusinessHours("UTC", HourRange(12 * 60, 13 * 60))


def test_hours_of_every_rulebook_hold_back_all_approving_rules() -> None:
    books = [book(approves("global"), hours=HOURS), book(approves("own"), scope=PIPELINE)]
    assert names(judge_one(books)) == ([], ["own", "global"])
    later = judge_one(books, at=NOON + timedelta(hours=1))
    assert [(rule.is_in_hours, rule.can_approve) for rule in later.approving] == [(False, False)] * 2
    assert told(later) == {"global": mentions("hours"), "own": mentions("hours")}


def test_a_rule_approves_until_the_end_of_its_last_day() -> None:
    books = [book(approves("short", expires=NOON.date()), approves("long"))]
    assert names(judge_one(books, at=NOON + timedelta(hours=11))) == ([], ["short", "long"])
    later = judge_one(books, at=NOON + timedelta(hours=12))
    assert (names(later), told(later)["short"]) == (([], ["long"]), "expired")


def test_the_rollout_and_the_audit_are_drawn_by_the_key_and_the_rule() -> None:
    rule = approves("Some mails", rollout=50.0, audit=50.0)
    for key in map(str, range(50)):
        draws = sample("some-mails", GLOBAL, key)
        (found,) = judge_one([book(rule)], draw_key=key).approving
        assert (found.in_rollout, found.audit) == (draws[0] < 50.0, draws[1] < 50.0)
        assert found.can_approve is found.in_rollout
        assert judge_one([book(rule)], draw_key=key).approving == (found,)


def test_a_stop_and_unreadable_rules_hold_back_every_approving_rule() -> None:
    stopped = judge_one([book(approves("a"))], stopped=True)
    assert (stopped.is_stopped, stopped.is_readable, names(stopped)) == (True, True, ([], []))
    assert told(stopped) == {"a": mentions("stop")}
    unreadable = judge_one([book(approves("a"), asks("b", NEVER)), book(scope=PIPELINE, is_readable=False)])
    assert (unreadable.is_stopped, unreadable.is_readable, names(unreadable)) == (False, False, ([], []))
    assert told(unreadable) == {"a": mentions("read"), "b": mentions()}


# ---- facts -----------------------------------------------------------------------------------------------
def proposed(facts: dict[str, Any], **parameters: Any) -> ProposedAction:
    return replace(action("http_request", **parameters), facts=facts)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("host", "api.example.com"),
        ("action.host", "api.example.com"),
        ("type.reversible", "no"),
        ("type.name", "missing"),  # a fact hides the parameter with the same name completely
        ("amount", "5"),
        ("untrusted", "missing"),  # never a parameter
    ],
)
def test_facts_win_over_parameters(path: str, expected: str) -> None:
    facts = {"host": "api.example.com", "type": {"reversible": "no"}}
    of = proposed(facts, host="evil.example", type={"name": "lie"}, amount=5, untrusted=False)
    (result,) = judge_one([book(asks("a", compared(path, "==", "x")))], of).evaluated
    assert result.conditions[0].actual == expected


@pytest.mark.parametrize(
    ("facts", "approved"),
    [({}, ["trusting", "plain"]), ({"untrusted": False}, ["trusting", "plain"]), ({"untrusted": True}, ["trusting"])],
)
def test_only_rules_that_allow_it_approve_what_came_from_outside(facts: dict[str, Any], approved: list[str]) -> None:
    rules = (approves("trusting", allows_untrusted=True), approves("plain"))
    assert names(judge_one([book(*rules)], proposed(facts, untrusted=False))) == ([], approved)


# ---- limits ----------------------------------------------------------------------------------------------
def limited(proposal: ProposedAction, **of: Any) -> LimitUse | None:
    for key in ("sum_field", "per"):
        if key in of and "." in of[key]:
            of[key.replace("_field", "") + "_lookup"] = field(of[key])
    (found,) = judge_one([book(approves("a", limit=RuleLimit(**of)))], proposal).approving
    return found.limit_use


TENTH = Decimal("0.1")


@pytest.mark.parametrize(
    ("value", "use"),
    [
        (5, LimitUse(Decimal(5))),
        (0.1, LimitUse(TENTH)),  # as it is written, not as binary
        (0, LimitUse()),
        (10**30, LimitUse(Decimal(10**30))),
        (-1, None),
        (float("nan"), None),
        (float("inf"), None),
        ("5", None),
        (True, None),
        (None, None),
        ([5], None),
    ],
)
def test_amounts_are_exact_and_only_numbers_from_zero_on_are_counted(value: Any, use: LimitUse | None) -> None:
    assert limited(action(amount=value), sum_field="action.amount", sum_max=Decimal(100)) == use
    assert limited(action(), sum_field="action.amount", sum_max=Decimal(100)) is None


@pytest.mark.parametrize(
    ("value", "group"),
    [
        ("ACC-1", '"acc-1"'),
        (" acc-1 ", '"acc-1"'),  # looks the same, so it counts as the same
        ("\uff21CC-1", '"acc-1"'),
        (1, "1"),
        (1.0, "1"),
        (100, "100"),
        ("1", '"1"'),
        (True, "true"),
    ],
)
def test_each_value_of_a_field_has_its_own_limit(value: Any, group: str) -> None:
    assert limited(action(account=value), count=1, per="action.account") == LimitUse(Decimal(0), group)


@pytest.mark.parametrize("value", [None, [], {}, float("nan")])
def test_a_value_without_a_group_cannot_be_counted(value: Any) -> None:
    assert limited(action(account=value), count=1, per="action.account") is None


# ---- ids -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Small refunds", "small-refunds"),
        ("  Small -- refunds! ", "small-refunds"),
        ("Größe & Maß_2", "grösse-mass-2"),
        ("需求 分析", "需求-分析"),
        ("!!!", "rule-e84c538e"),
    ],
)
def test_an_id_is_made_from_the_name(name: str, expected: str) -> None:
    assert id_from(name) == expected
    assert id_from("!!!") != id_from("???")
    assert approves(name).id == id_from(name)
    assert approves(name, id="mine").id == "mine"


def test_ids_do_not_depend_on_other_rules_or_on_the_revision() -> None:
    before = judge_one([book(approves("a"), approves("b"), revision=1)]).approving
    after = judge_one([book(approves("new", OneOf("kind", ("start",))), approves("b"), approves("x"), revision=9)])
    assert {rule.rule_id for rule in before} & {rule.rule_id for rule in after.approving} == {"global/b"}
    assert ALWAYS in approves("a").conditions
