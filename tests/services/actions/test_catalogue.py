"""Admins own action types; pipelines only narrow them."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from cairn.config.action_types import ActionTypeDeclaration
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect
from cairn.services.actions.action_type import ActionType, closed
from cairn.services.actions.catalogue import Catalogue, declared_type, is_type_name, narrowed, pipeline_type
from cairn.services.actions.titles import fill_title
from cairn.store import Database
from cairn.store import tables as t
from tests.mentions import mentions
from tests.services.actions.resolving import Json, Resolving, definition
from tests.store.samples import NOON

REFUND: Json = {
    "title": "Refund {{ amount }}[ {{ currency }}] to {{ account }}",
    "schema": {
        "type": "object",
        "required": ["amount", "account"],
        "properties": {
            "amount": {"type": "number", "exclusiveMinimum": 0},
            "currency": {"type": "string"},
            "account": {"type": "string"},
            "memo": {"type": "string"},
        },
    },
    "risk_level": "low",
    "identity": ["amount", "currency", "account"],
    "amount": "amount",
    "currency": "currency",
    "reversible": "by: charge",
    "idempotent": True,
}


def find(database: Database, name: str, settings: Json | None = None, pipeline: Json | None = None) -> ActionType:
    declared = {key: ActionTypeDeclaration.model_validate(entry) for key, entry in (settings or {}).items()}
    return database.read(lambda c: Catalogue(declared).find(c, definition(**(pipeline or {})), name))


def test_an_admins_type_says_everything_about_its_actions(database: Database) -> None:
    refund = find(database, "refund", {"refund": REFUND})
    assert (refund.source, refund.risk, refund.effect, refund.executor) == (
        "settings",
        RiskLevel.LOW,
        ActionEffect.CHANGES,
        "proposer",
    )
    assert (refund.identity, refund.amount, refund.currency) == (
        ("amount", "currency", "account"),
        "amount",
        "currency",
    )
    assert (refund.reversible, refund.is_idempotent, refund.is_in_catalogue) == ("by: charge", True, True)
    resolving = Resolving(database, {"refund": REFUND})
    found = resolving.resolved("refund", {"amount": 99.99, "currency": "USD", "account": "DE89", "memo": "x"})
    assert found.summary == "Refund 99.99 USD to DE89"
    assert resolving.resolved("refund", {"amount": 5, "account": "DE89"}).summary == "Refund 5 to DE89"
    assert resolving.errors("refund", {"amount": 5, "account": "a", "approved": True}) == [("", mentions("`approved`"))]


def test_names_are_compared_byte_by_byte(database: Database) -> None:
    assert find(database, "refund_", {"refund": REFUND}).source == "undeclared"
    assert find(database, "refund", {"refund": REFUND}).source == "settings"


@pytest.mark.parametrize(
    ("name", "is_valid"),
    [
        ("refund", True),
        ("a.b:c/d-e_1", True),
        ("Refund", False),
        ("refund ", False),
        ("refund\n", False),
        ("r\u0435fund", False),
        ("", False),
        ("mcp:Files/readFile", True),
        ("mcp:files/read file", False),
        ("mcp:files/re\u200bad", False),
    ],
)
def test_a_name_has_only_plain_characters(name: str, *, is_valid: bool) -> None:
    assert is_type_name(name) is is_valid


def test_a_type_in_the_database_adds_to_a_built_in_one_and_settings_win(database: Database) -> None:
    def insert(declaration: Json) -> None:
        values = {"declaration": declaration, "updated_at": NOON, "updated_by": "admin"}
        database.transact_now(lambda c: c.execute(sa.insert(t.action_types).values(name="http_request", **values)))

    insert({"hosts": ["api.bank.com"], "risk_level": "medium", "idempotent": True})
    stored = find(database, "http_request")
    assert (stored.source, stored.hosts, stored.risk, stored.is_idempotent) == (
        "admin",
        ("api.bank.com",),
        RiskLevel.MEDIUM,
        True,
    )
    assert (stored.executor, stored.identity) == ("cairn", ("method", "url", "json", "body"))
    settings = {"http_request": {"risk_level": "critical"}}
    assert (find(database, "http_request", settings).risk, find(database, "http_request", settings).hosts) == (
        RiskLevel.CRITICAL,
        None,
    )
    declared = {"refund": ActionTypeDeclaration.model_validate(REFUND)}
    listed = database.read(Catalogue(declared).all)
    assert [(action.name, action.source) for action in listed] == [
        ("database_update", "built-in"),
        ("financial_transaction", "built-in"),
        ("http_request", "admin"),
        ("refund", "settings"),
        ("send_email", "built-in"),
    ]


# ---- pipelines -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({}, {}),
        ({"risk_level": "critical"}, {"risk": RiskLevel.CRITICAL}),
        ({"risk_level": "low"}, {}),
        ({"description": "Ours."}, {"description": "Ours."}),
        ({"title": "Harmless"}, {}),
        ({"hosts": ["api.bank.com", "evil.example"]}, {"hosts": ("api.bank.com",)}),
        ({"hosts": ["*.bank.com"]}, {"hosts": ("*.bank.com", "api.bank.com")}),
        ({"hosts": ["evil.example"]}, {"hosts": ()}),
        ({"hosts": []}, {"hosts": ()}),
        ({"identity": ["account", "memo"]}, {"identity": ("account",)}),
        ({"amount": "other", "currency": "other"}, {"currency": "other"}),
        ({"schema": {"type": "object"}}, {"narrowed_by": ({"type": "object"},)}),
    ],
)
def test_a_pipeline_can_only_narrow_a_type(declared: Json, expected: Json) -> None:
    base = ActionType(
        "pay",
        title_template="Pay {{ amount }}",
        risk=RiskLevel.MEDIUM,
        identity=("amount", "account"),
        amount="amount",
        hosts=("*.bank.com", "api.bank.com") if "hosts" in declared else None,
        source="settings",
    )
    found = narrowed(base, definition(pay=declared).actions["pay"])
    assert found == ActionType(
        **{name: expected.get(name, getattr(base, name)) for name in ActionType.__dataclass_fields__}
    )


@pytest.mark.parametrize(
    ("declared", "risk"),
    [
        ({}, "high"),
        ({"risk_level": "low"}, "medium"),
        ({"risk_level": "medium"}, "medium"),
        ({"risk_level": "critical"}, "critical"),
    ],
)
def test_the_risk_of_a_pipelines_own_type_is_medium_at_least(declared: Json, risk: str) -> None:
    found = pipeline_type("wire", definition(wire=declared).actions["wire"])
    assert (found.risk.value, found.source, found.effect) == (risk, "pipeline", ActionEffect.CHANGES)
    assert (found.is_in_catalogue, found.asks_always) == (False, False)


def test_parameters_have_to_match_the_schemas_of_both(database: Database) -> None:
    only_ann = {"properties": {"to": {"const": "ann@example.com"}}, "additionalProperties": True}
    resolving = Resolving(database, pipeline={"send_email": {"schema": only_ann, "risk_level": "low"}})
    assert resolving.resolved("send_email", {"to": "ann@example.com", "subject": "a"}).type.risk == RiskLevel.HIGH
    assert [path for path, _ in resolving.errors("send_email", {"to": "bob@example.com", "subject": "a"})] == ["/to"]
    assert [path for path, _ in resolving.errors("send_email", {"to": "ann@example.com", "subject": "a", "x": 1})] == [
        ""
    ]


@pytest.mark.parametrize(
    ("operation", "hosts", "parameters", "path"),
    [
        ("http_request", ["api.bank.com"], {"url": "https://api.bank.com/x"}, None),
        ("http_request", ["api.bank.com"], {"url": "https://evil.example/?api.bank.com"}, "/url"),
        ("http_request", ["api.bank.com"], {"url": "http://api.bank.com/"}, "/url"),
        ("http_request", ["*.bank.com"], {"url": "https://bank.com/"}, "/url"),
        ("http_request", [], {"url": "https://api.bank.com/"}, "/url"),
        ("send_email", ["corp.com"], {"to": "ann@Corp.com", "subject": "a"}, None),
        ("send_email", ["corp.com"], {"to": ["ann@corp.com", "eve@evil.example"], "subject": "a"}, "/to/1"),
        ("send_email", ["corp.com"], {"to": "ann@corp.com", "bcc": "eve@evil.example", "subject": "a"}, "/bcc/0"),
        ("wire", ["corp.com"], {"url": "https://corp.com/"}, None),
        ("wire", ["corp.com"], {"amount": 5}, "/url"),
    ],
)
def test_hosts_limit_where_actions_go(
    database: Database, operation: str, hosts: list[str], parameters: Json, path: str | None
) -> None:
    resolving = Resolving(database, pipeline={operation: {"hosts": hosts}})
    if path is None:
        resolving.resolved(operation, parameters)
    else:
        assert [error[0] for error in resolving.errors(operation, parameters)] == [path]


def test_tools_are_risky_until_an_admin_classifies_them(database: Database) -> None:
    tool = find(database, "mcp:files/write")
    assert (tool.executor, tool.risk, tool.effect, tool.source) == (
        "tool",
        RiskLevel.HIGH,
        ActionEffect.CHANGES,
        "tool",
    )
    read = ActionType("mcp:files/read", risk=RiskLevel.LOW, effect=ActionEffect.READS, executor="tool", source="tool")
    catalogue = Catalogue(find_tool=lambda _, name: read if name == read.name else tool)
    assert database.read(lambda c: catalogue.find(c, None, "mcp:files/read")) == read


# ---- schemas, declarations and titles ------------------------------------------------------------------
SCHEMAS: list[tuple[Any, str | None]] = [
    ({"type": "object", "properties": {"a": {}}}, "additionalProperties"),
    ({"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]}, "unevaluatedProperties"),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {}}}}}, "unevaluatedProperties"),
    ({"type": "object"}, None),
    ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, None),
    (True, None),
    (None, None),
]


@pytest.mark.parametrize(("schema", "keyword"), SCHEMAS)
def test_a_schema_is_closed_unless_it_says_otherwise(schema: Any, keyword: str | None) -> None:
    assert closed(schema) == (schema if keyword is None else {**schema, keyword: False})


@pytest.mark.parametrize(
    "declared",
    [
        {"hosts": ["https://api.bank.com/path"]},
        {"hosts": ["*"]},
        {"schema": {"type": "nothing"}},
        {"effect": "nothing"},
        {"reversible": "maybe"},
        {"unknown": 1},
    ],
)
def test_an_invalid_declaration_is_refused(declared: Json) -> None:
    with pytest.raises(ValidationError):
        ActionTypeDeclaration.model_validate(declared)


def test_the_schema_of_what_cairn_sends_is_only_narrowed() -> None:
    schema: Json = {"properties": {"url": {}}}
    declared = ActionTypeDeclaration.model_validate({"schema": schema, "effect": "reads"})
    found = declared_type("http_request", declared, "admin")
    assert (found.narrowed_by, found.effect) == ((schema,), ActionEffect.CHANGES)
    assert found.schema == declared_type("http_request", ActionTypeDeclaration(), "admin").schema


@pytest.mark.parametrize(
    ("template", "title"),
    [
        ("Refund {{ amount }} {{currency}} to {{ to.name }}", "Refund 99.99 USD to Ann"),
        ("Refund[ {{ gone }}][ for {{ amount }}]", "Refund for 99.99"),
        ("Refund {{ gone }}", None),
        ("{{ list }}", "a, b, 1"),
        ("{{ empty }}", None),
        ("{{ long }}", "x" * 79 + "…"),
        ("{{ wild }}", mentions("\\u{202e}", "p\\u{430}ypal")),
        ("{{ host }}", "from facts"),
        ("", None),
    ],
)
def test_a_title_has_short_visible_values(template: str, title: str | None) -> None:
    content = {
        "amount": 99.99,
        "currency": "USD",
        "to": {"name": "Ann"},
        "list": ["a", "b", 1],
        "empty": "",
        "long": "x" * 500,
        "wild": "a\u202eb\r\nBcc: p\u0430ypal",
        "host": "decoy",
    }
    assert fill_title(template, {"host": "from facts"}, content) == title
