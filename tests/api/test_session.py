"""Authentication: tokens, sessions, roles, and requests from other sites."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from cairn.api.operations import ADMIN
from cairn.services.errors import Unauthenticated
from cairn.store import tables as t
from tests.api.app import BASE, TOKEN, App, form
from tests.api.users import token_for

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN = {"Origin": BASE}


@asynccontextmanager
async def signed_in(app: App) -> AsyncGenerator[httpx.AsyncClient, None]:
    async with app.client_for() as client:
        answer = await client.post("/api/session", json={"token": TOKEN})
        assert answer.status_code == 200, answer.text
        yield client


async def test_health_needs_no_sign_in(app: App) -> None:
    async with app.client_for() as client:
        health = (await client.get("/api/health")).json()
    assert (health["status"], health["database"]) == ("ok", app.cairn.database.kind)


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer", "Basic YTpi", f"Token {TOKEN}", f"Bearer {TOKEN}x"])
async def test_nothing_is_returned_without_a_valid_token(app: App, header: str | None) -> None:
    async with app.client_for() as client:
        headers = {"Authorization": header} if header else {}
        answer = await client.get("/api/pipelines", headers=headers)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="cairn"')
    assert answer.json()["type"] == "urn:cairn:problem:unauthenticated"


async def test_a_session_is_a_cookie_that_scripts_cannot_read(app: App) -> None:
    async with app.client_for() as client:
        answer = await client.post("/api/session", json={"token": TOKEN})
        session = answer.json()
        assert (session["actor"], session["roles"]) == ("admin", ["viewer", "editor", "approver", "admin"])
        assert session["data_dir"] == str(app.cairn.settings.data_dir.resolve())
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("cairn_session=")
        assert {"HttpOnly", "SameSite=strict", "Path=/", "Max-Age=604800"} <= {
            part.strip() for part in cookie.split(";")
        }
        assert "Secure" not in cookie
        assert (await client.get("/api/session")).json() == session
        assert (await client.get("/api/pipelines")).status_code == 200
        assert (await client.delete("/api/session", headers=OWN)).status_code == 204
        assert (await client.get("/api/session")).status_code == 401


async def test_over_tls_the_cookie_is_secure(app: App) -> None:
    async with app.client_for(base=BASE.replace("http:", "https:")) as client:
        answer = await client.post("/api/session", json={"token": TOKEN})
    assert "Secure" in answer.headers["set-cookie"]


async def test_only_digests_are_stored(app: App) -> None:
    async with signed_in(app) as client:
        secret = client.cookies["cairn_session"]
        rows = await app.cairn.database.aread(lambda c: c.execute(sa.select(t.sessions)).all())
        assert len(secret) >= 43
        assert hashlib.sha256(secret.encode()).hexdigest() in {row.session_digest for row in rows}
        assert secret not in str(rows)


async def test_an_expired_session_is_rejected(app: App) -> None:
    async with signed_in(app) as client:
        past = sa.update(t.sessions).values(expires_at=app.cairn.clock.now())
        await app.cairn.database.transact(lambda c: c.execute(past))
        assert (await client.get("/api/session")).status_code == 401


async def test_a_session_in_use_is_extended(app: App) -> None:
    async with signed_in(app) as client:
        fresh = await client.get("/api/session")
        assert "set-cookie" not in fresh.headers
        soon = sa.update(t.sessions).values(expires_at=app.cairn.clock.now() + timedelta(days=2))
        await app.cairn.database.transact(lambda c: c.execute(soon))
        assert (await client.get("/api/pipelines")).status_code == 200
        [row] = await app.cairn.database.aread(
            lambda c: c.execute(
                sa.select(t.sessions.c.expires_at).order_by(t.sessions.c.expires_at.desc()).limit(1)
            ).all()
        )
        assert row.expires_at - app.cairn.clock.now() > timedelta(days=6)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),  # browsers always send the origin
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": BASE}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Origin": BASE}, 201),
    ],
)
async def test_a_session_works_only_from_own_pages(app: App, headers: dict[str, str], status: int) -> None:
    """CSRF."""
    async with signed_in(app) as client:
        answer = await client.post("/api/pipelines", json={"pipeline_name": "P"}, headers=headers)
        assert answer.status_code == status, answer.text
        assert (await client.get("/api/pipelines", headers={"Sec-Fetch-Site": "cross-site"})).status_code == 200


async def test_a_token_does_not_need_an_origin(app: App) -> None:
    async with signed_in(app) as client:
        headers = {"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"}
        assert (await client.post("/api/pipelines", json={"pipeline_name": "P"}, headers=headers)).status_code == 201
        assert (await client.get("/api/pipelines", headers={"Authorization": "Bearer wrong"})).status_code == 401


async def test_other_sites_cannot_sign_users_in_or_out(app: App) -> None:
    async with signed_in(app) as client:
        foreign = {"Origin": "http://evil.example"}
        assert (await client.post("/api/session", json={"token": TOKEN}, headers=foreign)).status_code == 403
        assert (await client.delete("/api/session", headers=foreign)).status_code == 403
        assert (await client.get("/api/session")).status_code == 200
    async with app.client_for() as client:
        assert (await client.delete("/api/session")).status_code == 204


async def test_other_host_names_are_rejected(app: App) -> None:
    """DNS rebinding."""
    async with app.client_for(TOKEN, base="http://evil.example") as client:
        for path in ("/api/health", "/api/pipelines", "/"):
            assert (await client.get(path)).status_code == 421


async def test_guessing_is_slowed_down(app: App) -> None:
    async with app.client_for() as client:
        client._transport = httpx.ASGITransport(app.asgi, client=("10.0.0.9", 1))  # pyright: ignore[reportPrivateUsage]
        answers = [await client.post("/api/session", json={"token": f"guess {n}"}) for n in range(12)]
        assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 2
        assert 0 < int(answers[-1].headers["retry-after"]) <= 60
        assert (await client.post("/api/session", json={"token": TOKEN})).status_code == 429
    async with app.client_for() as other:
        assert (await other.post("/api/session", json={"token": TOKEN})).status_code == 200


async def test_roles_limit_each_step_of_a_run(app: App) -> None:
    """From definition to approval."""
    pipeline = await app.pipeline(form("goals", approve="complete"))
    name = pipeline["pipeline_id"]
    viewer, editor, approver = [app.client_for(await token_for(app, r)) for r in ("viewer", "editor", "approver")]
    async with viewer, editor, approver:
        for client in (viewer, editor, approver):
            assert (await client.get(f"/api/pipelines/{name}")).status_code == 200
            assert (await client.delete(f"/api/pipelines/{name}")).status_code == 403
        for client in (viewer, approver):
            response = await client.post("/api/runs", json={"pipeline_id": name})
            assert (response.status_code, "editor" in response.json()["detail"]) == (403, True)
        run = (await editor.post("/api/runs", json={"pipeline_id": name})).json()
        assert run["created_by"] == "some-editor"
        execution = (await app.execution(run))["execution_id"]
        submit = f"/api/executions/{execution}/submit"
        assert (await viewer.post(submit, json={"fields": {"goals": "x"}})).status_code == 403
        await editor.post(submit, json={"fields": {"goals": "x"}})

        async def pending() -> Any:
            return (await app.get(f"/api/executions/{execution}"))["approval"]

        approval = await app.wait_until(pending)
        path = f"/api/approvals/{approval['approval_id']}/approve"
        for client in (viewer, editor):
            assert (await client.put(path, json={})).status_code == 403
            assert (await client.post(f"/api/executions/{execution}/approve-complete", json={})).status_code == 403
        decided = (await approver.put(path, json={})).json()
        assert [vote["by"] for vote in decided["decisions"]] == ["some-approver"]
        session = (await viewer.get("/api/session")).json()
        assert (session["roles"], session["data_dir"]) == (["viewer"], None)


async def test_only_the_newest_start_link_is_valid(app: App) -> None:
    authentication = app.cairn.authentication
    first = await authentication.local_token()
    assert await authentication.local_token(first) == first
    second = await authentication.local_token("from another data folder")
    actor = await authentication.authenticate(second)
    assert (actor.name, actor.can(ADMIN)) == ("admin", True)
    with pytest.raises(Unauthenticated):
        await authentication.authenticate(first)


async def test_an_expired_token_is_rejected(app: App) -> None:
    token = await token_for(app, "viewer", "approver")
    past = sa.update(t.api_tokens).where(t.api_tokens.c.user_name == "some-viewer-approver")
    await app.cairn.database.transact(lambda c: c.execute(past.values(expires_at=app.cairn.clock.now())))
    async with app.client_for(token) as client:
        assert (await client.get("/api/pipelines")).status_code == 401


@pytest.mark.parametrize("origin", ["http://[", "http://", "//127.0.0.1:8700", ""])
async def test_an_invalid_origin_is_rejected(app: App, origin: str) -> None:
    async with signed_in(app) as client:
        answer = await client.post("/api/pipelines", json={"pipeline_name": "P"}, headers={"Origin": origin})
        assert answer.status_code == (201 if origin == "//127.0.0.1:8700" else 403)
