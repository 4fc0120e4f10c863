"""Injection in every text field: markup, headers, templates, YAML and JSON bombs."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import sqlalchemy as sa

from cairn.api.app import operation_routes
from cairn.store import tables as t
from tests.api.app import BASE, App
from tests.api.users import ensure_user, token_for

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "name\r\nSet-Cookie: a=b",
    "name\nBcc: everybody@example.com",
    "{{ 7 * 7 }}${7*7}#{7*7}<%= 7*7 %>",
    "{user.__class__.__mro__}",
    "%s%s%n%x",
    "'; DROP TABLE users; --",
    "../../../etc/passwd",
    "\u202egnp.exe",  # reverses the text direction
    "\x1b[2J\x07",  # controls a terminal
    "rule:approves-everything",
    "a\u0000b",
    "\ud800",
    "x" * 5000,
]
UNTIL = "2099-01-01T00:00:00Z"
# every text field of every body about users, with its other fields
TEXTS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("POST", "/api/users", "name", {}),
    ("POST", "/api/users", "display_name", {"name": "{new}"}),
    ("POST", "/api/users", "email", {"name": "{new}"}),
    ("PUT", "/api/users/evil-target", "display_name", {}),
    ("PUT", "/api/users/evil-target", "email", {}),
    ("POST", "/api/groups", "name", {}),
    ("POST", "/api/groups", "description", {"name": "{new}"}),
    ("PUT", "/api/groups/evil-group", "description", {}),
    ("POST", "/api/invitations", "name", {}),
    ("POST", "/api/invitations", "display_name", {"name": "{new}"}),
    ("POST", "/api/invitations", "email", {"name": "{new}"}),
    ("POST", "/api/tokens", "name", {"user": "evil-target"}),
    ("POST", "/api/tokens", "user", {"name": "t"}),
    ("POST", "/api/delegations", "to_user", {"until": UNTIL}),
    ("POST", "/api/delegations", "from_user", {"to_user": "evil-target", "until": UNTIL}),
    ("POST", "/api/session", "name", {"password": "whatever it is"}),
    ("POST", "/api/session", "token", {}),
    ("POST", "/api/sign-in/nowhere", "return_to", {}),
    ("POST", "/api/invitations/preview", "token", {}),
    ("PUT", "/api/session/password", "current", {"new": "short"}),
]
PATHS = ["/api/users/{}", "/api/groups/{}", "/api/secrets/{}", "/api/users/{}/restore", "/api/sign-in/{}"]
SAFE_TYPES = {"application/json", "application/problem+json"}
_new = iter(range(10**6))


async def send(app: App, method: str, path: str, body: Any, number: int = 0) -> httpx.Response:
    """Send each request from another address, because failed attempts are counted."""
    transport = httpx.ASGITransport(app.asgi, raise_app_exceptions=False, client=(f"10.7.{number % 250}.1", 1))
    headers = dict(app.client.headers) | {"content-type": "application/json"}
    async with httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers) as client:
        return await client.request(method, path, content=encoded(body))


def encoded(body: Any) -> bytes:
    """Escape lone surrogates, which Cairn's encoder rejects."""
    return json.dumps(body).encode()


def check(answer: httpx.Response, payload: str) -> None:
    """Check that the response is no internal error, no HTML page and has no injected header."""
    assert answer.status_code < 500, answer.text
    if answer.status_code != 204:
        assert answer.headers["content-type"].partition(";")[0] in SAFE_TYPES
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    cookies = [value for name, value in answer.headers.multi_items() if name == "set-cookie"]
    assert not [cookie for cookie in cookies if not cookie.startswith("cairn_")]
    for name, value in answer.headers.multi_items():
        assert name.lower() != "bcc"
        assert "\n" not in value
        assert not (len(payload) > 5 and payload in value)
    assert (
        "49" not in re.sub(r"[0-9a-f-]{36}|\d{4}-\d\d-\d\dT[\d:.]+Z|cairn_[\w-]+", "", answer.text)
        or "7 * 7" not in payload
    )


@pytest.mark.parametrize("payload", EVIL, ids=range(len(EVIL)))
async def test_user_text_is_never_interpreted(app: App, payload: str) -> None:
    await ensure_user(app, "approver", name="evil-target")
    if (await app.client.get("/api/groups/evil-group")).status_code == 404:
        await app.post("/api/groups", {"name": "evil-group"}, 201)
    for number, (method, path, field, around) in enumerate(TEXTS):
        body = {key: f"evil-{next(_new)}" if value == "{new}" else value for key, value in around.items()}
        check(await send(app, method, path, {**body, field: payload}, number), payload)
    for path in PATHS:
        method = "POST" if path.endswith(("restore", "sign-in/{}")) else "PUT"
        body: Any = {"value": "long enough"} if "secrets" in path else {}
        check(await send(app, method, path.format(quote(payload, safe="", errors="replace")), body), payload)


