"""Resolved actions are sent as they are, once, and their outcome is named exactly."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest

from cairn.adapters.clock import SystemClock
from cairn.adapters.http_client import HttpxClient
from cairn.adapters.outbound_guard import AllowedHosts, OutboundGuard
from cairn.adapters.smtp_mailer import SmtpMailer, SmtpServer
from cairn.ports.outbound import NotSent
from cairn.ports.own_addresses import OwnAddresses
from cairn.services.actions.action_type import ActionType
from cairn.services.actions.built_in_types import BUILT_IN
from cairn.services.actions.transports import SentAction, Transports
from cairn.services.actors import ADMIN
from cairn.services.secrets import MASKED
from cairn.store import Database, blobs
from tests.adapters.servers import (
    Handler,
    MailServer,
    ReceivedRequest,
    WebServer,
    answer,
    break_midway,
    break_off,
    hang,
    mail_server,
    web_server,
)
from tests.databases import prepare
from tests.mentions import mentions
from tests.services.accounts import AccountsHarness
from tests.services.actions.resolving import Json

KEY = "0123456789abcdef"
EMAIL: Json = {"to": ["ann@example.com"], "subject": "Hello", "body": "{{ amount }} secret:token"}
TOKEN = 'sécret "value" 123'


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[AccountsHarness]:
    prepare(tmp_path)
    with closing(Database(f"sqlite:///{tmp_path / 'cairn.db'}")) as database:
        yield AccountsHarness(database, tmp_path)


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with web_server() as running:
        yield running


@asynccontextmanager
async def sending(
    harness: AccountsHarness, mail: MailServer | None = None, own_port: int = 8700
) -> AsyncGenerator[Transports]:
    guard = OutboundGuard(AllowedHosts.of(["127.0.0.0/8"]), own_addresses=OwnAddresses(own_port, "http://localhost"))
    server = SmtpServer("127.0.0.1", port=mail.port, tls="none", timeout=2.0) if mail is not None else SmtpServer(None)
    mailer = SmtpMailer(server, SystemClock())
    yield Transports(harness.database, mailer, HttpxClient(guard, follow_redirects=False), harness.secrets)


def request(url: str, **more: Any) -> Json:
    return {"method": "POST", "url": url, "headers": {}, "timeout_seconds": 5, **more}


async def send(harness: AccountsHarness, content: Json, **options: Any) -> SentAction:
    async with sending(harness, **options) as transports:
        return await transports.send("http_request", content, KEY)


# ---- requests ------------------------------------------------------------------------------------------
async def test_a_request_is_sent_byte_for_byte(harness: AccountsHarness, web: WebServer) -> None:
    web.on("/pay", answer(201, b'{"id": 7, "ok": true}', Content_Type="application/json"))
    content = request(
        web.url("/pay?x=%2F"),
        headers={"content-type": "application/json", "x-a": "1"},
        json={"b": "ü", "a": [1.5, None]},
    )
    assert await send(harness, content) == SentAction("done", {"status": 201, "body": {"id": 7, "ok": True}})
    [sent] = web.requests
    assert (sent.method, sent.path, sent.body) == ("POST", "/pay?x=%2F", '{"a":[1.5,null],"b":"ü"}'.encode())
    assert sent.headers == {
        "host": f"127.0.0.1:{web.port}",
        "content-type": "application/json",
        "x-a": "1",
        "idempotency-key": KEY,
        "content-length": str(len(sent.body)),
        "user-agent": "Cairn",
        "accept-encoding": "identity",
    }


@pytest.mark.parametrize(
    ("status", "changing", "sending_only"),
    [
        (200, "done", "done"),
        (204, "done", "done"),
        (302, "unknown", "failed"),
        (307, "unknown", "failed"),
        (400, "failed", "failed"),
        (404, "failed", "failed"),
        (408, "unknown", "failed"),
        (409, "unknown", "failed"),
        (422, "failed", "failed"),
        (425, "unknown", "failed"),
        (429, "unknown", "failed"),
        (500, "unknown", "failed"),
        (503, "unknown", "failed"),
    ],
)
async def test_a_status_decides_the_outcome(
    harness: AccountsHarness, web: WebServer, status: int, changing: str, sending_only: str
) -> None:
    web.on("/pay", answer(status, b"text"))
    for method, state in {"POST": changing, "DELETE": changing, "GET": sending_only, "HEAD": sending_only}.items():
        sent = await send(harness, request(web.url("/pay"), method=method))
        assert (sent.state, sent.result["status"]) == (state, status)


@pytest.mark.parametrize(
    ("handler", "changing"), [(hang, "unknown"), (break_off, "unknown"), (break_midway, "unknown")]
)
async def test_without_an_answer_a_change_is_unknown(
    harness: AccountsHarness, web: WebServer, handler: Handler, changing: str
) -> None:
    web.on("/pay", handler)
    for method, state in {"PUT": changing, "GET": "failed"}.items():
        sent = await send(harness, request(web.url("/pay"), method=method, timeout_seconds=0.5))
        assert (sent.state, sent.result) == (state, {"error": mentions("127.0.0.1")})


@pytest.mark.parametrize(
    "content",
    [
        request("http://127.0.0.1:1/"),
        request("http://10.0.0.1/"),
        request("http://unknown.invalid/"),
        request("http://127.0.0.1:1/", headers={"x-a": "secret:gone"}),
        request("http://127.0.0.1:1/", headers={"x-a": "ü"}),
    ],
)
async def test_what_was_not_sent_has_failed(harness: AccountsHarness, content: Json) -> None:
    sent = await send(harness, content)
    assert (sent.state, sent.result) == ("failed", {"error": mentions()})


async def test_a_redirect_is_a_result(harness: AccountsHarness, web: WebServer) -> None:
    await harness.secrets.save("token", "abcdef", ADMIN)
    web.on("/pay", answer(307, b"", Location=web.url("/other?abcdef")))
    sent = await send(harness, request(web.url("/pay"), json="secret:token"))
    assert sent == SentAction("unknown", {"status": 307, "body": "", "location": web.url(f"/other?{MASKED}")})
    assert [received.path for received in web.requests] == ["/pay"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"])
async def test_the_server_itself_is_not_reached(harness: AccountsHarness, web: WebServer, host: str) -> None:
    sent = await send(harness, request(f"http://{host}:{web.port}/"), own_port=web.port)
    assert (sent.state, sent.result, web.requests) == ("failed", {"error": mentions(web.port)}, [])


async def test_a_name_that_resolves_to_the_server_is_not_reached(harness: AccountsHarness, web: WebServer) -> None:
    async def resolve(_host: str, _port: int) -> tuple[str, ...]:
        return ("127.0.0.1",)

    own = OwnAddresses(web.port, "https://cairn.example.com")
    guard = OutboundGuard(AllowedHosts.of(["rebound.example.com"]), resolve, own_addresses=own)
    with pytest.raises(NotSent):
        await HttpxClient(guard).request("GET", web.url("/", "rebound.example.com"))
    assert web.requests == []


# ---- secrets -------------------------------------------------------------------------------------------
async def test_secrets_are_filled_in_and_masked_in_what_comes_back(harness: AccountsHarness, web: WebServer) -> None:
    await harness.secrets.save("token", TOKEN, ADMIN)
    await harness.secrets.save("key", "key-1234", ADMIN)
    await harness.secrets.save("number", "424242", ADMIN)

    async def echo(received: ReceivedRequest, writer: Any) -> None:
        text = received.headers["authorization"].encode()
        body = b'{"sent": %s, "header": "%s", "%s": 424242, "n": [1, true]}' % (received.body, text, text)
        await answer(200, body, Content_Type="application/json")(received, writer)

    web.on("/echo", echo)
    content = request(
        web.url("/echo"),
        headers={"authorization": "Bearer {secret:key}"},
        json={"a": "secret:token", "b": ["secret:number", "text"]},
    )
    sent = await send(harness, content)
    assert sent.result["body"] == {
        "sent": {"a": MASKED, "b": [MASKED, "text"]},
        "header": f"Bearer {MASKED}",
        f"Bearer {MASKED}": MASKED,
        "n": [1, True],
    }
    [received] = web.requests
    assert received.headers["authorization"] == "Bearer key-1234"
    assert received.body.decode() == '{"a":"sécret \\"value\\" 123","b":["424242","text"]}'
    assert content["json"]["a"] == "secret:token"


async def test_a_long_answer_is_cut_without_part_of_a_secret(harness: AccountsHarness, web: WebServer) -> None:
    await harness.secrets.save("token", "a-long-secret-value", ADMIN)
    web.on("/long", answer(200, b"x" * (64 * 1024 - 5) + b"a-long-secret-value"))
    sent = await send(harness, request(web.url("/long")))
    assert sent == SentAction("done", {"status": 200, "body": "x" * (64 * 1024 - 5), "truncated": True})


# ---- emails --------------------------------------------------------------------------------------------
async def test_an_email_is_sent_as_it_was_approved(harness: AccountsHarness) -> None:
    checksum = await harness.database.transact(lambda c: blobs.put(c, b"%PDF"))
    attachment = {"name": "receipt.pdf", "content_type": "application/pdf", "checksum": checksum, "size": 4}
    content = {**EMAIL, "cc": ["bob@example.com"], "bcc": ["carl@example.com"], "attachments": [attachment]}
    async with mail_server() as mail, sending(harness, mail) as transports:
        sent = await transports.send("send_email", content, KEY)
    assert sent == SentAction("done", {"to": ["ann@example.com"], "subject": "Hello", "server": mentions("250")})
    [envelope] = mail.mails
    assert envelope.rcpt_tos == ["ann@example.com", "bob@example.com", "carl@example.com"]
    message = message_from_bytes(envelope.content, policy=policy.default)  # pyright: ignore[reportArgumentType]
    body = message.get_body()
    assert body is not None
    assert body.get_content().strip() == "{{ amount }} secret:token"
    assert (message["To"], message["Cc"], message["Bcc"]) == ("ann@example.com", "bob@example.com", None)
    assert message["Message-ID"].startswith(f"<{KEY}@")
    assert [(part.get_filename(), part.get_content()) for part in message.iter_attachments()] == [
        ("receipt.pdf", b"%PDF")
    ]


@pytest.mark.parametrize(("response", "state"), [("550 no", "failed"), ("451 later", "failed"), ("close", "unknown")])
async def test_the_mail_server_decides_the_outcome(harness: AccountsHarness, response: str, state: str) -> None:
    async with mail_server() as mail, sending(harness, mail) as transports:
        mail.data_response = response
        sent = await transports.send("send_email", EMAIL, KEY)
    assert (sent.state, sent.result) == (state, {"error": mentions()})


async def test_an_email_without_its_attachment_is_not_sent(harness: AccountsHarness) -> None:
    attachment = {"name": "receipt.pdf", "content_type": "application/pdf", "checksum": "0" * 64, "size": 4}
    async with mail_server() as mail, sending(harness, mail) as transports:
        sent = await transports.send("send_email", {**EMAIL, "attachments": [attachment]}, KEY)
    assert (sent.state, sent.result, mail.mails) == ("failed", {"error": mentions("receipt.pdf")}, [])


async def test_emails_are_refused_without_a_mail_server(harness: AccountsHarness) -> None:
    async with sending(harness) as without, mail_server() as mail, sending(harness, mail) as configured:
        assert without.refusal(BUILT_IN["send_email"]) == mentions("CAIRN_SMTP_HOST")
        assert (await without.send("send_email", EMAIL, KEY)).state == "failed"
        assert configured.refusal(BUILT_IN["send_email"]) is None
        for action in (BUILT_IN["http_request"], BUILT_IN["financial_transaction"], ActionType("wire")):
            assert without.refusal(action) is None


async def test_other_operations_are_not_sent(harness: AccountsHarness) -> None:
    async with sending(harness) as transports:
        assert await transports.send("wire", {}, KEY) == SentAction("failed", {"error": mentions("wire")})
