"""Verdicts of several rules: order, precedence of required approval, limits, shadow mode, audits."""

from __future__ import annotations

import sys
from datetime import timedelta
from time import thread_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.core.business_hours import BusinessHours, HourRange
from cairn.core.rule_judge import sample
from cairn.core.rule_verdict import NO_VERDICT, ApprovalTerms, ConditionResult, EvaluatedRule, RiskLevel, RuleVerdict
from cairn.core.rules import GLOBAL, Rule, RuleSection, ScopedRulebook
from cairn.core.states import ApprovalKind, OnExpiry
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
    evaluate,
    outcomes,
    question,
    sure,
)
from tests.mentions import mentions

AUTO = RuleSection.AUTO_APPROVAL
TERMS = ApprovalTerms(required_approvals=2, approvers=("finance",), timeout=60.0, on_expiry=OnExpiry.CANCEL)
CLOSED = BusinessHours("UTC")


def test_without_rules_there_is_no_verdict() -> None:
    assert evaluate([]) is NO_VERDICT
    assert evaluate([], stopped=True) == RuleVerdict(stopped=True)
    assert evaluate([book()]) == NO_VERDICT
    assert evaluate([book(asks("a", NEVER))]) == RuleVerdict(
        evaluated_rules=(
            EvaluatedRule(
                "a",
                "global",
                "checkpoints",
                mentions(),
                (ConditionResult("kind", mentions("not"), "kind is action", False),),
            ),
        )
    )


def test_a_rule_that_requires_approval_sets_its_terms() -> None:
    verdict = evaluate([book(asks("a", terms=TERMS, priority=7), scope=PIPELINE, revision=3)])
    assert verdict == RuleVerdict(
        True,
        "a",
        PIPELINE,
        3,
        7,
        TERMS,
        (
            EvaluatedRule(
                "a",
                PIPELINE,
                "checkpoints",
                "requires approval",
                (ConditionResult("kind", " or ".join(kind.value for kind in ApprovalKind), "action", True),),
            ),
        ),
    )


def test_by_default_an_approval_fails_after_an_hour() -> None:
    assert evaluate([book(asks("a"))]).terms == ApprovalTerms(timeout=3600.0, on_expiry=OnExpiry.FAIL)


def test_an_approving_rule_names_whom_to_notify() -> None:
    rule = approves("a", notify=True, channels=("teams",), terms=ApprovalTerms(recipients=("ops",), timeout=5.0))
    verdict = evaluate([book(rule, revision=2)])
    assert (verdict.requires_approval, verdict.rule, verdict.revision, verdict.notify) == (False, "a", 2, True)
    assert verdict.terms == ApprovalTerms(channels=("teams",), recipients=("ops",))
    assert [rule.outcome for rule in verdict.evaluated_rules] == ["approves"]


def test_conditions_are_omitted_if_log_decision_is_off() -> None:
    """`log_decision: false` records the approval and its rule, but not the conditions."""
    verdict = evaluate([book(approves("a", log=False))])
    assert (verdict.requires_approval, verdict.rule, verdict.evaluated_rules) == (False, "a", ())
    assert evaluate([book(asks("a", log=False))]).evaluated_rules != ()


