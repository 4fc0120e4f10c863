"""Every operation with every role and every scope, by real requests, against what it declares."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from cairn.api.app import operation_routes
from cairn.api.routes.approvals import DECISION_PERMISSIONS
from cairn.services.actors import ALL_ROLES, ALL_SCOPES
from tests.api.app import App, open_app
from tests.api.listening import listening
from tests.api.users import token_for

pytestmark = pytest.mark.asyncio(loop_scope="module")

# What each role may, written down here once more: an operation that is none of these is not in the product.
WHO: dict[str, set[str]] = {
    "everybody": {"viewer", "editor", "approver", "admin"},
    "editors": {"editor", "admin"},
    "editors and approvers": {"editor", "approver", "admin"},
    "approvers": {"approver", "admin"},
    "admins": {"admin"},
}
# What each scope lets a token be used for.
WHERE: dict[str, set[str]] = {
    "every scope": {"read", "run", "decide", "define", "admin"},
    "define": {"define"},
    "run": {"run"},
    "run or decide": {"run", "decide"},
    "decide": {"decide"},
    "admin": {"admin"},
}
NOWHERE = "00000000-0000-4000-8000-000000000000"  # no such thing: who may gets 404, or 422 for the empty body
TURNED_AWAY = {401, 403}
CALLS = [(route.name, next(iter((route.methods or set()) - {"HEAD"})), route.path) for route in operation_routes()]
PERMISSIONS = {route.name: route.operation.permission for route in operation_routes()}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    """On one database: who may is decided before it."""
    async with open_app(tmp_path_factory.mktemp("data")) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def callers(app: App) -> dict[tuple[str, str], httpx.AsyncClient]:
    """Somebody of each role, with a token of each scope; without a role; and without a token."""
    found = {("anonymous", "none"): app.visitor()}
    for role in (*sorted(ALL_ROLES), "no role"):
        roles = [role] if role in ALL_ROLES else []
        name = f"matrix-{role.replace(' ', '-')}"
        for scope in (*sorted(ALL_SCOPES), "all"):
            scopes = None if scope == "all" else [scope]
            found[role, scope] = app.visitor(await token_for(app, *roles, scopes=scopes, name=name))
    return found


def address(path: str, decision: str = "answer") -> str:
    """With ids of nothing."""
    path = path.replace("{decision}", decision).replace("{revision}", "1")
    return re.sub(r"\{[a-z_]+(:path)?\}", lambda found: NOWHERE if "_id" in found[0] else "nothing", path)


async def status(client: httpx.AsyncClient, method: str, path: str) -> int:
    body: dict[str, Any] = {} if method in ("GET", "DELETE") else {"json": {}}
    return (await client.request(method, path, **body)).status_code


async def status_of_stream(app: App, client: httpx.AsyncClient, path: str) -> int:
    """A stream is left as soon as it has begun."""
    token = client.headers.get("Authorization", "").removeprefix("Bearer ") or None
    async with listening(app, path, token) as heard:
        return heard.status


def is_allowed(name: str, role: str, scope: str, allowed: Any = None) -> bool:
    allowed = allowed or PERMISSIONS[name]
    if allowed is None:
        return True
    return role in allowed.roles | {"admin"} and (scope == "all" or scope in allowed.scopes)


@pytest.mark.parametrize(("name", "method", "path"), CALLS, ids=[name for name, _, _ in CALLS])
async def test_access_follows_the_declared_permission(
    app: App, callers: dict[tuple[str, str], httpx.AsyncClient], name: str, method: str, path: str
) -> None:
    if path.endswith("stream"):
        codes = [await status_of_stream(app, client, address(path)) for client in callers.values()]
    else:
        codes = [await status(client, method, address(path)) for client in callers.values()]
    found = dict(zip(callers, codes, strict=True))
    if PERMISSIONS[name] is None:
        assert set(found.values()).isdisjoint({403}), found
        return
    assert found.pop(("anonymous", "none")) == 401
    let_in = {caller for caller, code in found.items() if code not in TURNED_AWAY}
    assert let_in == {caller for caller in found if is_allowed(name, *caller)}, found
    assert {code for caller, code in found.items() if caller not in let_in} <= {403}
    assert max(found.values()) < 500, found


@pytest.mark.parametrize("decision", sorted(DECISION_PERMISSIONS))
async def test_decisions_have_permissions_of_their_own(
    callers: dict[tuple[str, str], httpx.AsyncClient], decision: str
) -> None:
    path = f"/api/approvals/{NOWHERE}/{decision}"
    found = {caller: await status(client, "PUT", path) for caller, client in callers.items()}
    del found["anonymous", "none"]
    let_in = {caller for caller, code in found.items() if code not in TURNED_AWAY}
    assert let_in == {caller for caller in found if is_allowed("", *caller, DECISION_PERMISSIONS[decision])}, found


@pytest.mark.parametrize("name", sorted(name for name, allowed in PERMISSIONS.items() if allowed is not None))
async def test_every_permission_is_one_of_those_that_the_product_has(name: str) -> None:
    allowed = PERMISSIONS[name]
    assert allowed is not None
    assert allowed.roles | {"admin"} in WHO.values()
    assert allowed.scopes in WHERE.values()


async def test_the_page_has_a_line_for_every_operation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "permissions.md").read_text(encoding="utf-8")
    for name, method, path in CALLS:
        assert f"| `{name}` | `{method} {path}` |" in page
