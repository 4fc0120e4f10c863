"""What rules cover: kinds, operations and the parameters that they leave open."""

from __future__ import annotations

import pytest

from cairn.core.states import ApprovalKind
from cairn.definitions.findings import Severity
from cairn.definitions.rules import KnownOperation, approves_once, coverage, load
from tests.definitions.test_rules import rule, rules
from tests.mentions import mentions

REFUND = KnownOperation("refund", ("amount", "account", "memo"), frozenset({"amount"}), ("amount", "account"))
EMAIL = KnownOperation("send_email", ("to", "cc", "subject"), frozenset({"to"}), None)
REQUEST = KnownOperation("http_request", ("url", "json"), frozenset({"url"}), ("recipients", "url"))
KNOWN = {each.name: each for each in (REFUND, EMAIL, REQUEST)}
APPROVE = "{ auto_approve: true }"
START, COMPLETION, ACTION = ApprovalKind.START, ApprovalKind.COMPLETION, ApprovalKind.ACTION


def warnings(*entries: str) -> list[tuple[str, str]]:
    found = load(rules(*entries), operations=KNOWN).warnings
    assert {each.severity for each in found} <= {Severity.WARNING}
    assert all(each.line is not None for each in found)
    return [(each.path, each.message) for each in found]


@pytest.mark.parametrize(
    ("trigger", "approves", "kinds", "operations"),
    [
        ("{ kind: start }", True, (START,), None),
        ("{ kind: [start, validation] }", True, (START,), None),
        ("{ kind: [start, validation] }", False, (START, ApprovalKind.VALIDATION), None),
        ("{ custom_field: { field: input.a, value: 1 } }", True, (START, COMPLETION, ACTION), None),
        ("{ custom_field: { field: result.a, value: 1 } }", True, (COMPLETION,), None),
        ("{ confidence: '> 0.5' }", True, (ACTION,), None),
        ("{ risk_level: low }", False, (ACTION,), None),
        ("{ operation_type: [refund, other] }", True, (ACTION,), ("other", "refund")),
        ("{ all: [{ operation_type: [refund, a] }, { operation_type: [b, refund] }] }", True, (ACTION,), ("refund",)),
        (
            "{ any: [{ operation_type: refund }, { operation_type: a, risk_level: low }] }",
            True,
            (ACTION,),
            ("a", "refund"),
        ),
        ("{ any: [{ operation_type: refund }, { risk_level: low }] }", True, (ACTION,), None),
        ("{ not: { operation_type: refund } }", True, (ACTION,), None),
        ("{ operation_type: refund, not: { operation_type: refund } }", True, (ACTION,), ("refund",)),
    ],
)
def test_kinds_and_operations(
    trigger: str, approves: bool, kinds: tuple[ApprovalKind, ...], operations: tuple[str, ...] | None
) -> None:
    [compiled] = load(rules(rule(APPROVE if approves else "{}", trigger))).rulebook.rules
    found = coverage(compiled, KNOWN)
    assert (found.kinds, found.operations) == (kinds, operations)


def compared(text: str) -> str:
    return f"{{ operation_type: refund, {text} }}"


OPEN = {
    "nothing": ("confidence: '> 0.5'", ("amount", "account")),
    "a maximum": ("custom_field: { field: amount, operator: '<=', value: 5 }", ("account",)),
    "only a minimum": ("custom_field: { field: amount, operator: '>=', value: 5 }", ("amount", "account")),
    "a range": ("custom_field: { field: amount, between: [1, 5] }", ("account",)),
    "another value": ("custom_field: { field: account, operator: '!=', value: A }", ("amount", "account")),
    "values": ("custom_field: { field: account, value: [A, B] }", ("amount",)),
    "every item": ("custom_field: { field: account, every_in: [A, B] }", ("amount",)),
    "any item": ("custom_field: { field: account, any_in: [A, B] }", ("amount", "account")),
    "not more": ("not: { field: amount, operator: '>', value: 5 }", ("account",)),
    "not less": ("not: { field: amount, operator: '<', value: 5 }", ("amount", "account")),
    "not another": ("not: { field: account, operator: not_in, value: [A] }", ("amount",)),
    "both": ("all: [{ field: amount, value: 5 }, { field: account, value: A }]", ()),
    "either": ("any: [{ field: amount, value: 5 }, { field: account, value: A }]", ("amount", "account")),
    "each way": (
        "any: [{ field: amount, value: 5 }, { all: [{ field: amount, value: 6 }, { field: account, value: A }] }]",
        ("account",),
    ),
    "not either": (
        "not: { any: [{ field: amount, operator: '>', value: 5 }, { field: account, operator: '!=', value: A }] }",
        (),
    ),
    "not both": (
        "not: { all: [{ field: amount, operator: '>', value: 5 }, { field: account, operator: '!=', value: A }] }",
        ("amount", "account"),
    ),
    "another root": ("custom_field: { field: input.amount, value: 5 }", ("amount", "account")),
    "a part": ("custom_field: { field: account.id, value: 5 }", ("amount", "account")),
}


