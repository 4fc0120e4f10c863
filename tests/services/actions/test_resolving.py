"""Proposals become exact requests; whatever isn't exact is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.states import ActionEffect
from cairn.documents import canonical, decode_json
from cairn.ports import ProducedFile
from cairn.services.actions.requests import body_of
from cairn.services.actions.resolving import ResolvedAction, ServerSecrets
from cairn.store import Database
from cairn.store import tables as t
from tests.databases import prepare
from tests.mentions import mentions
from tests.services.actions.resolving import Json, Resolving, allow_secret, loaded

BANK = "https://api.bank.com/pay"
MAIL = {"to": "ann@example.com", "subject": "Hello"}
PAYMENT = {"amount": 99.99, "currency": "USD", "account": "DE89"}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A SQLite database that the tests of this file only read."""
    folder = tmp_path_factory.mktemp("resolving")
    prepare(folder)
    with closing(Database(f"sqlite:///{folder / 'cairn.db'}")) as opened:
        yield opened


@pytest.fixture
def resolve(empty: Database) -> Resolving:
    return Resolving(empty)


# ---- requests ------------------------------------------------------------------------------------------
def test_a_request_has_a_method_a_timeout_and_canonical_headers(resolve: Resolving) -> None:
    found = resolve.resolved(
        "http_request", {"url": "HTTPS://API.Bank.com:443/a/../pay?x=ü#top", "json": {"b": 1, "a": 2}}
    )
    assert found.content == {
        "method": "POST",
        "url": "https://api.bank.com/pay?x=%C3%BC",
        "headers": {"content-type": "application/json"},
        "json": {"a": 2, "b": 1},
        "timeout_seconds": 30,
    }
    assert body_of(found.content) == b'{"a":2,"b":1}'
    assert (found.facts["host"], found.facts["origin"], found.facts["path"]) == (
        "api.bank.com",
        "https://api.bank.com",
        "/pay",
    )
    assert found.summary == mentions("POST", "https://api.bank.com/pay")
    assert found.facts["type"] == {
        "name": "http_request",
        "effect": "changes",
        "risk": "high",
        "source": "built-in",
        "reversible": "no",
        "idempotent": False,
    }


@pytest.mark.parametrize(
    ("parameters", "headers"),
    [
        ({}, {}),
        ({"json": None}, {"content-type": "application/json"}),
        ({"body": "text"}, {"content-type": "text/plain; charset=utf-8"}),
        ({"json": 1, "headers": {"Content-Type": "application/x"}}, {"content-type": "application/x"}),
        ({"headers": {"X-Key": " a b ", "Accept": "*/*"}}, {"accept": "*/*", "x-key": "a b"}),
    ],
)
def test_headers_are_lower_case_and_sorted(resolve: Resolving, parameters: Json, headers: dict[str, str]) -> None:
    content = resolve.resolved("http_request", {"url": BANK, **parameters}).content
    assert list(content["headers"].items()) == list(headers.items())


@pytest.mark.parametrize(
    ("method", "effect"),
    [
        ("GET", ActionEffect.SENDS),
        ("HEAD", ActionEffect.SENDS),
        ("POST", ActionEffect.CHANGES),
        ("PUT", ActionEffect.CHANGES),
        ("PATCH", ActionEffect.CHANGES),
        ("DELETE", ActionEffect.CHANGES),
    ],
)
def test_the_method_decides_the_effect(resolve: Resolving, method: str, effect: ActionEffect) -> None:
    found = resolve.resolved("http_request", {"url": BANK, "method": method})
    assert (found.type.effect, found.facts["type"]["effect"]) == (effect, effect.value)


