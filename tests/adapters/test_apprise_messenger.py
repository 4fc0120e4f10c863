"""Messages through apprise: sent to allowed addresses only, without access to local files."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from cairn.adapters.apprise_messenger import AppriseMessenger
from cairn.adapters.outbound_guard import AllowedHosts, OutboundGuard
from cairn.ports import NotSent
from tests.adapters.servers import WebServer, answer, web_server


@pytest.fixture
async def server() -> AsyncGenerator[WebServer]:
    async with web_server() as running:
        yield running


def gotify(server: WebServer) -> str:
    return f"gotify://127.0.0.1:{server.port}/AbCdEfGhIjKlMnO"


async def test_a_message_is_sent_and_its_address_is_not_logged(
    server: WebServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.on("/message", answer(200, b"{}"))
    messenger = AppriseMessenger(OutboundGuard(AllowedHosts.of(["127.0.0.1"])))
    assert messenger.check(gotify(server)) == "Gotify"
    with caplog.at_level("DEBUG"):
        await messenger.send(gotify(server), "Title", "Text <b>&</b>")
    assert "AbCdEf" not in caplog.text
    (request,) = server.requests
    assert (request.method, b"Title" in request.body, b"Text" in request.body) == ("POST", True, True)


async def test_a_rejected_message_is_reported(server: WebServer) -> None:
    server.on("/message", answer(500))
    with pytest.raises(NotSent, match="Gotify"):
        await AppriseMessenger(OutboundGuard(AllowedHosts.of(["127.0.0.1"]))).send(gotify(server), "Title", "Text")


async def test_private_addresses_are_rejected(server: WebServer) -> None:
    with pytest.raises(NotSent, match=r"127\.0\.0\.1.*CAIRN_OUTBOUND_ALLOWED"):
        await AppriseMessenger(OutboundGuard(AllowedHosts())).send(gotify(server), "Title", "Text")
    assert server.requests == []


async def test_a_redirect_is_not_followed(server: WebServer) -> None:
    server.on("/message", answer(307, Location="/elsewhere"))
    server.on("/elsewhere", answer(200, b"{}"))
    with pytest.raises(NotSent):
        await AppriseMessenger(OutboundGuard(AllowedHosts.of(["127.0.0.1"]))).send(gotify(server), "Title", "Text")
    assert [request.path for request in server.requests] == ["/message"]


@pytest.mark.parametrize(
    "address", ["", "nonsense", "file:///etc/passwd", "json://localhost/", "syslog://", "macosx://"]
)
async def test_unknown_services_are_rejected(address: str) -> None:
    messenger = AppriseMessenger(OutboundGuard(AllowedHosts()))
    with pytest.raises(NotSent) as error:
        messenger.check(address)
    assert error.value.is_permanent
