"""Proposals of an adversary who knows the rules: honest ones, and what they can be turned into."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any, cast
from urllib.parse import urlsplit

from tests.definitions.adversarial_rules import BOSS, TEAM, Proposal

HONEST: tuple[tuple[str, dict[str, Any]], ...] = (
    ("refund", {"amount": 5, "currency": "EUR", "account": "A1", "memo": "Sorry"}),
    ("refund", {"amount": 50, "currency": "EUR", "account": "B2"}),
    ("refund", {"amount": 900, "currency": "USD", "account": "X9"}),
    ("send_email", {"to": BOSS, "subject": "Report"}),
    ("send_email", {"to": [BOSS, TEAM], "cc": TEAM, "subject": "Report"}),
    ("http_request", {"method": "GET", "url": "https://api.example.com/v1/refunds"}),
    ("http_request", {"method": "POST", "url": "https://api.example.com/v1/refunds", "json": {"amount": 20}}),
    ("mcp:files/write", {"path": "reports/a.txt", "content": "x"}),
    ("query", {"text": "x"}),
)
NUMBERS: tuple[Any, ...] = (
    0, -0.0, -1, -1_000_000, 50, 50.0, 50.000000000000014, 50.01, 51, 1000, 1000.01, 10**40, -(10**40), 2**53 + 1,
    1e308, 5e-324, math.nan, math.inf, -math.inf, True, False, None, "5", "50 EUR", "5e1", "", [5], [5, 5000],
    {"value": 5}, {}, [],
)  # fmt: skip
TEXTS: tuple[Any, ...] = (
    "eur", "EUR ", " EUR", "\uff25\uff35\uff32", "EUR\u200b", "USD", "E\u0170R", "\u0415UR", "A1", "a1",
    "\u04101", "A1\n", "A1,X9", "X9", "x9", " X9 ", "\uff389", ["A1"], ["A1", "X9"], [["X9"]], {"id": "A1"},
    None, 1, True, "", "A1; DROP TABLE", "*", ".*",
)  # fmt: skip
ADDRESSES: tuple[Any, ...] = (
    "eve@evil.example", [BOSS, "eve@evil.example"], f"{BOSS},eve@evil.example", f"Boss <{BOSS}>",
    f"{BOSS}\neve@evil.example", BOSS.upper(), f" {BOSS}", "boss@example.com.evil.example",
    "b\u043ess@example.com", "boss@ex\u0430mple.com", [], [[BOSS]], {"to": BOSS}, None, 5, [BOSS, None], [BOSS, BOSS],
)  # fmt: skip
URLS: tuple[Any, ...] = (
    "https://evil.example/?api.example.com", "https://api.example.com.evil.example/v1/refunds",
    "https://evil.example/v1/refunds", "https://api.example.com@evil.example/v1/refunds",
    "https://api.example.com:evil@evil.example/", "https://\u0430pi.example.com/v1/refunds",
    "http://api.example.com/v1/refunds", "https://api.example.com/v1/refunds/../payouts",
    "https://api.example.com/v1/refunds?amount=9000", "https://api.example.com/v1/payouts",
    "//api.example.com/v1/refunds", "https://evil.example#api.example.com", "javascript:1", None, 5,
    ["https://api.example.com/v1/refunds"],
)  # fmt: skip
OPERATIONS: tuple[str, ...] = (
    "Refund", "refund ", " refund", "refund\n", "\uff52\uff45\uff46\uff55\uff4e\uff44", "re\u200bfund",
    "refund,query", "refund/../query", "\u0433efund", "", "*", "refunds", "MCP:files/write", "mcp:files/write/",
    "mcp:Files/write", "mcp:files/wr\u0456te", "Send_Email", "send-email", "HTTP_REQUEST", "query\0",
)  # fmt: skip
SHADOWS: dict[str, Any] = {
    "input": {"customer": {"tier": "gold"}},
    "outputs": {"check": {"ok": True}},
    "run": {"is_test": False},
    "checkpoint": {"key": "pay"},
    "action": {"amount": 5, "currency": "EUR", "host": "api.example.com"},
    "result": {"amount": 5},
    "host": "api.example.com",
    "origin": "https://api.example.com",
    "recipients": [BOSS],
    "untrusted": False,
    "risk_level": "low",
    "operation_type": "query",
    "confidence": 0.99,
    "type": {"risk": "low", "effect": "reads"},
}
DECOYS: dict[str, Any] = {
    "Amount": 5, "amount ": 5, "amount\u200b": 5, "\u0430mount": 5, "json.amount": 5, "values": {"amount": 5},
    "amount.value": 5, "AMOUNT": 5, "currency_code": "EUR", "to_": BOSS, "To": BOSS, "": 5,
    "URL": "https://api.example.com/v1/refunds",
}  # fmt: skip

Mutation = Callable[[Random, dict[str, Any]], None]


def shadow_a_root(random: Random, of: dict[str, Any]) -> None:
    name = random.choice(sorted(SHADOWS))
    of["parameters"][name] = deepcopy(SHADOWS[name])


def add_a_decoy(random: Random, of: dict[str, Any]) -> None:
    name = random.choice(sorted(DECOYS))
    of["parameters"][name] = deepcopy(DECOYS[name])
    if "amount" in of["parameters"] and random.random() < 0.5:
        of["parameters"]["amount"] = random.choice([5000, {"value": 5000}])


def leave_out(random: Random, of: dict[str, Any]) -> None:
    if of["parameters"]:
        del of["parameters"][random.choice(sorted(of["parameters"]))]


def change_a_value(random: Random, of: dict[str, Any]) -> None:
    parameters = of["parameters"]
    if not parameters:
        return
    name = random.choice(sorted(parameters))
    match name:
        case "amount":
            parameters[name] = random.choice(NUMBERS)
        case "json":
            parameters[name] = random.choice(
                [
                    {"amount": random.choice(NUMBERS)},
                    {"Amount": 5},
                    [{"amount": 5}],
                    {"amount": {"amount": 5}},
                    "amount=5",
                ]
            )
        case "to" | "cc" | "bcc":
            parameters[name] = random.choice(ADDRESSES)
        case "url":
            parameters[name] = random.choice(URLS)
        case "method":
            parameters[name] = random.choice(["get", "GET ", "POST", ["GET"], None, "GET\r\nX: y"])
        case "path":
            parameters[name] = random.choice(
                [
                    "reports/../a.txt",
                    "reports/a.txt\n",
                    "Reports/a.txt",
                    "/etc/passwd",
                    ["reports/a.txt"],
                    "reports/\u0430.txt",
                ]
            )
        case _:
            parameters[name] = random.choice(TEXTS)


def add_recipients(random: Random, of: dict[str, Any]) -> None:
    of["parameters"][random.choice(["cc", "bcc"])] = random.choice(ADDRESSES)


def rename_the_operation(random: Random, of: dict[str, Any]) -> None:
    of["operation"] = random.choice(OPERATIONS)


def claim(random: Random, of: dict[str, Any]) -> None:
    of["risk"] = random.choice(["low", "medium", "high", "critical"])
    of["confidence"] = random.choice([None, 0, 0.5, 0.89, 0.9, 1, 1.0, math.nan, math.inf, True])


def change_the_run(random: Random, of: dict[str, Any]) -> None:
    of["run"] = {
        "input": random.choice(
            [{}, {"customer": {"tier": "Gold"}}, {"customer": {"tier": ["gold"]}}, {"tier": "gold"}]
        ),
        "outputs": random.choice([{}, {"check": {"ok": False}}, {"check": {"ok": "true"}}, {"check": {"ok": 1}}]),
        "run": {"is_test": random.choice([True, False])},
        "checkpoint": {"key": random.choice(["pay", "Pay", "other"])},
    }


def come_from_outside(_: Random, of: dict[str, Any]) -> None:
    of["untrusted"] = True


MUTATIONS: tuple[Mutation, ...] = (
    shadow_a_root, add_a_decoy, leave_out, change_a_value, change_a_value, change_a_value, add_recipients,
    rename_the_operation, claim, change_the_run, come_from_outside,
)  # fmt: skip


def honest(operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        "operation": operation,
        "parameters": deepcopy(parameters),
        "risk": "low",
        "confidence": 0.95,
        "untrusted": False,
        "run": {
            "input": {"customer": {"tier": "gold"}},
            "outputs": {"check": {"ok": True}},
            "run": {"is_test": False},
            "checkpoint": {"key": "pay"},
        },
    }


def proposals(random: Random, count: int) -> list[Proposal]:
    """The honest proposals, and mutations of them."""
    found = [finished(honest(*each)) for each in HONEST]
    while len(found) < count:
        of = honest(*random.choice(HONEST))
        for mutate in random.choices(MUTATIONS, k=random.randint(1, 4)):
            mutate(random, of)
        found.append(finished(of))
    return found


def finished(of: dict[str, Any]) -> Proposal:
    """Add what Cairn computes about the action that would be carried out."""
    facts: dict[str, Any] = {"untrusted": True} if of["untrusted"] else {}
    parameters = of["parameters"]
    if of["operation"] == "send_email":
        facts["recipients"] = [address for key in ("to", "cc", "bcc") for address in _addresses(parameters.get(key))]
    if of["operation"] == "http_request":
        facts |= _destination(parameters.get("url"))
    return Proposal(of["operation"], parameters, facts, of["risk"], of["confidence"], of["run"])


def _addresses(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [] if value is None else [value]


def _destination(url: Any) -> dict[str, Any]:
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or not parts.hostname or parts.scheme not in ("http", "https"):
        return {"host": None, "origin": None, "path": None}
    return {"host": parts.hostname, "origin": f"{parts.scheme}://{parts.hostname}", "path": parts.path}
