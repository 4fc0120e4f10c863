"""Limits, ids and untrusted sources in rule files."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from cairn.core.action_rules import RuleLimit
from cairn.core.conditions import FieldLookup, Root
from cairn.definitions.findings import Severity
from cairn.definitions.rules import load
from tests.definitions.test_rules import findings, rule, rules
from tests.mentions import mentions

AMOUNT = FieldLookup("amount", Root.ACTION, ("amount",))
DAY = FieldLookup("day_of_month", Root.ACTION, ("day_of_month",))
CUSTOMER = FieldLookup("input.customer", Root.INPUT, ("customer",))
TRIGGER = "{ operation_type: refund }"


def approving(more: str, trigger: str = TRIGGER) -> str:
    return rules(rule(f"{{ auto_approve: true, {more} }}", trigger))


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("{ count: 5 }", RuleLimit(count=5)),
        ("{ count: 5, per: run }", RuleLimit(count=5, per="run")),
        ("{ count: 5, per: hour }", RuleLimit(count=5, per="hour")),
        (
            "{ sum: amount, max: 100.1, per: day }",
            RuleLimit(None, "amount", Decimal("100.1"), "day", AMOUNT),
        ),
        (
            "{ count: 2, sum: amount, max: 100, per: action.account }",
            RuleLimit(
                2,
                "amount",
                Decimal(100),
                "action.account",
                AMOUNT,
                FieldLookup("action.account", Root.ACTION, ("account",)),
            ),
        ),
        (
            "{ count: 1, per: day_of_month }",
            RuleLimit(1, per="day_of_month", per_lookup=DAY),
        ),
        (
            "{ count: 1, per: input.customer }",
            RuleLimit(1, per="input.customer", per_lookup=CUSTOMER),
        ),
    ],
)
def test_a_limit_counts_actions_or_adds_up_amounts(limit: str, expected: RuleLimit) -> None:
    [compiled] = load(approving(f"limit: {limit}")).rulebook.rules
    assert compiled.limit == expected


INVALID: dict[str, tuple[str, str, Any]] = {
    "an empty limit": ("limit: {}", "limit", mentions("`count`", "`sum`", "`max`")),
    "only a period": ("limit: { per: day }", "limit", mentions("`count`", "`sum`", "`max`")),
    "a sum without a maximum": ("limit: { count: 1, sum: amount }", "limit", mentions("`max`")),
    "a maximum without a sum": ("limit: { count: 1, max: 5 }", "limit", mentions("`sum`")),
    "nothing": ("limit: { count: 0 }", "limit/count", mentions(1)),
    "a negative maximum": ("limit: { sum: amount, max: -1 }", "limit/max", mentions(0)),
    "an unknown key": ("limit: { count: 1, every: day }", "limit", mentions("`every`")),
    "an invalid path": ("limit: { sum: 'a..b', max: 5 }", "limit/sum", mentions("'a..b'")),
    "a root": ("limit: { count: 1, per: action }", "limit/per", mentions("'action'")),
    "a result": ("limit: { count: 1, per: result.amount }", "limit/per", mentions("result")),
    "text": ("limit: 5 per day", "limit", mentions("object")),
    "untrusted as text": ("allow_untrusted: often", "allow_untrusted", mentions("often")),
}


@pytest.mark.parametrize("case", INVALID)
def test_an_invalid_limit_is_rejected(case: str) -> None:
    more, path, message = INVALID[case]
    found = findings(approving(more))
    assert {finding.path for finding in found} == {f"/checkpoints/0/action/{path}"}
    assert any(finding.message == message for finding in found)


def test_a_limit_is_for_actions_only() -> None:
    found = findings(approving("limit: { count: 1 }", "{ kind: [action, start] }"))
    assert [(each.path, each.message) for each in found] == [
        ("/checkpoints/0/action/limit", mentions("`kind: action`"))
    ]


def test_without_automatic_approval_a_limit_has_no_effect() -> None:
    found = load(rules(rule("{ limit: { count: 1 }, allow_untrusted: true }"))).warnings
    assert [(each.path, each.message, each.severity) for each in found] == [
        ("/checkpoints/0/action/limit", mentions("`limit`"), Severity.WARNING),
        ("/checkpoints/0/action/allow_untrusted", mentions("`allow_untrusted`"), Severity.WARNING),
    ]


@pytest.mark.parametrize(("more", "allowed"), [("notify: true", False), ("allow_untrusted: true", True)])
def test_untrusted_sources_are_excluded_by_default(more: str, allowed: bool) -> None:
    assert load(approving(more)).rulebook.rules[0].allows_untrusted is allowed


# ---- expiry ------------------------------------------------------------------------------------------------
def expiring(value: str, action: str = "{ auto_approve: true }") -> str:
    return rules(rule(action, TRIGGER).replace("    trigger", f"    expires: {value}\n    trigger"))


def test_a_rule_that_approves_can_expire() -> None:
    assert load(expiring("2026-12-31")).rulebook.rules[0].expires == date(2026, 12, 31)
    assert load(approving("notify: true")).rulebook.rules[0].expires is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (expiring("2026-02-30"), mentions("2026-02-30")),
        (expiring("tomorrow"), mentions("tomorrow")),
        (expiring("2026-12-31", "{}"), mentions()),
    ],
)
def test_other_expiry_dates_are_rejected(text: str, message: str) -> None:
    assert [(each.path, each.message) for each in findings(text)] == [("/checkpoints/0/expires", message)]


# ---- ids ---------------------------------------------------------------------------------------------------
def named(name: str, id: str = "") -> str:
    line = f"    id: {id}\n" if id else ""
    return f"  - name: {name}\n{line}    trigger: {{ risk_level: high }}\n    action: {{}}\n"


def test_an_id_comes_from_the_file_or_from_the_name() -> None:
    compiled = load(rules(named("Large amounts"), named("Other", "large-amounts-2"))).rulebook.rules
    assert [each.id for each in compiled] == ["large-amounts", "large-amounts-2"]


@pytest.mark.parametrize(
    ("entries", "path", "message"),
    [
        ((named("A b"), named("a  B!")), "/checkpoints/1/name", mentions("'a-b'", "'A b'", "`id`")),
        ((named("A b"), named("Other", "a-b")), "/checkpoints/1/id", mentions("'a-b'", "'A b'", "`id`")),
        ((named("Other", "a-b"), named("A b")), "/checkpoints/1/name", mentions("'a-b'", "'Other'", "`id`")),
        ((named("A", "Not An Id"),), "/checkpoints/0/id", mentions("Not An Id")),
    ],
)
def test_an_id_is_unique(entries: tuple[str, ...], path: str, message: str) -> None:
    assert [(found.path, found.message) for found in findings(rules(*entries))] == [(path, message)]