@pytest.mark.parametrize("case", OPEN)
def test_identity_parameters_that_a_rule_leaves_open(case: str) -> None:
    text, parameters = OPEN[case]
    entry = rule(APPROVE, compared(text))
    [compiled] = load(rules(entry)).rulebook.rules
    expected = (("refund", parameters),) if parameters else ()
    assert coverage(compiled, KNOWN).open_parameters == expected
    assert warnings(entry) == [("/checkpoints/0/trigger", mentions("refund", *parameters))] * len(expected)


def test_without_an_identity_all_parameters_count() -> None:
    assert warnings(rule(APPROVE, "{ operation_type: send_email }")) == [
        ("/checkpoints/0/trigger", mentions("send_email", "to", "cc", "subject"))
    ]
    recipients = "{ operation_type: send_email, custom_field: { field: recipients, every_in: [a@example.com] } }"
    [(_, message)] = warnings(rule(APPROVE, recipients))
    assert message == mentions("`subject`")
    assert message != mentions("`to`")


def test_a_fact_can_be_part_of_the_identity() -> None:
    trigger = "{ operation_type: http_request, custom_field: { field: recipients, every_in: [a] } }"
    assert [message for _, message in warnings(rule(APPROVE, trigger))] == [mentions("http_request", "url")]


def test_unknown_operations_are_not_checked() -> None:
    assert warnings(rule(APPROVE, "{ operation_type: other }")) == []


@pytest.mark.parametrize("trigger", ["{ risk_level: low }", "{ custom_field: { field: input.a, value: 1 } }"])
def test_a_rule_that_approves_every_operation_gets_a_warning(trigger: str) -> None:
    assert warnings(rule(APPROVE, trigger)) == [("/checkpoints/0/trigger", mentions("`operation_type`"))]


def test_a_rule_about_starts_and_results_gets_no_warning() -> None:
    assert warnings(rule(APPROVE, "{ kind: [start, completion], custom_field: { field: input.a, value: 1 } }")) == []


def test_a_rule_that_asks_about_a_parameter_also_asks_without_it() -> None:
    threshold = "data_threshold: { field: amount, operator: '>', value: 5 }"
    assert warnings(rule("{}", f"{{ kind: action, {threshold} }}")) == [
        ("/checkpoints/0/trigger", mentions("`amount`", "http_request, send_email"))
    ]
    assert warnings(rule("{}", f"{{ operation_type: refund, {threshold} }}")) == []
    assert warnings(rule("{}", "{ operation_type: refund, custom_field: { field: host, value: x } }")) == []


@pytest.mark.parametrize(
    ("action", "trigger", "once"),
    [
        (APPROVE, "{ operation_type: refund }", True),
        ("{ auto_approve: true, limit: { count: 2 } }", "{ operation_type: refund }", False),
        (APPROVE, "{ kind: start }", False),
        ("{}", "{ operation_type: refund }", False),
    ],
)
def test_without_a_limit_a_rule_approves_an_operation_once(action: str, trigger: str, once: bool) -> None:
    [compiled] = load(rules(rule(action, trigger))).rulebook.rules
    assert approves_once(compiled) is once
