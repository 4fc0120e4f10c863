"""Users, groups, invitations, tokens, sessions, delegations and secrets over HTTP."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from cairn.services.view import write_instant
from cairn.store import tables as t
from tests.api.app import BASE, TOKEN, App, Json
from tests.api.users import ensure_user, token_for
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN = {"Origin": BASE}
PASSWORD = "several plain words"


async def invited(app: App, name: str, *roles: str, **more: Any) -> Json:
    return await app.post("/api/invitations", {"name": name, "roles": list(roles), **more}, 201)


@asynccontextmanager
async def accepted(app: App, name: str, *roles: str, **more: Any) -> AsyncGenerator[httpx.AsyncClient]:
    """Create a user with a password and a signed-in client."""
    body = {"token": (await invited(app, name, *roles, **more))["token"], "password": PASSWORD}
    async with app.client_for() as client:
        answer = await client.post("/api/invitations/accept", json=body)
        assert answer.status_code == 200, answer.text
        client.headers.update(OWN)
        yield client


async def recorded_events(app: App, *types: str) -> list[tuple[str, str, Json]]:
    found = await app.get("/api/events", scope="global", event_type=list(types))
    assert (await app.get("/api/events/verify"))["is_valid"]
    return [(event["event_type"], event["actor"], event["metadata"]) for event in found["items"][::-1]]


# ---- users and groups ------------------------------------------------------------------------------------
async def test_a_user_is_created_updated_removed_and_restored(app: App) -> None:
    await app.post("/api/groups", {"name": "Buyers", "description": "Who buys"}, 201)
    body = {"name": "Pat", "display_name": "Pat P", "email": "Pat@Example.com", "roles": ["viewer"]}
    created = await app.post("/api/users", body | {"groups": ["buyers"]}, 201)
    assert created == {
        "name": "pat",
        "display_name": "Pat P",
        "email": "pat@example.com",
        "roles": ["viewer"],
        "groups": ["buyers"],
        "has_password": False,
        "providers": [],
        "is_invited": False,
        "created_at": created["created_at"],
        "created_by": "admin",
        "last_signed_in_at": None,
        "deleted_at": None,
    }
    assert await app.get("/api/users/PAT") == created
    changed = await app.put("/api/users/pat", {"roles": ["editor", "approver"], "groups": []})
    assert (changed["roles"], changed["groups"], changed["email"]) == (["editor", "approver"], [], "pat@example.com")
    removed = (await app.client.delete("/api/users/pat")).json()
    assert removed["deleted_at"] is not None
    assert "pat" not in [user["name"] for user in (await app.get("/api/users"))["items"]]
    assert "pat" in [user["name"] for user in (await app.get("/api/users", deleted=True))["items"]]
    assert (await app.put("/api/users/pat", {"roles": []}, 409))["suggestions"] == ["restore"]
    assert (await app.post("/api/users/pat/restore"))["roles"] == ["editor", "approver"]
    assert await recorded_events(app, "user_created", "user_updated", "user_deleted", "user_restored") == [
        ("user_created", "admin", {"user": "pat", "roles": ["viewer"], "groups": ["buyers"]}),
        (
            "user_updated",
            "admin",
            {"user": "pat", "changed_fields": ["roles"], "roles": ["approver", "editor"], "earlier_roles": ["viewer"]},
        ),
        ("user_deleted", "admin", {"user": "pat"}),
        ("user_restored", "admin", {"user": "pat", "roles": ["approver", "editor"]}),
    ]


async def test_user_lists_are_paged_and_searched(app: App) -> None:
    for number in range(5):
        await ensure_user(app, name=f"page-{number}")
    names: list[str] = []
    cursor = None
    while True:
        found = await app.get("/api/users", limit=2, search="page-", **({"cursor": cursor} if cursor else {}))
        names += [user["name"] for user in found["items"]]
        if (cursor := found["next_cursor"]) is None:
            break
    assert names == [f"page-{number}" for number in range(5)]
    assert (await app.get("/api/users", search="page_"))["items"] == []  # not a wildcard
    for path in ("people", "users", "groups", "invitations", "tokens", "sessions", "delegations", "secrets"):
        found = await app.get(f"/api/{path}", limit=1)
        assert set(found) == {"items", "next_cursor"}
        assert len(found["items"]) <= 1


async def test_everyone_sees_names_and_only_admins_see_more(app: App) -> None:
    await ensure_user(app, "approver", name="decider")
    async with app.client_for(await token_for(app, "viewer")) as viewer:
        people = (await viewer.get("/api/people", params={"search": "decid"})).json()["items"]
        assert people == [{"name": "decider", "display_name": "decider", "groups": [], "can_decide": True}]
        for path in ("users", "users/decider", "tokens", "invitations", "secrets"):
            assert (await viewer.get(f"/api/{path}")).status_code == 403


async def test_the_local_admin_keeps_the_admin_role(app: App) -> None:
    assert (await app.put("/api/users/admin", {"roles": ["viewer"]}, 409))["type"] == "urn:cairn:problem:conflict"
    assert (await app.client.delete("/api/users/admin")).status_code == 409
    assert (await app.get("/api/users/admin"))["roles"] == ["viewer", "editor", "approver", "admin"]


TOMORROW = int(time.time()) + 24 * 3600  # in seconds since 1970, which is not a valid time


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("/api/users", {"name": "no roles like this", "roles": []}, "/name"),
        ("/api/users", {"name": "fine", "roles": ["king"]}, "/roles/0"),
        ("/api/users", {"name": "fine", "groups": ["no-such"]}, "/groups"),
        ("/api/users", {"name": "fine", "email": "nowhere"}, "/email"),
        ("/api/users", {"name": "fine", "password": "of my own"}, "/password"),
        ("/api/users", {}, "/name"),
        ("/api/groups", {"name": "fine", "members": ["no-such"]}, "/members"),
        ("/api/groups", {"name": "editor"}, "/name"),
        ("/api/tokens", {"name": ""}, "/name"),
        ("/api/tokens", {"name": "local"}, "/name"),
        ("/api/tokens", {"name": "x", "scopes": []}, "/scopes"),
        ("/api/tokens", {"name": "x", "scopes": ["everything"]}, "/scopes/0"),
        ("/api/tokens", {"name": "x", "valid_days": 0}, "/valid_days"),
        ("/api/delegations", {"to_user": "admin", "ends_at": "2099-01-01T00:00:00Z"}, "/to_user"),
        ("/api/delegations", {"to_user": "other", "ends_at": "2020-01-01T00:00:00Z"}, "/ends_at"),
        ("/api/delegations", {"to_user": "other", "ends_at": "2099-01-01T00:00:00"}, "/ends_at"),
        ("/api/delegations", {"to_user": "other", "ends_at": TOMORROW}, "/ends_at"),
        ("/api/delegations", {"to_user": "other", "ends_at": str(TOMORROW)}, "/ends_at"),
        ("/api/delegations", {"to_user": "other", "ends_at": "2099-01-01T00:00:00Z"}, "/ends_at"),
        ("/api/invitations/accept", {"token": "x", "password": 5}, "/password"),
    ],
)
async def test_invalid_fields_are_reported_with_their_path(app: App, path: str, body: Json, where: str) -> None:
    answer = await app.post(path, body, 422)
    assert where in [error["path"] for error in answer["errors"]], answer


# ---- invitations -----------------------------------------------------------------------------------------
async def test_an_invitation_works_once(app: App) -> None:
    created = await invited(app, "guest", "approver", email="guest@example.com", valid_hours=2)
    assert created["path"] == f"/welcome#invitation={created['token']}"
    assert "token" not in (await app.get("/api/invitations"))["items"][0]
    async with app.client_for() as client:
        welcome = (await client.post("/api/invitations/preview", json={"token": created["token"]})).json()
        assert (welcome["user"], welcome["email"]) == ("guest", "guest@example.com")
        body = {"token": created["token"], "password": PASSWORD, "display_name": "The guest"}
        session = (await client.post("/api/invitations/accept", json=body)).json()
        assert (session["actor"], session["display_name"], session["roles"]) == ("guest", "The guest", ["approver"])
        assert session["has_password"]
        assert (await client.get("/api/session")).json() == session
        for path, sent in (("preview", {"token": created["token"]}), ("accept", body)):
            assert (await client.post(f"/api/invitations/{path}", json=sent)).status_code == 410
    events = await recorded_events(app, "invitation_created", "invitation_accepted")
    mine = [(event, who) for event, who, metadata in events if metadata["user"] == "guest"]
    assert mine == [("invitation_created", "admin"), ("invitation_accepted", "guest")]


async def test_a_newer_invitation_replaces_an_earlier_one_and_can_be_revoked(
    app: App,
) -> None:
    first, second = await invited(app, "late"), await invited(app, "late")
    async with app.client_for() as client:
        assert (await client.post("/api/invitations/preview", json={"token": first["token"]})).status_code == 410
        assert (await client.post("/api/invitations/preview", json={"token": second["token"]})).status_code == 200
        assert (await app.client.delete(f"/api/invitations/{second['invitation_id']}")).status_code == 204
        assert (await client.post("/api/invitations/preview", json={"token": second["token"]})).status_code == 410
        assert (await client.post("/api/invitations/preview", json={"token": "no such"})).status_code == 401
    third = await invited(app, "late")
    past = sa.update(t.invitations).where(t.invitations.c.invitation_id == third["invitation_id"])
    await app.cairn.database.transact(lambda c: c.execute(past.values(expires_at=app.cairn.clock.now())))
    async with app.client_for() as client:
        body = {"token": third["token"], "password": PASSWORD}
        assert (await client.post("/api/invitations/accept", json=body)).status_code == 410


async def test_an_existing_user_sets_a_new_password_and_old_sessions_end(app: App) -> None:
    async with accepted(app, "forgetful", "viewer") as client:
        assert (await app.post("/api/invitations", {"name": "forgetful", "roles": ["admin"]}, 409))["detail"]
        again = await invited(app, "forgetful")
        async with app.client_for() as other:
            body = {"token": again["token"], "password": "quite other words"}
            assert (await other.post("/api/invitations/accept", json=body)).status_code == 200
        assert (await client.get("/api/session")).status_code == 401
        for password, status in ((PASSWORD, 401), ("quite other words", 200)):
            body = {"name": "forgetful", "password": password}
            assert (await client.post("/api/session", json=body)).status_code == status


@pytest.mark.parametrize("password", ["short", "weak-one-weak-one"[:0], "weak-one1234", "aaaaaaaaaaaaaaaa", "x" * 513])
async def test_weak_passwords_are_rejected_and_the_invitation_stays_open(app: App, password: str) -> None:
    created = await invited(app, "weak-one")
    async with app.client_for() as client:
        answer = await client.post("/api/invitations/accept", json={"token": created["token"], "password": password})
        assert (answer.status_code, [e["path"] for e in answer.json()["errors"]]) == (422, ["/password"])
        assert password == "" or password not in answer.text
        assert (await client.post("/api/invitations/preview", json={"token": created["token"]})).status_code == 200


# ---- tokens ----------------------------------------------------------------------------------------------
async def test_a_token_is_shown_once_and_revoked_at_once(app: App) -> None:
    await ensure_user(app, "viewer", "editor", name="robot")
    created = await app.post("/api/tokens", {"name": "nightly", "user": "robot", "scopes": ["run"]}, 201)
    text = created.pop("token")
    assert text.startswith("cairn_")
    listed = (await app.get("/api/tokens", user="robot"))["items"]
    assert listed == [created]
    assert text not in str(await app.get("/api/tokens", all=True))
    rows = await app.cairn.database.aread(lambda c: c.execute(sa.select(t.api_tokens)).all())
    assert text not in str(rows)
    async with app.client_for(text) as robot, app.client_for() as page:
        session = (await robot.get("/api/session")).json()
        assert (session["actor"], session["scopes"]) == ("robot", ["run"])
        response = await robot.post("/api/pipelines", json={"pipeline_name": "P"})
        assert (response.status_code, "scope define" in response.json()["detail"]) == (403, True)
        signed_in = await page.post("/api/session", json={"token": text})
        assert signed_in.json()["scopes"] == ["run"]  # a session has the permissions of its token
        assert (await app.get("/api/tokens", user="robot"))["items"][0]["last_used_at"] is not None
        answer = await app.client.delete(f"/api/tokens/{created['token_id']}")
        assert (answer.json()["is_valid"], answer.json()["revoked_at"] is not None) == (False, True)
        assert (await robot.get("/api/session")).status_code == 401
        assert (await page.get("/api/session")).status_code == 401
    assert (await app.get("/api/tokens", user="robot"))["items"] == []
    assert (await app.client.delete(f"/api/tokens/{created['token_id']}")).status_code == 200


async def test_a_session_ends_with_its_token(app: App) -> None:
    created = await app.post("/api/tokens", {"name": "short", "valid_days": 1}, 201)
    async with app.client_for() as client:
        await client.post("/api/session", json={"token": created["token"]})
        [session] = [s for s in (await app.get("/api/sessions"))["items"] if s["expires_at"] <= created["expires_at"]]
        assert session["signed_in_with"] == "token"
        assert (await client.get("/api/session")).status_code == 200


async def test_a_token_cannot_create_one_with_more_scopes(app: App) -> None:
    token = await token_for(app, "admin", scopes=["admin"], name="keyholder")
    async with app.client_for(token) as holder:
        assert (await holder.post("/api/tokens", json={"name": "wide"})).status_code == 403
        assert (await holder.post("/api/tokens", json={"name": "wide", "scopes": ["admin", "run"]})).status_code == 403
        created = await holder.post("/api/tokens", json={"name": "same", "scopes": ["admin"]})
        assert (created.status_code, created.json()["user"]) == (201, "keyholder")


async def test_users_manage_their_own_tokens_and_display_name(app: App) -> None:
    """Users see their own account and no others."""
    async with accepted(app, "own-account", "approver") as own:
        body = {"name": "my notebook", "scopes": ["read", "decide"], "valid_days": 30}
        created = (await own.post("/api/me/tokens", json=body)).json()
        assert (created["user"], created["created_by"], created["scopes"]) == (
            "own-account",
            "own-account",
            ["read", "decide"],
        )
        listed = {name: value for name, value in created.items() if name != "token"}
        assert (await own.get("/api/me/tokens")).json() == {"items": [listed], "next_cursor": None}
        async with app.client_for(created["token"]) as program:
            assert (await program.get("/api/approvals")).status_code == 200
            assert (await program.get("/api/me/tokens")).status_code == 403  # its scopes do not include the account
        for wrong in ({**body, "scopes": ["define"]}, {**body, "valid_days": None}, {**body, "user": "admin"}):
            assert (await own.post("/api/me/tokens", json=wrong)).status_code == 422
        for path in ("/api/tokens", "/api/tokens?user=own-account"):
            assert (await own.get(path)).status_code == 403
        assert (await own.delete(f"/api/me/tokens/{created['token_id']}")).json()["is_valid"] is False
        assert (await own.get("/api/me/tokens")).json()["items"] == []
        assert len((await own.get("/api/me/tokens?all=true")).json()["items"]) == 1
        others = (await app.post("/api/tokens", {"name": "x", "user": "admin"}, 201))["token_id"]
        assert (await own.delete(f"/api/me/tokens/{others}")).status_code == 404
        await app.client.delete(f"/api/tokens/{others}")
        renamed = (await own.put("/api/me", json={"display_name": "An approver"})).json()
        assert (renamed["actor"], renamed["display_name"]) == ("own-account", "An approver")
        assert (await own.put("/api/me", json={"display_name": "a\nb"})).status_code == 422
        assert (await own.put("/api/me", json={"roles": ["admin"]})).status_code == 422
    assert (await app.get("/api/users/own-account"))["roles"] == ["approver"]
    assert "my notebook" in str(await recorded_events(app, "token_created"))


async def test_responses_with_secrets_are_not_stored_for_repeated_requests(app: App) -> None:
    key = {"Idempotency-Key": "once"}
    body = {"name": "kept"}
    first, second = [await app.post("/api/tokens", body, 201, headers=key) for _ in range(2)]
    assert first["token"] != second["token"]
    rows = await app.cairn.database.aread(lambda c: c.execute(sa.select(t.idempotency_keys)).all())
    assert first["token"] not in str(rows)


# ---- sessions and passwords ------------------------------------------------------------------------------
async def test_sessions_are_listed_and_ended(app: App) -> None:
    async with accepted(app, "roamer", "viewer") as here, app.client_for() as there, app.client_for() as third:
        for client in (there, third):
            client.headers.update({"User-Agent": "elsewhere", **OWN})
            await client.post("/api/session", json={"name": "ROAMER", "password": PASSWORD})
        listed = (await here.get("/api/sessions")).json()["items"]
        assert [(s["signed_in_with"], s["user_agent"], s["is_current"]) for s in listed] == [
            ("password", "elsewhere", False),
            ("password", "elsewhere", False),
            ("invitation", here.headers["user-agent"], True),
        ]
        assert (await here.delete(f"/api/sessions/{listed[0]['session_id']}")).status_code == 204
        assert (await third.get("/api/session")).status_code == 401
        assert (await here.delete("/api/sessions")).json() == {"count": 1}
        assert [(await client.get("/api/session")).status_code for client in (here, there)] == [200, 401]
        others = (await app.get("/api/sessions"))["items"]
        foreign = [s for s in others if s["user"] == "admin"]
        assert (await here.get("/api/sessions", params={"user": "admin"})).status_code == 403
        for session in foreign[:1]:
            assert (await here.delete(f"/api/sessions/{session['session_id']}")).status_code == 404
        assert (await app.client.delete("/api/sessions", params={"user": "roamer"})).json() == {"count": 1}
        assert (await here.get("/api/session")).status_code == 401


async def test_changing_a_password_requires_the_current_one(app: App) -> None:
    async with accepted(app, "careful", "viewer") as here, app.client_for() as there:
        await there.post("/api/session", json={"name": "careful", "password": PASSWORD})
        path, new = "/api/session/password", "entirely new words"
        wrong = await here.put(path, json={"current": "not this one", "new": new})
        assert (wrong.status_code, wrong.json()["errors"][0]["path"]) == (422, "/current")
        assert (await here.put(path, json={"current": PASSWORD, "new": "short"})).status_code == 422
        assert (await here.put(path, json={"current": PASSWORD, "new": new})).status_code == 204
        assert (await here.get("/api/session")).status_code == 200
        assert (await there.get("/api/session")).status_code == 401
        body = {"name": "careful", "password": new}
        assert (await there.post("/api/session", json=body)).status_code == 200
    assert ("password_changed", "careful", {"user": "careful"}) in await recorded_events(app, "password_changed")


# ---- delegations -----------------------------------------------------------------------------------------
async def test_a_delegate_decides_for_an_absent_user(app: App) -> None:
    until = write_instant(app.cairn.clock.now() + timedelta(days=3))
    away = app.client_for(await token_for(app, "approver", name="away"))
    stand_in = app.client_for(await token_for(app, "approver", name="stand-in"))
    viewer = app.client_for(await token_for(app, "viewer", name="onlooker"))
    async with away, stand_in, viewer:
        body = {"to_user": "Stand-In", "ends_at": until, "reason": "On holiday"}
        created = (await away.post("/api/delegations", json=body)).json()
        assert (created["from_user"], created["to_user"], created["is_active"]) == ("away", "stand-in", True)
        assert (await stand_in.get("/api/session")).json()["acting_for"] == ["away"]
        assert (await viewer.post("/api/delegations", json={**body, "from_user": "away"})).status_code == 403
        response = await away.post("/api/delegations", json={**body, "to_user": "onlooker"})
        assert (response.status_code, response.json()["detail"]) == (409, mentions("onlooker", "approver"))
        path = f"/api/delegations/{created['delegation_id']}"
        assert (await viewer.get(path)).json() == created
        assert (await viewer.delete(path)).status_code == 404
        ended = (await stand_in.delete(path)).json()
        assert (ended["is_active"], ended["ended_by"]) == (False, "stand-in")
        assert (await stand_in.get("/api/session")).json()["acting_for"] == []
        assert (await viewer.get("/api/delegations", params={"user": "away"})).json()["items"] == []
        over = (await viewer.get("/api/delegations", params={"user": "away", "all": True})).json()["items"]
        assert over == [ended]
    expected = {"delegation_id": created["delegation_id"], "from_user": "away", "to_user": "stand-in"}
    events = await recorded_events(app, "delegation_created", "delegation_ended")
    assert [(event.removeprefix("delegation_"), who) for event, who, _ in events] == [
        ("created", "away"),
        ("ended", "stand-in"),
    ]
    assert all(expected.items() <= metadata.items() for _, _, metadata in events)


# ---- secrets ---------------------------------------------------------------------------------------------
async def test_secrets_can_be_saved_but_never_read(app: App) -> None:
    value = "s3cret and nobody's business"
    stored = await app.put("/api/secrets/smtp-password", {"value": value})
    assert (stored["name"], stored["created_by"], stored["is_readable"]) == ("smtp-password", "admin", True)
    assert await app.post("/api/secrets/rotate") == {"count": 1}
    assert app.cairn.secrets.get("smtp-password") == value
    assert (await app.get("/api/secrets"))["items"][0]["name"] == "smtp-password"
    assert (await app.client.delete("/api/secrets/smtp-password")).status_code == 204
    assert (await app.client.delete("/api/secrets/smtp-password")).status_code == 404
    assert (await app.put("/api/secrets/a<b>", {"value": value}, 422))["errors"][0]["path"] == "/name"
    response = await app.client.put("/api/secrets/short", json={"value": "abc"})
    assert (response.status_code, "abc" in response.text) == (422, False)
    everything = str(await app.get("/api/events", scope="global")) + str(await app.get("/api/secrets"))
    assert value not in everything
    rows = await app.cairn.database.aread(
        lambda c: [c.execute(sa.select(table)).all() for table in (t.events, t.secrets, t.idempotency_keys)]
    )
    assert "nobody's business" not in str(rows)


# ---- signing in ------------------------------------------------------------------------------------------
async def test_users_sign_in_with_name_or_address_and_password(app: App) -> None:
    async with accepted(app, "typist", "editor", email="typist@example.com"), app.client_for() as client:
        for name in ("typist", " TYPIST ", "Typist@Example.com"):
            answer = await client.post("/api/session", json={"name": name, "password": PASSWORD})
            assert (answer.status_code, answer.json()["actor"]) == (200, "typist")
        for body in ({"name": "typist"}, {"password": PASSWORD}, {}, {"name": "typist", "password": "x", "token": "y"}):
            assert (await client.post("/api/session", json=body)).status_code == 422
        assert (await client.get("/api/sign-in")).json() == {"password": True, "providers": []}
        foreign = {"Origin": "http://evil.example"}
        body = {"name": "typist", "password": PASSWORD}
        assert (await client.post("/api/session", json=body, headers=foreign)).status_code == 403
        assert (await client.delete("/api/session", headers=OWN)).status_code == 204
    own = [event for event in await recorded_events(app, "signed_in", "signed_out") if event[1] == "typist"]
    ways = [metadata.get("signed_in_with") for _, _, metadata in own]
    assert (ways, own[-1]) == (["invitation", *["password"] * 3, None], ("signed_out", "typist", {"user": "typist"}))


async def test_failed_sign_ins_do_not_reveal_the_reason(app: App) -> None:
    await ensure_user(app, "viewer", name="without-password")
    async with app.client_for() as client:
        answers = [
            await client.post("/api/session", json={"name": name, "password": "whatever it is"})
            for name in ("typist", "without-password", "nobody-there", "<script>", "admin")
        ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1


async def test_guessing_passwords_of_a_user_is_slowed_down_from_any_address(app: App) -> None:
    async with accepted(app, "target", "viewer") as target:
        assert (await target.get("/api/session")).json()["actor"] == "target"

    async def guess(number: int, password: str = "a wrong guess") -> int:
        transport = httpx.ASGITransport(app.asgi, client=(f"10.9.{number // 250}.{number % 250}", 1))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            return (await client.post("/api/session", json={"name": "target", "password": password})).status_code

    found = [await guess(number) for number in range(22)]
    assert found == [401] * 20 + [429] * 2
    assert await guess(500, PASSWORD) == 429
    metadata = {"limit": "name", "signed_in_with": "password", "user": "target"}
    assert [event for event in await recorded_events(app, "sign_in_blocked") if event[2] == metadata] == [
        ("sign_in_blocked", "nobody", metadata)
    ]


async def test_invalid_bearer_tokens_are_slowed_down_and_valid_ones_are_not(app: App) -> None:
    transport = httpx.ASGITransport(app.asgi, client=("10.8.0.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:

        async def ask(token: str) -> int:
            return (await client.get("/api/session", headers={"Authorization": f"Bearer {token}"})).status_code

        found = [await ask(f"guess {number}") for number in range(32)]
        assert found == [401] * 30 + [429] * 2
        assert await ask(TOKEN) == 200