@pytest.mark.parametrize(
    ("parameters", "path"),
    [
        ({}, ""),
        ({"url": "ftp://example.com"}, "/url"),
        ({"url": "https://"}, "/url"),
        ({"url": "https://user:password@api.bank.com"}, "/url"),
        ({"url": "https://api.bank.com@evil.example"}, "/url"),
        ({"url": "https://evil.example\\@api.bank.com"}, "/url"),
        ({"url": "https://api.bank.com\u200b.evil.example"}, "/url"),
        ({"url": "https://api.bank.com/a b"}, "/url"),
        ({"url": "https://0x7f.1/"}, "/url"),
        ({"url": "https://2130706433/"}, "/url"),
        ({"url": "https://api.bank.com:99999/"}, "/url"),
        ({"url": "http://127.0.0.1:8700/api/approvals"}, "/url"),
        ({"url": "http://localhost:8700/"}, "/url"),
        ({"url": "http://[::1]:8700/"}, "/url"),
        ({"url": "http://[::ffff:127.0.0.1]:8700/"}, "/url"),
        ({"url": "http://0.0.0.0:8700/"}, "/url"),
        ({"url": "https://CAIRN.example.com./"}, "/url"),
        ({"url": "http://cairn.example.com/"}, "/url"),
        ({"url": "https://internal.example.com/"}, "/url"),
        ({"url": BANK, "method": "TRACE"}, "/method"),
        ({"url": BANK, "json": 1, "body": "x"}, "/body"),
        ({"url": BANK, "method": "GET", "json": 1}, "/json"),
        ({"url": BANK, "amount": 5, "json": {"amount": 5000}}, ""),
        ({"url": BANK, "timeout_seconds": 121}, "/timeout_seconds"),
        ({"url": BANK, "headers": {"X-A": "1", "x-a": "2"}}, "/headers/x-a"),
        ({"url": BANK, "headers": {"X-A": "1\r\nHost: evil"}}, "/headers/X-A"),
        ({"url": BANK, "headers": {"X A": "1"}}, "/headers"),
        *(
            ({"url": BANK, "headers": {name: "x"}}, f"/headers/{name}")
            for name in (
                "Idempotency-Key",
                "idempotency-KEY",
                "Host",
                "Cookie",
                "Proxy-Authorization",
                "proxy-connection",
                "Content-Length",
                "Transfer-Encoding",
                "Connection",
                "Accept-Encoding",
                "Expect",
                "X-HTTP-Method-Override",
            )
        ),
    ],
)
def test_an_inexact_or_forbidden_request_is_refused(resolve: Resolving, parameters: Json, path: str) -> None:
    assert [error[0] for error in resolve.errors("http_request", parameters)] == [path]


def test_an_unknown_parameter_is_named(resolve: Resolving) -> None:
    assert resolve.errors("http_request", {"url": BANK, "amount": 5}) == [("", mentions("`amount`"))]


# ---- emails --------------------------------------------------------------------------------------------
def test_an_email_has_filled_templates_and_all_recipients(resolve: Resolving) -> None:
    found = resolve.resolved(
        "send_email",
        {
            "to": ["Ann@Bücher.DE", "bob@Example.com"],
            "cc": "carl@example.com",
            "bcc": ["dora@example.com"],
            "subject": "Refund of {{ amount }} {{currency}}",
            "body": "{{ customer.name }}: {{ amount }}, {{ note }}, {{ is_final }}, {{ subject }}",
            "values": {
                "amount": 99.99,
                "currency": "{{ amount }}",
                "note": None,
                "is_final": True,
                "customer": {"name": "Eve"},
            },
        },
    )
    assert found.content == {
        "to": ["Ann@xn--bcher-kva.de", "bob@example.com"],
        "cc": ["carl@example.com"],
        "bcc": ["dora@example.com"],
        "subject": "Refund of 99.99 {{ amount }}",
        "body": "Eve: 99.99, , true, Refund of {{ amount }} {{currency}}",
    }
    recipients = ["Ann@xn--bcher-kva.de", "bob@example.com", "carl@example.com", "dora@example.com"]
    assert found.facts["recipients"] == recipients
    assert found.summary == mentions("“Refund of 99.99 {{ amount }}”", "Ann@xn--bcher-kva.de", "bob@example.com")


@pytest.mark.parametrize(
    ("parameters", "path"),
    [
        ({"to": "ann"}, "/to"),
        ({"to": "ann@example.com, eve@evil.example"}, "/to"),
        ({"to": ["ann@example.com", '"a b"@example.com']}, "/to/1"),
        ({"to": "ann@[127.0.0.1]"}, "/to"),
        ({"cc": "ann@exa\u200bmple.com"}, "/cc"),
        ({"to": []}, "/to"),
        ({"subject": ""}, "/subject"),
        ({"subject": "a\r\nBcc: eve@evil.example"}, "/subject"),
        ({"subject": "{{ x }}", "values": {"x": "a\nb"}}, "/subject"),
        ({"subject": "{{ x }}", "values": {"x": "a" * 999}}, "/subject"),
        ({"body": "{{ gone }}"}, "/body"),
        ({"body": "{{ order.gone }}", "values": {"order": {}}}, "/body"),
        ({"body": "{{ order }}", "values": {"order": {"a": 1}}}, "/body"),
        ({"amount": 5}, ""),
        ({"attachments": ["gone.pdf"]}, "/attachments/0"),
        ({"body": "x{{ a }}" * 40, "values": {"a": "b" * 8000}}, ""),
    ],
)
def test_an_inexact_email_is_refused(resolve: Resolving, parameters: Json, path: str) -> None:
    assert [error[0] for error in resolve.errors("send_email", {**MAIL, **parameters})] == [path]