G, P = "global", "pipeline"
ORDERS: dict[str, tuple[list[tuple[str, Rule]], str]] = {
    "lower priority first": ([(G, asks("late", priority=2)), (G, asks("soon", priority=1))], "soon"),
    "then as written": ([(G, asks("first")), (G, asks("second"))], "first"),
    "asking beats approving": ([(G, approves("yes", priority=1)), (G, asks("no", priority=9))], "no"),
    "a global one that asks is not overridden": ([(G, asks("all", priority=9)), (P, asks("own", priority=1))], "all"),
    "nor by a pipeline's that approves": ([(G, asks("all")), (P, approves("own", priority=1))], "all"),
    "a pipeline's that asks beats a global's that approves": ([(G, approves("all")), (P, asks("own"))], "own"),
    "a pipeline's that approves goes first": ([(G, approves("all", priority=1)), (P, approves("own"))], "own"),
    "checkpoints before auto_approval": ([(P, approves("auto", section=AUTO)), (P, approves("rule"))], "rule"),
    "a pipeline's before checkpoints": ([(P, approves("auto", section=AUTO)), (G, approves("rule"))], "auto"),
    "asking in auto_approval asks": ([(G, approves("yes")), (G, asks("keep", section=AUTO))], "keep"),
    "auto_approval is read last": ([(P, asks("keep", section=AUTO)), (G, asks("rule", priority=9))], "rule"),
    "what does not match does not count": ([(G, asks("other", NEVER)), (P, approves("own"))], "own"),
    "what is disabled does not count": ([(G, asks("off", enabled=False)), (P, approves("own"))], "own"),
    "a shadow does not count": ([(G, asks("shadow", shadow=True)), (P, approves("own"))], "own"),
}


@pytest.mark.parametrize("case", ORDERS)
def test_the_first_matching_rule_in_order_wins(case: str) -> None:
    rules, winner = ORDERS[case]
    books = [
        book(*(rule for scope, rule in rules if scope == G)),
        book(*(rule for scope, rule in rules if scope == P), scope=PIPELINE),
    ]
    verdict = evaluate(books)
    assert verdict.rule == winner
    assert verdict.scope == next(GLOBAL if scope == G else PIPELINE for scope, rule in rules if rule.name == winner)
    assert verdict.requires_approval is next(not rule.approves for _, rule in rules if rule.name == winner)
    assert {rule.rule for rule in verdict.evaluated_rules} == {rule.name for _, rule in rules}


def test_each_rule_that_did_not_win_has_a_reason() -> None:
    rules = (
        asks("winner"),
        asks("later", priority=200),
        approves("yes"),
        asks("other", NEVER),
        asks("off", enabled=False),
        asks("shadow", shadow=True),
        approves("shadow yes", shadow=True),
        approves("shadow elsewhere", NEVER, shadow=True),
    )
    assert outcomes(evaluate([book(*rules)])) == {
        "winner": "requires approval",
        "later": mentions("winner"),
        "yes": mentions("winner"),
        "other": mentions(),
        "off": mentions(),
        "shadow": mentions("requires approval"),
        "shadow yes": mentions("approves"),
        "shadow elsewhere": mentions(),
    }
    assert [rule.shadow for rule in evaluate([book(*rules)]).evaluated_rules].count(True) == 3


BLOCKED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "stopped by people": ({}, {"stopped": True}),
    "stopped by the rules": ({"stopped": True}, {}),
    "at night": ({"hours": CLOSED}, {}),
}


@pytest.mark.parametrize("section", RuleSection)
@pytest.mark.parametrize("case", BLOCKED)
def test_a_blocked_automatic_approval_requires_approval(case: str, section: RuleSection) -> None:
    of_book, beside = BLOCKED[case]
    verdict = evaluate([book(approves("a", section=section), **of_book)], **beside)
    assert (verdict.requires_approval, verdict.rule, verdict.terms) == (True, "a", ApprovalTerms(timeout=3600.0))
    assert outcomes(verdict) == {"a": mentions()}
    assert outcomes(verdict) != {"a": "approves"}
    assert verdict.stopped is ("stopped" in {**of_book, **beside})


@pytest.mark.parametrize("kind", [ApprovalKind.START, ApprovalKind.COMPLETION])
def test_a_blocked_automatic_approval_follows_the_checkpoint_setting(kind: ApprovalKind) -> None:
    """If the checkpoint requires approval, the terms of the rule apply. Otherwise no approval is requested."""
    verdict = evaluate([book(approves("a", terms=TERMS), stopped=True)], question(kind))
    assert (verdict.requires_approval, verdict.rule, verdict.terms, verdict.stopped) == (None, "a", TERMS, True)
    assert outcomes(verdict) != {"a": "approves"}


