"""Rule files, and what their authors would let pass, written without the engine.

Each reading says in plain Python which proposals the author of the file would want to be approved automatically.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast
from unicodedata import normalize


class Proposal(NamedTuple):
    operation: Any
    parameters: dict[str, Any]
    facts: dict[str, Any]
    risk: str
    confidence: Any
    run: dict[str, Any]  # by root


@dataclass(frozen=True, slots=True)
class RuleFile:
    text: str
    allows: Callable[[Proposal], bool]  # the author's reading


def is_number(value: Any, low: float, high: float) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and low <= value <= high


def approve(conditions: str, more: str = "", asking: str = "") -> str:
    return (
        f"checkpoints: [{asking}]\n"
        "auto_approval:\n  enabled: true\n  rules:\n"
        f"    - name: Pass\n      conditions: {{ {conditions} }}\n      action: {{ auto_approve: true{more} }}\n"
    )


def is_confident(p: Proposal, low: float) -> bool:
    return is_number(p.confidence, low, 1)


def is_trusted(p: Proposal) -> bool:
    return p.facts.get("untrusted") in (None, False)


def is_refund(p: Proposal, high: float, low: float = 0) -> bool:
    return p.operation == "refund" and is_trusted(p) and is_number(p.parameters.get("amount"), low, high)


def is_text(value: Any, *texts: str) -> bool:
    return type(value) is str and value in texts


def reads_as(value: Any, text: str) -> bool:
    """Whether people would read the value as this text."""
    return type(value) is str and normalize("NFKC", value).strip().upper() == text


def goes_to(p: Proposal, *addresses: str) -> bool:
    """Every address that the mail is sent to is one of these."""
    found: list[Any] = []
    for key in ("to", "cc", "bcc"):
        value = p.parameters.get(key)
        found += cast("list[Any]", value) if isinstance(value, list) else [] if value is None else [value]
    return p.operation == "send_email" and is_trusted(p) and bool(found) and all(is_text(v, *addresses) for v in found)


def requests(p: Proposal, prefix: str) -> bool:
    """The address begins with this one, and nothing before it is part of a name or a password."""
    url = p.parameters.get("url")
    return (
        p.operation == "http_request"
        and is_trusted(p)
        and type(url) is str
        and (url == prefix or url.startswith((prefix + "/", prefix + "?")))
    )


def json_amount(p: Proposal) -> Any:
    body = p.parameters.get("json")
    return cast("dict[str, Any]", body).get("amount") if type(body) is dict else None


BOSS, TEAM = "boss@example.com", "team@example.com"
API = "https://api.example.com"
SMALL = 'data_threshold: { field: amount, operator: "<=", value: 50 }'

RULE_FILES: dict[str, RuleFile] = {
    "small refunds": RuleFile(approve(f"operation_type: refund, {SMALL}"), lambda p: is_refund(p, 50)),
    "small refunds in euros": RuleFile(
        approve(f"operation_type: refund, {SMALL}, custom_field: {{ field: action.currency, value: EUR }}"),
        lambda p: is_refund(p, 50) and is_text(p.parameters.get("currency"), "EUR"),
    ),
    "refunds to known accounts": RuleFile(
        approve(
            "operation_type: refund, data_threshold: { field: amount, between: [1, 50] }, "
            "custom_field: { field: account, value: [A1, B2] }"
        ),
        lambda p: is_refund(p, 50, 1) and is_text(p.parameters.get("account"), "A1", "B2"),
    ),
    "nothing over 50": RuleFile(
        approve('operation_type: refund, not: { field: amount, operator: ">", value: 50 }'),
        lambda p: is_refund(p, 50),
    ),
    "more for one account": RuleFile(
        approve(
            'operation_type: refund, any: [{ field: amount, operator: "<=", value: 10 }, '
            '{ all: [{ field: amount, operator: "<=", value: 100 }, { field: account, value: A1 }] }]'
        ),
        lambda p: is_refund(p, 10) or (is_refund(p, 100) and is_text(p.parameters.get("account"), "A1")),
    ),
    "neither large nor in another currency": RuleFile(
        approve(
            'operation_type: refund, not: { any: [{ field: amount, operator: ">", value: 50 }, '
            '{ field: currency, operator: "!=", value: EUR }] }'
        ),
        lambda p: is_refund(p, 50) and is_text(p.parameters.get("currency"), "EUR"),
    ),
    "not to blocked accounts": RuleFile(
        approve(f"operation_type: refund, {SMALL}, custom_field: {{ field: account, operator: not_in, value: [X9] }}"),
        lambda p: (
            is_refund(p, 50)
            and type(p.parameters.get("account")) is str
            and not reads_as(p.parameters["account"], "X9")
        ),
    ),
    "mail to colleagues": RuleFile(
        approve(f"operation_type: send_email, custom_field: {{ field: recipients, every_in: [{BOSS}, {TEAM}] }}"),
        lambda p: goes_to(p, BOSS, TEAM),
    ),
    "mail to the boss only": RuleFile(
        approve(
            f"operation_type: send_email, all: [{{ field: recipients, every_in: [{BOSS}] }}, {{ risk_level: low }}]"
        ),
        lambda p: goes_to(p, BOSS) and p.risk == "low",
    ),
    "requests to one host": RuleFile(
        approve(
            "operation_type: http_request, all: [{ field: action.host, value: api.example.com }, "
            "{ field: method, value: [GET, HEAD] }]"
        ),
        lambda p: (
            (requests(p, API) or requests(p, API.replace("https", "http")))
            and is_text(p.parameters.get("method"), "GET", "HEAD")
        ),
    ),
    "small payments through the API": RuleFile(
        approve(
            f"operation_type: http_request, all: [{{ field: origin, value: '{API}' }}, "
            "{ field: action.path, value: /v1/refunds }, { field: json.amount, between: [0, 50] }]"
        ),
        lambda p: requests(p, API + "/v1/refunds") and is_number(json_amount(p), 0, 50),
    ),
    "low risk": RuleFile(
        approve("risk_level: low, operation_type: [query, refund]"),
        lambda p: p.risk == "low" and p.operation in ("query", "refund") and is_trusted(p),
    ),
    "confident": RuleFile(
        approve(f"operation_type: refund, confidence: '>= 0.9', {SMALL}"),
        lambda p: is_refund(p, 50) and is_confident(p, 0.9),
    ),
    "gold customers": RuleFile(
        approve(f"operation_type: refund, {SMALL}, custom_field: {{ field: input.customer.tier, value: gold }}"),
        lambda p: is_refund(p, 50) and is_text(p.run["input"].get("customer", {}).get("tier"), "gold"),
    ),
    "after a check": RuleFile(
        approve(f"operation_type: refund, {SMALL}, custom_field: {{ field: outputs.check.ok, value: true }}"),
        lambda p: is_refund(p, 50) and p.run["outputs"].get("check", {}).get("ok") is True,
    ),
    "in one checkpoint of real runs": RuleFile(
        approve(
            f"operation_type: refund, {SMALL}, "
            "all: [{ field: checkpoint.key, value: pay }, { field: run.is_test, value: false }]"
        ),
        lambda p: is_refund(p, 50) and p.run["checkpoint"]["key"] == "pay" and p.run["run"]["is_test"] is False,
    ),
    "people decide on other currencies": RuleFile(
        approve(
            f"operation_type: refund, {SMALL}",
            asking="{ name: Ask, action: {}, "
            "trigger: { kind: action, custom_field: { field: currency, operator: '!=', value: EUR } } }",
        ),
        lambda p: is_refund(p, 50) and reads_as(p.parameters.get("currency"), "EUR"),
    ),
    "people decide on blocked accounts and large amounts": RuleFile(
        approve(
            "operation_type: refund, risk_level: [low, medium]",
            asking="{ name: Ask, trigger: { kind: action, any: [{ field: account, any_in: [X9] }, "
            "{ field: amount, operator: '>', value: 1000 }] }, action: {} }",
        ),
        lambda p: (
            p.operation == "refund"
            and is_trusted(p)
            and p.risk in ("low", "medium")
            and is_number(p.parameters.get("amount"), -math.inf, 1000)
            and not_blocked(p.parameters.get("account"))
        ),
    ),
    "also from outside": RuleFile(
        approve(f"operation_type: refund, {SMALL}", ", allow_untrusted: true"),
        lambda p: p.operation == "refund" and is_number(p.parameters.get("amount"), 0, 50),
    ),
    "up to 100 in total, for each account": RuleFile(
        approve("operation_type: refund", ", limit: { sum: amount, max: 100, per: account }"),
        lambda p: is_refund(p, 100) and p.parameters.get("account") not in (None, [], {}),
    ),
    "files in the report folder": RuleFile(
        approve(
            "operation_type: 'mcp:files/write', custom_field: { field: path, value: [reports/a.txt, reports/b.txt] }"
        ),
        lambda p: (
            p.operation == "mcp:files/write"
            and is_trusted(p)
            and is_text(p.parameters.get("path"), "reports/a.txt", "reports/b.txt")
        ),
    ),
}


def not_blocked(account: Any) -> bool:
    """Whether nothing in the account is the blocked one, and all of it can be read."""
    values = cast("list[Any]", account) if isinstance(account, list) else [account]
    return all(type(v) is str and not reads_as(v, "X9") for v in values)