def test_staged_files_are_attached_by_their_checksum(resolve: Resolving) -> None:
    staged = (ProducedFile("receipt", "pdf", b"one"),)
    first = resolve.resolved("send_email", {**MAIL, "attachments": ["receipt.pdf"]}, artifacts=staged)
    [attachment] = first.content["attachments"]
    assert attachment == {
        "requested": "receipt.pdf",
        "name": "receipt.pdf",
        "content_type": "application/pdf",
        "artifact_id": "",
        "size": 3,
        "checksum": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
    }
    changed = (ProducedFile("receipt", "pdf", b"two"),)
    second = resolve.resolved("send_email", {**MAIL, "attachments": ["receipt.pdf"]}, artifacts=changed)
    assert (first.content_digest == second.content_digest, first.call_digest == second.call_digest) == (False, True)
    # A modification of the first keeps what was shown.
    kept = resolve.resolved(
        "send_email",
        {**MAIL, "subject": "Other", "attachments": ["receipt.pdf"]},
        artifacts=changed,
        earlier=first.content,
    )
    assert kept.content["attachments"] == [attachment]


def test_the_same_file_in_another_record_is_the_same_content(resolve: Resolving) -> None:
    parameters = {**MAIL, "attachments": ["receipt"]}
    found = resolve.resolved("send_email", parameters, artifacts=(ProducedFile("receipt", "pdf", b"one"),))
    [attachment] = found.content["attachments"]
    moved = {**found.content, "attachments": [{**attachment, "artifact_id": "another"}]}
    again = resolve.resolved("send_email", parameters, earlier=moved)
    assert again.content["attachments"][0]["artifact_id"] == "another"
    assert again.content_digest == found.content_digest


# ---- what the proposer carries out ---------------------------------------------------------------------
def test_a_payment_has_an_amount_a_currency_and_a_title(resolve: Resolving) -> None:
    found = resolve.resolved("financial_transaction", PAYMENT)
    assert (found.content, found.amount, found.currency) == (PAYMENT, Decimal("99.99"), "USD")
    assert found.summary == "Move 99.99 USD to DE89"
    assert resolve.resolved("financial_transaction", {"amount": 5}).summary == "Move 5"
    assert (found.type.executor, found.type.effect, found.type.source) == (
        "proposer",
        ActionEffect.CHANGES,
        "built-in",
    )


@pytest.mark.parametrize(
    ("operation", "parameters", "path"),
    [
        ("financial_transaction", {"amount": -5}, "/amount"),
        ("financial_transaction", {"amount": "5"}, "/amount"),
        ("financial_transaction", {"amount": True}, "/amount"),
        ("financial_transaction", {"amount": 5, "currency": "usd"}, "/currency"),
        ("financial_transaction", {"amount": 5, "approved_by": "legal"}, ""),
        ("database_update", {"table": "orders", "values": {}}, "/values"),
        ("Refund", {}, ""),
        ("réfund", {}, ""),
        ("refund ", {}, ""),
        ("refund\n", {}, ""),
        ("", {}, ""),
        ("a" * 101, {}, ""),
        ("wire", {"amount": math.nan}, "/amount"),
        ("wire", {"deep": {"list": [1, math.inf]}}, "/deep/list/1"),
        ("wire", {"amount": -math.inf}, "/amount"),
        ("wire", {"amount": Decimal(5)}, "/amount"),
        ("wire", {"amount": 10**5000}, "/amount"),
        ("wire", {"text": "\ud800"}, "/text"),
        ("wire", {"text": "a" * (256 * 1024)}, ""),
        ("wire", {"token": "secret:bank"}, "/token"),
    ],
)
def test_parameters_that_are_not_exact_json_are_refused(
    resolve: Resolving, operation: str, parameters: Json, path: str
) -> None:
    assert [error[0] for error in resolve.errors(operation, parameters)] == [path]


def test_parameters_may_not_be_nested_too_deeply(resolve: Resolving) -> None:
    nested: Any = 1
    for _ in range(60):
        nested = [nested]
    assert resolve.errors("wire", {"nested": nested}) == [("", mentions())]


def test_an_undeclared_type_is_allowed_but_always_asks(resolve: Resolving) -> None:
    found = resolve.resolved("close-account/now", {"account": "a"})
    assert (found.type.source, found.type.asks_always, found.summary) == ("undeclared", True, mentions("Close account"))


