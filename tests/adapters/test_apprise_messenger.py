"""Short texts to services that apprise knows: sent to where they may go, and nothing is read of the machine."""

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


async def test_a_text_is_sent_and_its_address_is_not_logged(
    server: WebServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.on("/message", answer(200, b"{}"))
    messenger = AppriseMessenger(OutboundGuard(AllowedHosts.of(["127.0.0.1"])))
    assert messenger.check(gotify(server)) == "Gotify"
    with caplog.at_level("DEBUG"):
        await messenger.send(gotify(server), "Title", "Text <b>&</b>")
    assert "AbCdEf" not in caplog.text
    (asked,) = server.asked
    assert (asked.method, b"Title" in asked.body, b"Text" in asked.body) == ("POST", True, True)


async def test_what_is_not_taken_is_told(server: WebServer) -> None:
    server.on("/message", answer(500))
    with pytest.raises(NotSent, match="Gotify"):
        await AppriseMessenger(OutboundGuard(AllowedHosts.of(["127.0.0.1"]))).send(gotify(server), "Title", "Text")


async def test_what_is_inside_the_network_is_refused(server: WebServer) -> None:
    with pytest.raises(NotSent, match=r"127\.0\.0\.1.*CAIRN_OUTBOUND_ALLOWED"):
        await AppriseMessenger(OutboundGuard(AllowedHosts())).send(gotify(server), "Title", "Text")
    assert server.asked == []


async def test_a_redirect_is_not_followed(server: WebServer) -> None:
    server.on("/message", answer(307, Location="/elsewhere"))
    server.on("/elsewhere", answer(200, b"{}"))
    with pytest.raises(NotSent):
        await AppriseMessenger(OutboundGuard(AllowedHosts.of(["127.0.0.1"]))).send(gotify(server), "Title", "Text")
    assert [asked.path for asked in server.asked] == ["/message"]


@pytest.mark.parametrize(
    "address", ["", "nonsense", "file:///etc/passwd", "json://localhost/", "syslog://", "macosx://"]
)
async def test_what_is_no_service_is_refused(address: str) -> None:
    messenger = AppriseMessenger(OutboundGuard(AllowedHosts()))
    with pytest.raises(NotSent) as fault:
        messenger.check(address)
    assert fault.value.is_permanent