@pytest.mark.parametrize("limits", [{"hours": CLOSED}, {"stopped": True}])
def test_limits_of_both_scopes_apply(limits: dict[str, Any]) -> None:
    own = book(approves("own"), scope=PIPELINE)
    assert evaluate([book(**limits), own]).requires_approval is True
    assert evaluate([book(approves("all")), book(scope=PIPELINE, **limits)]).requires_approval is True


def test_an_approval_is_automatic_during_business_hours() -> None:
    books = [book(approves("a"), hours=BusinessHours("UTC", HourRange(12 * 60, 13 * 60)))]
    assert evaluate(books).requires_approval is False
    assert evaluate(books, question(at=NOON + timedelta(hours=1))).requires_approval is True


@pytest.mark.parametrize("rules", [[], [asks("a", NEVER)], [approves("a")], [asks("a")]])
@pytest.mark.parametrize("kind", ApprovalKind)
def test_while_rules_cannot_be_read_an_approval_is_required(kind: ApprovalKind, rules: list[Rule]) -> None:
    verdict = evaluate([book(*rules), book(scope=PIPELINE, is_readable=False)], question(kind))
    assert (verdict.requires_approval, verdict.is_readable, verdict.terms.timeout) == (True, False, 3600.0)
    assert "approves" not in outcomes(verdict).values()


def test_an_emergency_stop_is_reported_without_a_matching_rule() -> None:
    """Low risk needs no approval only while no emergency stop is active."""
    assert evaluate([book(asks("a", NEVER), stopped=True)]).stopped
    assert evaluate([book(asks("a"))], stopped=True).requires_approval is True


@pytest.mark.parametrize("kind", ApprovalKind)
def test_a_rule_never_answers_forms_or_escalations(kind: ApprovalKind) -> None:
    verdict = evaluate([book(approves("yes"))], question(kind))
    if kind in (ApprovalKind.START, ApprovalKind.COMPLETION, ApprovalKind.ACTION):
        assert verdict.requires_approval is False
    else:
        assert verdict.requires_approval is None
        assert outcomes(verdict) == {"yes": mentions(kind.value)}
    assert evaluate([book(asks("no", terms=TERMS))], question(kind)).terms == TERMS


def test_a_rollout_applies_to_its_share_and_the_next_rule_can_approve_the_rest() -> None:
    books = [book(approves("some", rollout=25.0), approves("all", NEVER, priority=200))]
    verdicts = [evaluate(books, question(approval=f"approval {n}")) for n in range(2000)]
    approved = [verdict for verdict in verdicts if verdict.requires_approval is False]
    assert 0.22 < len(approved) / len(verdicts) < 0.28
    assert {verdict.rule for verdict in verdicts} == {"some"}
    both = [book(approves("some", rollout=25.0), approves("all", priority=200))]
    verdicts = [evaluate(both, question(approval=f"approval {n}")) for n in range(200)]
    assert {verdict.requires_approval for verdict in verdicts} == {False}
    assert {verdict.rule for verdict in verdicts} == {"some", "all"}
    rest = next(verdict for verdict in verdicts if verdict.rule == "all")
    assert outcomes(rest) == {"some": mentions("rollout"), "all": "approves"}


@pytest.mark.parametrize(("percent", "expected"), [(0.0, 0), (100.0, 200)])
def test_rollout_and_audit_sample_at_0_and_100_percent(percent: float, expected: int) -> None:
    questions = [question(approval=f"approval {n}") for n in range(200)]
    assert (
        sum(evaluate([book(approves("a", rollout=percent))], q).requires_approval is False for q in questions)
        == expected
    )
    assert sum(evaluate([book(approves("a", audit=percent))], q).audit for q in questions) == expected


def test_the_sample_is_independent_of_the_rollout() -> None:
    """Otherwise nearly all approvals of a rule at 25 percent would be audited."""
    books = [book(approves("a", rollout=25.0, audit=20.0))]
    approved = [v for n in range(4000) if (v := evaluate(books, question(approval=str(n)))).requires_approval is False]
    assert 0.16 < sum(verdict.audit for verdict in approved) / len(approved) < 0.24