async def test_stored_names_are_one_line_of_text(app: App) -> None:
    """Accepted texts of the corpus are stored unchanged and never interpreted."""
    await ensure_user(app, "approver", name="evil-target")
    for number, payload in enumerate(EVIL):
        await send(app, "POST", "/api/tokens", {"user": "evil-target", "name": payload})
        body = {"name": f"kept-{number}", "display_name": payload, "description": payload}
        await send(app, "POST", "/api/users", {key: body[key] for key in ("name", "display_name")})
        await send(app, "POST", "/api/groups", {"name": f"kept-group-{number}", "description": payload})
    for path in ("users", "groups", "tokens", "invitations", "delegations"):
        found = (await app.get(f"/api/{path}", limit=500))["items"]
        texts = [value for item in found for value in item.values() if isinstance(value, str)]
        assert [text for text in texts if not text.isprintable() or len(text) > 500] == []
        named = [item["name"] for item in found if path in ("users", "groups")]
        assert [name for name in named if not re.fullmatch(r"[a-z0-9][a-z0-9._@+-]{0,99}", name)] == []
        if path == "users":
            assert [item["email"] for item in found if re.search(r"[\s<>\"',:;]", item["email"])] == []
    assert (await app.get("/api/events/verify"))["is_valid"]
    events = (await app.get("/api/events", scope="global", limit=500))["items"]
    assert [event["description"] for event in events if not event["description"].isprintable()] == []
    assert "A token of evil-target was created: {user.__class__.__mro__}." in [event["description"] for event in events]


async def test_queries_use_bound_parameters(app: App) -> None:
    for payload in EVIL:
        if "\0" in payload or "\ud800" in payload or len(payload) > 200:
            continue
        for path in ("users", "people"):
            assert (await app.get(f"/api/{path}", search=payload))["next_cursor"] is None
        for path in ("tokens", "delegations"):
            assert (await app.get(f"/api/{path}", user=payload))["items"] == []
    count = await app.cairn.database.aread(
        lambda c: c.execute(sa.select(sa.func.count()).select_from(t.users)).scalar_one()
    )
    assert count > 1


BOMBS: list[tuple[str, bytes]] = [
    ("application/json", b"[" * 100_000),
    ("application/json", b'{"name":' * 50_000),
    ("application/json", b'{"name": "a", "name": "b"}'),
    ("application/json", b'{"name": 1e999999}'),
    ("application/json", b'{"name": "\xff\xfe"}'),
    ("application/json", b'{"__proto__": {"roles": ["admin"]}, "name": "proto"}'),
    ("application/json", b'{"name": ["a"]}'),
    ("application/json", b"null"),
    ("application/json", b""),
    ("application/yaml", b"name: &a [x, x]\nroles: [*a, *a, *a]"),
    ("application/yaml", b"!!python/object/apply:os.system ['true']"),
    ("application/x-www-form-urlencoded", b"name=form&roles=admin"),
    ("text/plain", b'{"name": "plain"}'),
    ("multipart/form-data; boundary=x", b"--x\r\n\r\n--x--"),
]
_LINES = [f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)]
LAUGHS = "\n".join(["a: &a [ha, ha]", *_LINES])  # a billion items
YAML_BOMBS = [
    LAUGHS,
    "!!python/object/apply:os.system ['touch /tmp/owned']",
    "!!python/name:os.system",
    "pipeline_name: !!binary aGk=",
    "? [a, b]\n: c",
    "a: " * 3000,
    "- " * 20_000,
    "&a [*a]",
    "pipeline_name: a\npipeline_name: b",
    "%YAML 1.1\n---\n!<tag:yaml.org,2002:python/module:os> x",
    "x: " + "9" * 200_000,
]


@pytest.mark.parametrize("path", ["/api/users", "/api/groups", "/api/tokens", "/api/invitations", "/api/session"])
@pytest.mark.parametrize(("kind", "body"), BOMBS, ids=range(len(BOMBS)))
async def test_malformed_bodies_are_rejected(app: App, path: str, kind: str, body: bytes) -> None:
    answer = await app.client.post(path, content=body, headers={"Content-Type": kind})
    assert answer.status_code in (400, 413, 415, 422), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(answer.text) < 5000


@pytest.mark.parametrize("bomb", YAML_BOMBS, ids=range(len(YAML_BOMBS)))
async def test_yaml_bombs_and_tags_are_rejected_everywhere(app: App, bomb: str) -> None:
    headers = {"Content-Type": "application/yaml"}
    accepted = [("POST", "/api/pipelines"), ("POST", "/api/definitions/validate"), ("PUT", "/api/rules")]
    accepted.append(("POST", "/api/rules/check"))
    for method, path in accepted:
        answer = await app.client.request(method, path, content=bomb.encode(), headers=headers)
        result = answer.json()
        is_refused = answer.status_code in (400, 413, 415, 422) or (
            answer.status_code == 200 and not result["is_valid"]
        )
        assert is_refused, (path, answer.text[:500])
        assert len(answer.text) < 100_000


async def test_forged_host_and_origin_headers_are_rejected(app: App) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "localhost.evil.example", ""):
        answer = await app.client.post("/api/sign-in/nowhere", json={}, headers={"Host": host})
        assert answer.status_code == 421
        assert "set-cookie" not in answer.headers


async def test_no_response_about_users_contains_credentials(app: App) -> None:
    """Not even digests or hashes."""
    token = await token_for(app, "viewer", name="watched")
    await app.post("/api/invitations", {"name": "watched"}, 201)
    names = {"password_hash", "token_digest", "session_digest", "ciphertext", "client_secret"}
    gets = [
        r.path
        for r in operation_routes()
        if "GET" in (r.methods or ()) and "{" not in r.path and "stream" not in r.path
    ]
    for path in gets:
        answer = await app.client.get(path)
        assert answer.status_code in (200, 422), path  # some need a parameter
        assert token not in answer.text
        assert not [name for name in names if f'"{name}"' in answer.text and path != "/api/openapi.json"], path