# ---- secrets -------------------------------------------------------------------------------------------
@pytest.fixture
def with_secrets(tmp_path: Any) -> Iterator[Resolving]:
    prepare(tmp_path)
    with closing(Database(f"sqlite:///{tmp_path / 'cairn.db'}")) as database:
        allow_secret(database, "bank", ["api.bank.com", "http://127.0.0.1:9000"], ["http_request"])
        allow_secret(database, "elsewhere", ["api.bank.com"], ["http_request"], ["another pipeline"])
        allow_secret(database, "everywhere", ["*.bank.com"], ["http_request"], ["*"])
        allow_secret(database, "unlisted", [], [])
        allow_secret(database, "of-tools", [], ["mcp:files/write"])
        yield Resolving(database)


@pytest.mark.parametrize(
    ("parameters", "secrets"),
    [
        ({"url": BANK, "headers": {"X-Key": "secret:bank"}}, ("bank",)),
        ({"url": BANK, "headers": {"Authorization": "Bearer {secret:bank}"}}, ("bank",)),
        ({"url": BANK, "json": {"key": ["secret:bank", "Bearer {secret:everywhere}"]}}, ("bank", "everywhere")),
        ({"url": BANK, "json": "secret:bank"}, ("bank",)),
        ({"url": "http://127.0.0.1:9000/", "headers": {"X-Key": "secret:bank"}}, ("bank",)),
        ({"url": BANK, "json": {"text": "top-secret:plan", "other": "Secret:bank"}}, ()),
    ],
)
def test_a_secret_stays_a_reference(with_secrets: Resolving, parameters: Json, secrets: tuple[str, ...]) -> None:
    found = with_secrets.resolved("http_request", parameters)
    assert found.secrets == secrets
    for place in ("headers", "json"):
        if place in parameters:
            values = decode_json(canonical(found.content[place]))
            assert "secret:" in str(values).lower()


@pytest.mark.parametrize(
    ("parameters", "path"),
    [
        ({"url": "https://evil.example/", "headers": {"X-Key": "secret:bank"}}, ""),
        ({"url": "http://api.bank.com/", "headers": {"X-Key": "secret:bank"}}, ""),
        ({"url": "https://api.bank.com:8443/", "headers": {"X-Key": "secret:bank"}}, ""),
        ({"url": "https://api.bank.com.evil.example/", "headers": {"X-Key": "secret:bank"}}, ""),
        ({"url": "https://bank.com/", "headers": {"X-Key": "secret:everywhere"}}, ""),
        ({"url": BANK, "headers": {"X-Key": "secret:elsewhere"}}, ""),
        ({"url": BANK, "headers": {"X-Key": "secret:unlisted"}}, ""),
        ({"url": BANK, "headers": {"X-Key": "secret:of-tools"}}, ""),
        ({"url": BANK, "headers": {"X-Key": "secret:gone"}}, ""),
        ({"url": "https://api.bank.com/?key=secret:bank"}, "/url"),
        ({"url": BANK, "headers": {"Authorization": "Basic secret:bank"}}, "/headers/Authorization"),
        ({"url": BANK, "headers": {"Authorization": "Bearer secret:bank"}}, "/headers/Authorization"),
        ({"url": BANK, "headers": {"Authorization": "Token {secret:bank}"}}, "/headers/Authorization"),
        ({"url": BANK, "body": "secret:bank"}, "/body"),
        ({"url": BANK, "json": {"secret:bank": 1}}, "/json/secret:bank"),
        ({"url": BANK, "json": {"key": "x secret:bank"}}, "/json/key"),
    ],
)
def test_a_secret_is_refused_outside_of_its_uses(with_secrets: Resolving, parameters: Json, path: str) -> None:
    found = with_secrets.errors("http_request", parameters)
    assert [error[0].lower() for error in found] == [path.lower()]


def test_emails_contain_no_secrets(with_secrets: Resolving) -> None:
    parameters = {**MAIL, "body": "{{ key }}", "values": {"key": "secret:bank"}}
    assert [path for path, _ in with_secrets.errors("send_email", parameters)] == ["/body"]


def test_arguments_of_a_tool_contain_secrets_that_it_may_use(with_secrets: Resolving) -> None:
    arguments = {"path": "a", "key": "secret:of-tools"}
    assert with_secrets.resolved("mcp:files/write", arguments).secrets == ("of-tools",)
    assert with_secrets.errors("mcp:files/delete", arguments) == [("", mentions("of-tools", "mcp:files/delete"))]


