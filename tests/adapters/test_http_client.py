"""The contract of the HTTP client, tested against real servers."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from cairn.adapters.http_client import HttpxClient
from cairn.adapters.outbound_guard import AllowedHosts, OutboundGuard
from cairn.ports import DeliveryUnknown, HttpClient, HttpResponse, NotSent
from tests.adapters.servers import (
    WebServer,
    answer,
    break_midway,
    break_off,
    certificate,
    drip,
    hang,
    send_endlessly,
    web_server,
)

NAMES = {
    "hooks.test": ("127.0.0.1",),
    "other.test": ("127.0.0.1",),
    "localhost": ("127.0.0.1",),
    "inner.test": ("10.0.0.1",),
    "half.test": ("93.184.216.34", "10.0.0.1"),
    "dead-first.test": ("127.0.0.2", "127.0.0.1"),
}


async def resolve(host: str, _port: int) -> Sequence[str]:
    if host in NAMES:
        return NAMES[host]
    if host[:1].isdigit():
        return (host,)
    raise socket.gaierror(-2, "Name or service not known")


@pytest.fixture
def client() -> HttpClient:
    return HttpxClient(OutboundGuard(AllowedHosts.of(["127.0.0.0/8"]), resolve))


@pytest.fixture
async def server() -> AsyncGenerator[WebServer]:
    async with web_server() as running:
        yield running


async def test_a_request_is_sent_and_its_response_returned(client: HttpClient, server: WebServer) -> None:
    server.on("/hook", answer(201, b'{"ok":true}', X_Request="7"))
    response = await client.request(
        "post", server.url("/hook?a=b", "hooks.test"), headers={"Content-Type": "application/json"}, body=b'{"x":1}'
    )
    assert response == HttpResponse(
        201, {"content-length": "11", "connection": "close", "x-request": "7"}, b'{"ok":true}', is_complete=True
    )
    (request,) = server.requests
    assert (request.method, request.path, request.body) == ("POST", "/hook?a=b", b'{"x":1}')
    assert request.headers == {
        "host": f"hooks.test:{server.port}",
        "content-type": "application/json",
        "content-length": "7",
        "accept-encoding": "identity",
        "user-agent": "Cairn",
    }


async def test_a_response_with_any_status_is_returned(client: HttpClient, server: WebServer) -> None:
    server.on("/", answer(500, b"down"))
    response = await client.request("GET", server.url())
    assert (response.status, response.body) == (500, b"down")


async def test_an_unreachable_host_is_reported_as_not_sent(client: HttpClient) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://hooks.test:{unused.getsockname()[1]}/"
        with pytest.raises(NotSent, match=r"hooks\.test") as error:
            await client.request("POST", url)
    assert not error.value.is_permanent
    with pytest.raises(NotSent, match=r"nobody\.test") as error:
        await client.request("POST", "http://nobody.test./")
    assert not error.value.is_permanent


async def test_the_next_address_is_used_when_one_refuses(client: HttpClient, server: WebServer) -> None:
    server.on("/", answer(200, b"here"))
    assert (await client.request("POST", server.url("/", "dead-first.test"))).body == b"here"


@pytest.mark.parametrize("behave", [hang, drip], ids=["no response", "endless response"])
async def test_after_a_timeout_the_outcome_is_unknown(client: HttpClient, server: WebServer, behave: object) -> None:
    server.on("/", behave)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DeliveryUnknown, match=r"hooks\.test.*\b2\b"):
        await client.request("POST", server.url("/", "hooks.test"), timeout=2)
    assert len(server.requests) == 1


@pytest.mark.parametrize("behave", [break_off, break_midway], ids=["before the response", "during the response"])
async def test_after_a_lost_connection_the_outcome_is_unknown(
    client: HttpClient, server: WebServer, behave: object
) -> None:
    server.on("/", behave)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DeliveryUnknown, match=r"hooks\.test"):
        await client.request("POST", server.url("/", "hooks.test"))
    assert len(server.requests) == 1


async def test_the_body_is_truncated_at_the_limit(client: HttpClient, server: WebServer) -> None:
    server.on("/", send_endlessly)
    response = await client.request("GET", server.url(), limit=1000)
    assert (response.body, response.is_complete) == (b"x" * 1000, False)


# ---- redirects -------------------------------------------------------------------------------------------
async def test_a_redirect_to_another_host_does_not_forward_secret_headers(
    client: HttpClient, server: WebServer
) -> None:
    server.on("/old", answer(307, Location="/new"))
    server.on("/new", answer(307, Location=server.url("/there", "other.test")))
    server.on("/there", answer(200, b"arrived"))
    url = server.url("/old", "hooks.test")
    response = await client.request(
        "POST", url, headers={"X-Api-Key": "secret", "Content-Type": "text/plain"}, body=b"hello"
    )
    assert response.body == b"arrived"
    assert [(a.path, a.headers["host"], a.headers.get("x-api-key"), a.body) for a in server.requests] == [
        ("/old", f"hooks.test:{server.port}", "secret", b"hello"),
        ("/new", f"hooks.test:{server.port}", "secret", b"hello"),
        ("/there", f"other.test:{server.port}", None, b"hello"),
    ]


async def test_after_a_rejected_redirect_the_outcome_is_unknown(client: HttpClient, server: WebServer) -> None:
    server.on("/", answer(302, Location="http://inner.test/admin"))
    with pytest.raises(DeliveryUnknown, match=r"inner\.test.*10\.0\.0\.1.*CAIRN_OUTBOUND_ALLOWED") as error:
        await client.request("POST", server.url())
    assert error.value.is_permanent


@pytest.mark.parametrize("to", ["file:///etc/passwd", "gopher://hooks.test/", "http://user:pass@hooks.test/"])
async def test_a_redirect_to_an_unsupported_url_is_rejected(client: HttpClient, server: WebServer, to: str) -> None:
    server.on("/", answer(302, Location=to))
    with pytest.raises(DeliveryUnknown):
        await client.request("GET", server.url())


async def test_endless_redirects_are_rejected(client: HttpClient, server: WebServer) -> None:
    server.on("/", answer(302, Location="/"))
    with pytest.raises(DeliveryUnknown, match=r"\b5\b"):
        await client.request("GET", server.url())
    assert len(server.requests) == 6


# ---- allowed addresses -----------------------------------------------------------------------------------
PRIVATE = (
    "127.0.0.1 127.8.8.8 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 240.0.0.1 "
    "255.255.255.255 192.0.2.1 198.18.0.1 ::1 :: fe80::1 fc00::1 fd12::1 fec0::1 ff02::1 ::ffff:127.0.0.1 "
    "::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a00:1 2002:7f00:1:: 2002:a00:1:: "
    "::7f00:1 2001:db8::1"
)


@pytest.mark.parametrize("address", PRIVATE.split())
async def test_private_addresses_are_rejected(address: str) -> None:
    async def resolve_to_address(_host: str, _port: int) -> Sequence[str]:
        return (address,)

    guard = OutboundGuard(AllowedHosts(), resolve_to_address)
    with pytest.raises(NotSent, match=r"CAIRN_OUTBOUND_ALLOWED"):
        await guard.addresses("hooks.test", 80)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:93.184.216.34"])
async def test_public_addresses_are_allowed(address: str) -> None:
    async def resolve_to_address(_host: str, _port: int) -> Sequence[str]:
        return (address,)

    assert await OutboundGuard(AllowedHosts(), resolve_to_address).addresses("hooks.test", 80) == (address,)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:7f00:1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://0177.0.0.1/",
    ],
)
async def test_other_spellings_of_localhost_are_rejected(url: str) -> None:
    """This test uses the system's resolver."""
    with pytest.raises(NotSent):
        await HttpxClient(OutboundGuard(AllowedHosts())).request("GET", url)


