"""Sign-in with an identity provider on loopback: users, roles and redirects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import pytest_asyncio

from cairn.config import OidcSettings
from cairn.services.actors import ADMIN
from cairn.services.identity.users import UserSpec
from tests.api.app import BASE, App, Json, open_app
from tests.api.identity_providers import real_provider
from tests.databases import KINDS

pytestmark = pytest.mark.asyncio(loop_scope="module")
SECRET = "oidc-corp"


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with real_provider() as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=KINDS)
async def app(
    provider: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[App]:
    """An app with three configurations of the provider: roles by group, automatic users, and neither."""
    redirects = {"redirect_uris": [f"{BASE}/sign-in/{name}" for name in ("corp", "open", "closed")]}
    async with httpx.AsyncClient(trust_env=False) as browser:
        client = (await browser.post(f"{provider}/oauth2/clients", json=redirects)).json()
    known: Any = {"issuer": provider, "client_id": client["client_id"]}
    secret: Any = {"client_secret": client["client_secret"]}
    groups: Any = {"pit": ["approver"], "top": ["admin"]}
    open_to: Any = {"create_users": True, "domains": ["Example.com"], "default_roles": ["viewer"]}
    oidc = [
        OidcSettings(name="corp", title="Company", create_users=True, roles=groups, **known),
        OidcSettings(name="open", **open_to, **known, **secret),
        OidcSettings(name="closed", **known, **secret),
    ]
    with ExitStack() as stack:
        url = None
        if request.param == "postgresql":
            url = stack.enter_context(request.getfixturevalue("postgres").new_database(migrated=True))
        async with open_app(tmp_path_factory.mktemp("data"), url, oidc=oidc) as opened:
            await opened.put(f"/api/secrets/{SECRET}", {"value": client["client_secret"]})
            yield opened


async def add_provider_user(provider: str, subject: str, **claims: Any) -> None:
    """Create or update a user at the provider."""
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.put(f"{provider}/users/{subject}", json=claims)).status_code == 204


async def start_sign_in(client: httpx.AsyncClient, name: str, return_to: str = "/") -> str:
    """Start a sign-in. Returns the address at the provider."""
    answer = await client.post(f"/api/sign-in/{name}", json={"return_to": return_to})
    assert answer.status_code == 200, answer.text
    return answer.json()["url"]


async def sign_in_at_provider(url: str, subject: str) -> Json:
    """Sign in at the provider. Returns the parameters of its redirect."""
    async with httpx.AsyncClient(trust_env=False) as browser:
        answer = await browser.post(url, data={"sub": subject})
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["location"])
    assert f"{back.scheme}://{back.netloc}" == BASE
    assert back.path.startswith("/sign-in/")
    return {name: values[0] for name, values in parse_qs(back.query).items()}


async def sign_in(app: App, name: str, subject: str, return_to: str = "/") -> httpx.Response:
    async with app.client_for() as client:
        back = await sign_in_at_provider(await start_sign_in(client, name, return_to), subject)
        return await client.post(f"/api/sign-in/{name}/finish", json={"code": back["code"], "state": back["state"]})


# ---- users and roles -------------------------------------------------------------------------------------
async def test_a_new_user_gets_the_roles_of_their_groups(app: App, provider: str) -> None:
    claims = {"email": "Digger@Example.com", "email_verified": True, "preferred_username": "Digger D!"}
    await add_provider_user(provider, "sub-1", **claims, name="Digger", groups=["pit", "other"])
    async with app.client_for() as client:
        assert (await client.get("/api/sign-in")).json()["providers"] == [
            {"name": "corp", "title": "Company"},
            {"name": "open", "title": "open"},
            {"name": "closed", "title": "closed"},
        ]
        url = await start_sign_in(client, "corp", "/approvals?status=pending#top")
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert (query["response_type"], query["scope"], query["code_challenge_method"]) == (
            "code",
            "openid email profile",
            "S256",
        )
        assert len({query["state"], query["nonce"], query["code_challenge"]}) == 3
        back = await sign_in_at_provider(url, "sub-1")
        answer = await client.post("/api/sign-in/corp/finish", json=back)
        assert answer.status_code == 200, answer.text
        assert answer.json()["return_to"] == "/approvals?status=pending#top"
        session = answer.json()["session"]
        identity = (session["actor"], session["display_name"], session["email"], session["roles"])
        assert identity == ("digger-d", "Digger", "digger@example.com", ["approver"])
        assert (await client.get("/api/session")).json() == session
        again = await client.post("/api/sign-in/corp/finish", json=back)
        assert again.status_code == 401  # the ticket is deleted and the code was used
    user = await app.get("/api/users/digger-d")
    assert (user["providers"], user["has_password"], user["created_by"]) == (["corp"], False, "provider:corp")
    events = (await app.get("/api/events", scope="global"))["items"]
    assert [(e["event_type"], e["actor"]) for e in events if e["metadata"].get("user") == "digger-d"] == [
        ("signed_in", "digger-d"),
        ("identity_linked", "provider:corp"),
        ("user_created", "provider:corp"),
    ]


async def test_roles_follow_the_groups_at_every_sign_in(app: App, provider: str) -> None:
    seen: list[Any] = []
    for groups in (["top"], ["pit"], [], ["pit", "top"]):
        await add_provider_user(provider, "sub-2", preferred_username="mover", groups=groups)
        answer = await sign_in(app, "corp", "sub-2")
        seen.append((answer.status_code, (await app.get("/api/users/mover"))["roles"]))
    assert seen == [(200, ["admin"]), (200, ["approver"]), (403, []), (200, ["approver", "admin"])]


async def test_a_verified_email_address_identifies_a_user(app: App, provider: str) -> None:
    await app.cairn.identity.users.create(UserSpec("linked", email="linked@example.com", roles=("editor",)), ADMIN)
    await add_provider_user(provider, "sub-3", email="linked@example.com", email_verified=False)
    assert (await sign_in(app, "closed", "sub-3")).status_code == 403
    await add_provider_user(provider, "sub-3", email="LINKED@example.com", email_verified=True)
    answer = await sign_in(app, "closed", "sub-3")
    assert (answer.status_code, answer.json()["session"]["actor"]) == (200, "linked")
    await add_provider_user(provider, "sub-3", email="another@example.com", email_verified=True)
    assert (await sign_in(app, "closed", "sub-3")).json()["session"]["actor"] == "linked"  # by subject
    assert (await app.get("/api/users/linked"))["roles"] == ["editor"]  # this configuration maps no groups


@pytest.mark.parametrize(
    ("name", "email", "verified", "status"),
    [
        ("closed", "new@example.com", True, 403),  # creates no users
        ("open", "new@elsewhere.org", True, 403),  # domain is not allowed
        ("open", "new@example.com", False, 403),
        ("open", "new@example.com", True, 200),
    ],
)
async def test_only_allowed_addresses_become_users(
    app: App, provider: str, name: str, email: str, verified: bool, status: int
) -> None:
    await add_provider_user(provider, f"sub-{name}-{status}", email=email, email_verified=verified)
    assert (await sign_in(app, name, f"sub-{name}-{status}")).status_code == status


async def test_removed_users_cannot_sign_in_and_names_are_unique(app: App, provider: str) -> None:
    for subject in ("sub-4", "sub-5"):
        email = f"{subject}@example.com"
        await add_provider_user(provider, subject, email=email, email_verified=True, preferred_username="twin")
        assert (await sign_in(app, "open", subject)).status_code == 200
    assert (await app.get("/api/users/twin-2"))["email"] == "sub-5@example.com"
    await app.client.delete("/api/users/twin")
    for name in ("open", "corp", "closed"):
        answer = await sign_in(app, name, "sub-4")
        assert (answer.status_code, "deleted" in answer.json()["detail"]) == (403, True)
    assert (await sign_in(app, "open", "sub-5")).status_code == 200


async def test_a_provider_user_cannot_take_over_the_admin(app: App, provider: str) -> None:
    await add_provider_user(provider, "sub-6", preferred_username="admin", groups=["pit"], email="x@example.com")
    assert (await sign_in(app, "corp", "sub-6")).json()["session"]["actor"] == "admin-2"


# ---- protection against forged sign-ins ------------------------------------------------------------------
async def test_a_sign_in_started_in_another_browser_cannot_be_finished(app: App, provider: str) -> None:
    """Login CSRF: the code of an attacker cannot sign in a victim."""
    await add_provider_user(provider, "sub-7", preferred_username="mallory", groups=["pit"])
    async with app.client_for() as attacker, app.client_for() as victim:
        back = await sign_in_at_provider(await start_sign_in(attacker, "corp"), "sub-7")
        assert (await victim.post("/api/sign-in/corp/finish", json=back)).status_code == 401
        await start_sign_in(victim, "corp")
        assert (await victim.post("/api/sign-in/corp/finish", json=back)).status_code == 401
        cookies = {cookie.name: cookie for cookie in attacker.cookies.jar}
        ticket = cookies["cairn_sign_in"]
        assert ticket.path == "/api/sign-in"
        assert ticket.has_nonstandard_attr("HttpOnly")
        for wrong in ({"state": "another"}, {"code": "another"}, {"state": ""}):
            assert (await attacker.post("/api/sign-in/corp/finish", json={**back, **wrong})).status_code == 401
        foreign = {"Origin": "http://evil.example"}
        assert (await attacker.post("/api/sign-in/corp/finish", json=back, headers=foreign)).status_code == 403
        assert (await attacker.post("/api/sign-in/corp", json={}, headers=foreign)).status_code == 403
        other = await attacker.post("/api/sign-in/open/finish", json=back)  # a ticket is bound to its provider
        assert other.status_code == 401


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "approvals",
        "",
        "/a b",
        "/a\nSet-Cookie: x=y",
        "/\t/evil.example",
        "http:/evil.example",
    ],
)
async def test_a_sign_in_returns_only_to_own_pages(app: App, address: str) -> None:
    answer = await app.post("/api/sign-in/corp", {"return_to": address}, 422)
    assert [error["path"] for error in answer["errors"]] == ["/return_to"]


async def test_an_unknown_provider_is_not_found(app: App) -> None:
    await app.post("/api/sign-in/nowhere", {}, 404)
    await app.post("/api/sign-in/nowhere/finish", {"code": "x", "state": "y"}, 404)


async def test_the_client_secret_comes_from_the_secret_store(app: App, provider: str) -> None:
    await add_provider_user(provider, "sub-8", preferred_username="late", groups=["pit"])
    secret = app.cairn.secrets.get(SECRET)
    await app.put(f"/api/secrets/{SECRET}", {"value": "another one"})
    answer = await sign_in(app, "corp", "sub-8")
    assert (answer.status_code, answer.json()["type"]) == (401, "urn:cairn:problem:unauthenticated")
    await app.put(f"/api/secrets/{SECRET}", {"value": secret})
    assert (await sign_in(app, "corp", "sub-8")).status_code == 200
