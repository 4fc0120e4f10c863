"""Host names of the server and headers of its responses."""

from __future__ import annotations

import httpx
import pytest

from cairn.api.middleware import CONTENT_POLICY, PAGE_POLICY, KnownHosts
from tests.api.test_problems import app_raising, get


async def nothing(*_: object) -> None:
    """An empty application."""


@pytest.mark.parametrize(
    ("host", "is_known"),
    [
        ("localhost", True),
        ("localhost:8700", True),
        ("LOCALHOST:8700", True),
        ("127.0.0.1:8700", True),
        ("[::1]:8700", True),
        ("192.168.1.7", True),  # attackers cannot point an IP address at this server
        ("cairn.example", True),
        ("Cairn.Example:443", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
    ],
)
def test_only_configured_host_names_are_accepted(host: str, is_known: bool) -> None:
    assert KnownHosts(nothing, ["cairn.example"]).knows(host) is is_known


def test_a_star_accepts_every_host_name() -> None:
    assert KnownHosts(nothing, ["*"]).knows("anything.example")


async def test_an_unknown_host_name_is_rejected_with_the_setting() -> None:
    app = app_raising(RuntimeError())
    app.middleware_stack = None
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://evil.example") as client:
        response = await client.get("/api/thing")
    assert response.status_code == 421
    assert "CAIRN_ALLOWED_HOSTS" in response.json()["detail"]


async def test_every_response_has_security_headers() -> None:
    headers = (await get(app_raising(RuntimeError()), "/api/nothing")).headers
    security_headers = {
        name: headers[name] for name in ("x-content-type-options", "referrer-policy", "x-frame-options")
    }
    assert security_headers == {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
    }
    assert headers["content-security-policy"] == PAGE_POLICY
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "strict-transport-security" not in headers


async def test_responses_over_tls_set_hsts() -> None:
    transport = httpx.ASGITransport(app_raising(RuntimeError()), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="https://127.0.0.1") as client:
        headers = (await client.get("/api/nothing")).headers
    assert headers["strict-transport-security"] == "max-age=31536000"


def test_pages_run_only_their_own_scripts_and_cannot_be_framed() -> None:
    assert "script-src 'self';" in PAGE_POLICY
    assert "frame-ancestors 'none'" in PAGE_POLICY
    assert "default-src 'none'" in PAGE_POLICY
    assert "unsafe-eval" not in PAGE_POLICY
    assert CONTENT_POLICY.startswith("sandbox;")