async def test_a_host_with_one_private_address_is_rejected() -> None:
    with pytest.raises(NotSent, match=r"half\.test.*10\.0\.0\.1.*CAIRN_OUTBOUND_ALLOWED"):
        await OutboundGuard(AllowedHosts(), resolve).addresses("half.test", 80)


async def test_a_host_is_resolved_once_so_that_dns_rebinding_has_no_effect(server: WebServer) -> None:
    resolved: list[str] = []

    async def rebind(host: str, _port: int) -> Sequence[str]:
        resolved.append(host)
        return ("127.0.0.1",) if len(resolved) == 1 else ("10.0.0.1",)

    server.on("/", answer(200, b"first"))
    client = HttpxClient(OutboundGuard(AllowedHosts.of(["127.0.0.1"]), rebind))
    assert (await client.request("GET", server.url("/", "rebind.test"))).body == b"first"
    assert resolved == ["rebind.test"]


async def test_an_admin_can_allow_hosts_and_networks(server: WebServer) -> None:
    server.on("/", answer(200))
    for allowed in ("hooks.test", "HOOKS.TEST.", "127.0.0.1", "127.0.0.0/8"):
        client = HttpxClient(OutboundGuard(AllowedHosts.of([allowed]), resolve))
        assert (await client.request("GET", server.url("/", "hooks.test"))).status == 200
    with pytest.raises(NotSent):
        await HttpxClient(OutboundGuard(AllowedHosts.of(["other.test"]), resolve)).request(
            "GET", server.url("/", "hooks.test")
        )