def test_shares_are_always_the_same_and_differ_by_rule_and_scope() -> None:
    assert sample("a", GLOBAL, "x") == sample("a", GLOBAL, "x")
    assert len({sample("a", GLOBAL, "x"), sample("b", GLOBAL, "x"), sample("a", PIPELINE, "x")}) == 3
    assert [round(part, 3) for part in sample("rule", GLOBAL, "approval")] == [31.887, 60.1]


# ---- random rulebooks ------------------------------------------------------------------------------------
TESTS = st.sampled_from([ALWAYS, NEVER, compared("amount", ">", 10), compared("amount", "<=", 10), sure(">=", 0.5)])
RULES = st.builds(
    Rule,
    st.text(min_size=1, max_size=3),
    st.sampled_from(RuleSection),
    st.booleans(),
    st.lists(TESTS, min_size=1, max_size=3).map(tuple),
    enabled=st.booleans(),
    shadow=st.booleans(),
    priority=st.integers(0, 3),
    rollout=st.sampled_from([0.0, 50.0, 100.0]),
    audit=st.sampled_from([0.0, 50.0, 100.0]),
)
BOOKS = st.tuples(st.lists(RULES, max_size=6), st.lists(RULES, max_size=6), st.booleans()).map(
    lambda drawn: [book(*drawn[0], stopped=drawn[2]), book(*drawn[1], scope=PIPELINE)]
)
QUESTIONS = st.builds(
    question,
    st.sampled_from(ApprovalKind),
    st.none()
    | st.builds(
        action, risk=st.sampled_from(RiskLevel), confidence=st.none() | st.floats(0, 1), amount=st.integers(0, 20)
    ),
    approval=st.text(max_size=5),
)


@given(BOOKS, QUESTIONS)
def test_required_approval_beats_automatic_approval(books: list[ScopedRulebook], of: Any) -> None:
    """Nothing is approved if one active matching rule requires approval, or anything blocks the approval."""
    verdict = evaluate(books, of)
    met = list(zip([rule for scoped in books for rule in scoped.rulebook.rules], verdict.evaluated_rules, strict=False))
    live = [
        rule
        for rule, result in met
        if rule.enabled
        and not rule.shadow
        and of.kind in rule.kinds
        and all(c.matched or (c.matched is None and not rule.approves) for c in result.conditions)
    ]
    if verdict.requires_approval is False:
        assert all(rule.approves for rule in live)
        assert not verdict.stopped
        assert of.kind in (ApprovalKind.START, ApprovalKind.COMPLETION, ApprovalKind.ACTION)
        assert verdict.rule in {rule.name for rule in live if rule.rollout > 0}
    elif any(not rule.approves for rule in live):
        assert verdict.requires_approval is True
    if verdict.requires_approval is None:
        assert all(rule.approves for rule in live)
        assert of.kind is not ApprovalKind.ACTION or live == []


@given(BOOKS, QUESTIONS)
def test_the_same_question_gets_the_same_answer(books: list[ScopedRulebook], of: Any) -> None:
    """The order of rules does not matter if their priorities differ."""
    assert evaluate(books, of) == evaluate(list(books), of)


def test_a_hundred_rules_are_evaluated_in_under_a_millisecond() -> None:
    rules = [
        asks(f"rule {n}", compared("amount", ">", 1000 + n), compared("customer.tier", "in", ("gold",)), sure("<", 0.5))
        for n in range(100)
    ]
    books, of = [book(*rules)], question(proposed=action(amount=5, confidence=0.9))
    assert evaluate(books, of, {"customer.tier": "silver"}).requires_approval is None
    durations: list[float] = []
    for _ in range(20):
        start = thread_time()
        evaluate(books, of, {"customer.tier": "silver"})
        durations.append((thread_time() - start) * 1000)
    print(f"\n100 rules: {min(durations):.3f} ms")  # noqa: T201
    assert min(durations) < (10.0 if "coverage" in sys.modules else 1.0)