def test_a_call_of_a_tool_uses_the_secrets_of_its_server(with_secrets: Resolving) -> None:
    database = with_secrets.database
    allow_secret(database, "of-server", ["mcp.example.com"], ["mcp:web"])
    servers = {
        "web": ServerSecrets(("of-server",), "https://mcp.example.com/mcp"),
        "elsewhere": ServerSecrets(("of-server",), "https://mcp.example.com/mcp"),
        "local": ServerSecrets((), None),
    }
    resolving = Resolving(database, server_secrets=servers)
    assert resolving.resolved("mcp:web/fetch", {}).secrets == ()
    assert resolving.resolved("mcp:local/fetch", {}).secrets == ()
    refused = [("", mentions("of-server", "mcp:elsewhere", "https://mcp.example.com"))]
    assert resolving.errors("mcp:elsewhere/fetch", {}) == refused


# ---- identity ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("operation", "one", "other", "is_same"),
    [
        ("financial_transaction", PAYMENT, {**PAYMENT, "reference": "again"}, True),
        ("financial_transaction", PAYMENT, {**PAYMENT, "account": " de89\u200b"}, True),
        ("financial_transaction", PAYMENT, {**PAYMENT, "account": "DE90"}, False),
        ("financial_transaction", {**PAYMENT, "amount": 50}, {**PAYMENT, "amount": 50.0}, True),
        ("send_email", MAIL, {**MAIL, "to": "ANN@EXAMPLE.com", "body": "other words"}, True),
        ("send_email", MAIL, {**MAIL, "to": ["bob@example.com"], "cc": "ann@example.com"}, False),
        ("send_email", {**MAIL, "cc": "b@c.de"}, {**MAIL, "to": "b@c.de", "bcc": ["ann@example.com"]}, True),
        ("http_request", {"url": BANK}, {"url": "https://API.bank.com/./pay", "headers": {"X-Request": "2"}}, True),
        ("http_request", {"url": BANK, "json": {"a": 1, "b": 2}}, {"url": BANK, "json": {"b": 2, "a": 1.0}}, True),
        ("http_request", {"url": BANK}, {"url": BANK, "method": "PUT"}, False),
        ("http_request", {"url": BANK, "json": 1}, {"url": BANK, "json": 2}, False),
        ("wire", {"amount": 5, "memo": "a"}, {"amount": 5, "memo": "b"}, False),
        ("wire", {"amount": 5}, {"amount": 5, "memo": None}, False),
    ],
)
def test_another_spelling_is_the_same_act(
    resolve: Resolving, operation: str, one: Json, other: Json, is_same: bool
) -> None:
    left, right = (resolve.resolved(operation, parameters) for parameters in (one, other))
    assert (left.identity == right.identity) is is_same


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [({"a": 1, "b": 2}, {"b": 2, "a": 1}, True), ({"a": 1}, {"a": 2}, False), ({"a": 1}, {"a": 1.0}, False)],
)
def test_digests_cover_the_exact_content(resolve: Resolving, one: Json, other: Json, is_same: bool) -> None:
    left, right = resolve.resolved("wire", one), resolve.resolved("wire", other)
    assert (left.content_digest == right.content_digest) is is_same
    assert (left.call_digest == right.call_digest) is is_same
    assert resolve.resolved("other", one).content_digest != left.content_digest


# ---- the check before the start ------------------------------------------------------------------------
def test_hosts_types_and_secrets_are_checked_again_before_the_start(with_secrets: Resolving) -> None:
    database = with_secrets.database

    def check(action: ResolvedAction, resolving: Resolving) -> list[tuple[str, str]]:
        parts = (action.type.name, action.content, action.facts)
        refusal = database.read(lambda c: resolving.resolver.check(c, resolving.definition, loaded(), *parts))
        return [] if refusal is None else list(refusal.errors)

    request = with_secrets.resolved("http_request", {"url": BANK, "headers": {"X-Key": "secret:bank"}})
    assert check(request, with_secrets) == []
    assert check(request, Resolving(database, {"http_request": {"hosts": ["other.example"]}})) == [
        ("/url", mentions("https://api.bank.com", "other.example"))
    ]
    email = with_secrets.resolved("send_email", MAIL)
    assert check(email, Resolving(database, pipeline={"send_email": {"hosts": ["corp.com"]}})) == [
        ("/to/0", mentions("ann@example.com", "corp.com"))
    ]
    declared = Resolving(database, pipeline={"wire": {}})
    assert check(declared.resolved("wire", {}), declared) == []
    assert check(declared.resolved("wire", {}), with_secrets) == [("", mentions())]
    assert check(with_secrets.resolved("wire", {}), with_secrets) == []
    database.transact_now(lambda c: c.execute(sa.delete(t.secrets).where(t.secrets.c.name == "bank")))
    assert check(request, with_secrets) == [("", mentions("bank", "http_request"))]