# ---- invalid input ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "headers",
    [
        {"X-Note": "a\r\nX-Other: b"},
        {"X-Note": "a\nb"},
        {"X-Note": "a\0b"},
        {"X-Note: x\r\nX-Other": "b"},
        {"X Note": "b"},
        {"": "b"},
        {"X-Note": "ü"},
        {"Host": "inner.test"},
        {"Content-Length": "0"},
        {"transfer-encoding": "chunked"},
    ],
)
async def test_invalid_headers_are_rejected(client: HttpClient, server: WebServer, headers: dict[str, str]) -> None:
    with pytest.raises(NotSent) as error:
        await client.request("POST", server.url(), headers=headers)
    assert error.value.is_permanent
    assert server.requests == []


@pytest.mark.parametrize(
    "url",
    ["", "hooks.test", "ftp://hooks.test/", "file:///etc/passwd", "http://", "http:///x", "http://a:b@hooks.test/",
     "http://hooks.test:99999/", "http://hooks.test/\r\nX: y", "javascript:alert(1)"],
)  # fmt: skip
async def test_invalid_urls_are_rejected(client: HttpClient, url: str) -> None:
    with pytest.raises(NotSent) as error:
        await client.request("GET", url)
    assert error.value.is_permanent


async def test_an_invalid_method_is_rejected(client: HttpClient, server: WebServer) -> None:
    with pytest.raises(NotSent, match=r"GET / HTTP/1\.1"):
        await client.request("GET / HTTP/1.1\r\nX: y", server.url())


# ---- encryption ------------------------------------------------------------------------------------------
async def test_the_certificate_is_checked_against_the_host_name(tmp_path: Path) -> None:
    server_tls, client_tls = certificate(tmp_path, "hooks.test")
    async with web_server(server_tls) as server:
        server.on("/", answer(200, b"sealed"))
        client = HttpxClient(OutboundGuard(AllowedHosts.of(["127.0.0.0/8"]), resolve), tls=client_tls)
        assert (await client.request("GET", server.url("/", "hooks.test", "https"))).body == b"sealed"
        with pytest.raises(NotSent, match=r"other\.test.*Hostname mismatch"):
            await client.request("GET", server.url("/", "other.test", "https"))
        client_without_ca = HttpxClient(OutboundGuard(AllowedHosts.of(["127.0.0.0/8"]), resolve))
        with pytest.raises(NotSent, match="self-signed certificate"):
            await client_without_ca.request("GET", server.url("/", "hooks.test", "https"))
        server.on("/", answer(302, Location="http://hooks.test/"))
        with pytest.raises(DeliveryUnknown):
            await client.request("GET", server.url("/", "hooks.test", "https"))


async def test_proxies_from_the_environment_are_ignored(
    client: HttpClient, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://10.0.0.1:3128")
    monkeypatch.setenv("ALL_PROXY", "http://10.0.0.1:3128")
    server.on("/", answer(200, b"direct"))
    assert (await client.request("GET", server.url("/", "hooks.test"))).body == b"direct"


async def test_urls_are_not_logged(client: HttpClient, server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    """URLs often contain a token."""
    server.on("/hook", answer(200))
    with caplog.at_level("DEBUG"):
        await client.request(
            "POST", server.url("/hook?token=very-secret", "hooks.test"), headers={"X-Key": "very-secret"}
        )
    assert "very-secret" not in caplog.text
