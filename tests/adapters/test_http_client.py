"""What the port for requests has to do, against real servers."""

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
    pour,
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
def web() -> HttpClient:
    return HttpxClient(OutboundGuard(AllowedHosts.of(["127.0.0.0/8"]), resolve))


@pytest.fixture
async def server() -> AsyncGenerator[WebServer]:
    async with web_server() as running:
        yield running


async def test_a_request_is_made_and_answered(web: HttpClient, server: WebServer) -> None:
    server.on("/hook", answer(201, b'{"ok":true}', X_Request="7"))
    got = await web.request(
        "post", server.url("/hook?a=b", "hooks.test"), headers={"Content-Type": "application/json"}, body=b'{"x":1}'
    )
    assert got == HttpResponse(
        201, {"content-length": "11", "connection": "close", "x-request": "7"}, b'{"ok":true}', is_complete=True
    )
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/hook?a=b", b'{"x":1}')
    assert asked.headers == {
        "host": f"hooks.test:{server.port}",
        "content-type": "application/json",
        "content-length": "7",
        "accept-encoding": "identity",
        "user-agent": "Cairn",
    }


async def test_any_status_is_an_answer(web: HttpClient, server: WebServer) -> None:
    server.on("/", answer(500, b"down"))
    got = await web.request("GET", server.url())
    assert (got.status, got.body) == (500, b"down")


async def test_what_cannot_be_reached_is_surely_not_sent(web: HttpClient) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://hooks.test:{taken.getsockname()[1]}/"
        with pytest.raises(NotSent, match=r"hooks\.test") as fault:
            await web.request("POST", url)
    assert not fault.value.is_permanent
    with pytest.raises(NotSent, match=r"nobody\.test") as fault:
        await web.request("POST", "http://nobody.test./")
    assert not fault.value.is_permanent


async def test_the_next_address_is_tried_when_one_refuses(web: HttpClient, server: WebServer) -> None:
    server.on("/", answer(200, b"here"))
    assert (await web.request("POST", server.url("/", "dead-first.test"))).body == b"here"


@pytest.mark.parametrize("behave", [hang, drip], ids=["says nothing", "never ends"])
async def test_who_does_not_answer_in_time_may_have_done_it(web: HttpClient, server: WebServer, behave: object) -> None:
    server.on("/", behave)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DeliveryUnknown, match=r"hooks\.test.*\b2\b"):
        await web.request("POST", server.url("/", "hooks.test"), timeout=2)
    assert len(server.asked) == 1


@pytest.mark.parametrize("behave", [break_off, break_midway], ids=["before a word", "midway"])
async def test_who_breaks_off_may_have_done_it(web: HttpClient, server: WebServer, behave: object) -> None:
    server.on("/", behave)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DeliveryUnknown, match=r"hooks\.test"):
        await web.request("POST", server.url("/", "hooks.test"))
    assert len(server.asked) == 1


async def test_an_answer_is_read_up_to_the_limit(web: HttpClient, server: WebServer) -> None:
    server.on("/", pour)
    got = await web.request("GET", server.url(), limit=1000)
    assert (got.body, got.is_complete) == (b"x" * 1000, False)


# ---- redirects -------------------------------------------------------------------------------------------
async def test_a_redirect_is_followed_and_what_is_meant_for_one_server_is_not_told_to_another(
    web: HttpClient, server: WebServer
) -> None:
    server.on("/old", answer(307, Location="/new"))
    server.on("/new", answer(307, Location=server.url("/there", "other.test")))
    server.on("/there", answer(200, b"arrived"))
    url = server.url("/old", "hooks.test")
    got = await web.request("POST", url, headers={"X-Api-Key": "secret", "Content-Type": "text/plain"}, body=b"hello")
    assert got.body == b"arrived"
    assert [(a.path, a.headers["host"], a.headers.get("x-api-key"), a.body) for a in server.asked] == [
        ("/old", f"hooks.test:{server.port}", "secret", b"hello"),
        ("/new", f"hooks.test:{server.port}", "secret", b"hello"),
        ("/there", f"other.test:{server.port}", None, b"hello"),
    ]


async def test_a_redirect_into_the_network_is_refused_and_what_was_done_before_it_may_have_been_done(
    web: HttpClient, server: WebServer
) -> None:
    server.on("/", answer(302, Location="http://inner.test/admin"))
    with pytest.raises(DeliveryUnknown, match=r"inner\.test.*10\.0\.0\.1.*CAIRN_OUTBOUND_ALLOWED") as fault:
        await web.request("POST", server.url())
    assert fault.value.is_permanent


@pytest.mark.parametrize("to", ["file:///etc/passwd", "gopher://hooks.test/", "http://user:pass@hooks.test/"])
async def test_a_redirect_to_what_is_no_address_is_refused(web: HttpClient, server: WebServer, to: str) -> None:
    server.on("/", answer(302, Location=to))
    with pytest.raises(DeliveryUnknown):
        await web.request("GET", server.url())


async def test_redirects_end(web: HttpClient, server: WebServer) -> None:
    server.on("/", answer(302, Location="/"))
    with pytest.raises(DeliveryUnknown, match=r"\b5\b"):
        await web.request("GET", server.url())
    assert len(server.asked) == 6


# ---- where requests may go -------------------------------------------------------------------------------
PRIVATE = (
    "127.0.0.1 127.8.8.8 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 240.0.0.1 "
    "255.255.255.255 192.0.2.1 198.18.0.1 ::1 :: fe80::1 fc00::1 fd12::1 fec0::1 ff02::1 ::ffff:127.0.0.1 "
    "::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a00:1 2002:7f00:1:: 2002:a00:1:: "
    "::7f00:1 2001:db8::1"
)


@pytest.mark.parametrize("address", PRIVATE.split())
async def test_what_is_not_public_is_refused(address: str) -> None:
    async def answers(_host: str, _port: int) -> Sequence[str]:
        return (address,)

    guard = OutboundGuard(AllowedHosts(), answers)
    with pytest.raises(NotSent, match=r"CAIRN_OUTBOUND_ALLOWED"):
        await guard.addresses("hooks.test", 80)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:93.184.216.34"])
async def test_what_is_public_is_not(address: str) -> None:
    async def answers(_host: str, _port: int) -> Sequence[str]:
        return (address,)

    assert await OutboundGuard(AllowedHosts(), answers).addresses("hooks.test", 80) == (address,)


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
async def test_other_ways_to_write_this_machine_are_refused(url: str) -> None:
    """By the system's own resolver."""
    with pytest.raises(NotSent):
        await HttpxClient(OutboundGuard(AllowedHosts())).request("GET", url)


async def test_one_private_address_among_public_ones_is_enough() -> None:
    with pytest.raises(NotSent, match=r"half\.test.*10\.0\.0\.1.*CAIRN_OUTBOUND_ALLOWED"):
        await OutboundGuard(AllowedHosts(), resolve).addresses("half.test", 80)


async def test_a_name_is_asked_for_once_so_that_its_second_answer_leads_nowhere(server: WebServer) -> None:
    asked: list[str] = []

    async def rebind(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return ("127.0.0.1",) if len(asked) == 1 else ("10.0.0.1",)

    server.on("/", answer(200, b"first"))
    web = HttpxClient(OutboundGuard(AllowedHosts.of(["127.0.0.1"]), rebind))
    assert (await web.request("GET", server.url("/", "rebind.test"))).body == b"first"
    assert asked == ["rebind.test"]


async def test_an_admin_allows_a_host_or_a_network(server: WebServer) -> None:
    server.on("/", answer(200))
    for named in ("hooks.test", "HOOKS.TEST.", "127.0.0.1", "127.0.0.0/8"):
        web = HttpxClient(OutboundGuard(AllowedHosts.of([named]), resolve))
        assert (await web.request("GET", server.url("/", "hooks.test"))).status == 200
    with pytest.raises(NotSent):
        await HttpxClient(OutboundGuard(AllowedHosts.of(["other.test"]), resolve)).request(
            "GET", server.url("/", "hooks.test")
        )


# ---- what is sent ----------------------------------------------------------------------------------------
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
async def test_headers_cannot_smuggle_anything_in(web: HttpClient, server: WebServer, headers: dict[str, str]) -> None:
    with pytest.raises(NotSent) as fault:
        await web.request("POST", server.url(), headers=headers)
    assert fault.value.is_permanent
    assert server.asked == []


@pytest.mark.parametrize(
    "url",
    ["", "hooks.test", "ftp://hooks.test/", "file:///etc/passwd", "http://", "http:///x", "http://a:b@hooks.test/",
     "http://hooks.test:99999/", "http://hooks.test/\r\nX: y", "javascript:alert(1)"],
)  # fmt: skip
async def test_what_is_no_address_is_refused(web: HttpClient, url: str) -> None:
    with pytest.raises(NotSent) as fault:
        await web.request("GET", url)
    assert fault.value.is_permanent


async def test_a_method_is_a_word(web: HttpClient, server: WebServer) -> None:
    with pytest.raises(NotSent, match=r"GET / HTTP/1\.1"):
        await web.request("GET / HTTP/1.1\r\nX: y", server.url())


# ---- encryption ------------------------------------------------------------------------------------------
async def test_a_certificate_is_held_against_the_name_and_not_the_address(tmp_path: Path) -> None:
    shown, trusted = certificate(tmp_path, "hooks.test")
    async with web_server(shown) as server:
        server.on("/", answer(200, b"sealed"))
        web = HttpxClient(OutboundGuard(AllowedHosts.of(["127.0.0.0/8"]), resolve), tls=trusted)
        assert (await web.request("GET", server.url("/", "hooks.test", "https"))).body == b"sealed"
        with pytest.raises(NotSent, match=r"other\.test.*Hostname mismatch"):
            await web.request("GET", server.url("/", "other.test", "https"))
        stranger = HttpxClient(OutboundGuard(AllowedHosts.of(["127.0.0.0/8"]), resolve))
        with pytest.raises(NotSent, match="self-signed certificate"):
            await stranger.request("GET", server.url("/", "hooks.test", "https"))
        server.on("/", answer(302, Location="http://hooks.test/"))
        with pytest.raises(DeliveryUnknown):
            await web.request("GET", server.url("/", "hooks.test", "https"))


async def test_proxies_of_the_environment_do_not_lead_round_the_guard(
    web: HttpClient, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://10.0.0.1:3128")
    monkeypatch.setenv("ALL_PROXY", "http://10.0.0.1:3128")
    server.on("/", answer(200, b"direct"))
    assert (await web.request("GET", server.url("/", "hooks.test"))).body == b"direct"


async def test_addresses_are_not_logged(web: HttpClient, server: WebServer, caplog: pytest.LogCaptureFixture) -> None:
    """They often hold a token."""
    server.on("/hook", answer(200))
    with caplog.at_level("DEBUG"):
        await web.request("POST", server.url("/hook?token=very-secret", "hooks.test"), headers={"X-Key": "very-secret"})
    assert "very-secret" not in caplog.text
