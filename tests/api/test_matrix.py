"""Real requests to every operation with every role and scope, compared with the declared permissions."""

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

# the allowed combinations of roles, written by hand: every operation must have one of these
ROLE_SETS: dict[str, set[str]] = {
    "everybody": {"viewer", "editor", "approver", "admin"},
    "editors": {"editor", "admin"},
    "editors and approvers": {"editor", "approver", "admin"},
    "approvers": {"approver", "admin"},
    "admins": {"admin"},
}
# the allowed combinations of scopes
SCOPE_SETS: dict[str, set[str]] = {
    "every scope": {"read", "run", "decide", "define", "admin"},
    "define": {"define"},
    "run": {"run"},
    "run or decide": {"run", "decide"},
    "decide": {"decide"},
    "decide or admin": {"decide", "admin"},
    "admin": {"admin"},
}
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"  # permitted callers get 404, or 422 for the empty body
REJECTED = {401, 403}
CALLS = [(route.name, next(iter((route.methods or set()) - {"HEAD"})), route.path) for route in operation_routes()]
PERMISSIONS = {route.name: route.operation.permission for route in operation_routes()}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    """One database is enough, because permissions are checked before it is used."""
    async with open_app(tmp_path_factory.mktemp("data")) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def callers(app: App) -> dict[tuple[str, str], httpx.AsyncClient]:
    """A client for each role and scope, one without roles, and one without a token."""
    found = {("anonymous", "none"): app.client_for()}
    for role in (*sorted(ALL_ROLES), "no role"):
        roles = [role] if role in ALL_ROLES else []
        name = f"matrix-{role.replace(' ', '-')}"
        for scope in (*sorted(ALL_SCOPES), "all"):
            scopes = None if scope == "all" else [scope]
            found[role, scope] = app.client_for(await token_for(app, *roles, scopes=scopes, name=name))
    return found


def address(path: str, decision: str = "answer") -> str:
    """Fill a path with ids that don't exist."""
    path = path.replace("{decision}", decision).replace("{revision}", "1")
    return re.sub(r"\{[a-z_]+(:path)?\}", lambda found: UNKNOWN_ID if "_id" in found[0] else "nothing", path)


async def status(client: httpx.AsyncClient, method: str, path: str) -> int:
    body: dict[str, Any] = {} if method in ("GET", "DELETE") else {"json": {}}
    return (await client.request(method, path, **body)).status_code


async def status_of_stream(app: App, client: httpx.AsyncClient, path: str) -> int:
    """The status of a stream, which is left at once."""
    token = client.headers.get("Authorization", "").removeprefix("Bearer ") or None
    async with listening(app, path, token) as listener:
        return listener.status


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
    permitted = {caller for caller, code in found.items() if code not in REJECTED}
    assert permitted == {caller for caller in found if is_allowed(name, *caller)}, found
    assert {code for caller, code in found.items() if caller not in permitted} <= {403}
    assert max(found.values()) < 500, found


@pytest.mark.parametrize("decision", sorted(DECISION_PERMISSIONS))
async def test_each_decision_has_its_own_permission(
    callers: dict[tuple[str, str], httpx.AsyncClient], decision: str
) -> None:
    path = f"/api/approvals/{UNKNOWN_ID}/{decision}"
    found = {caller: await status(client, "PUT", path) for caller, client in callers.items()}
    del found["anonymous", "none"]
    permitted = {caller for caller, code in found.items() if code not in REJECTED}
    assert permitted == {caller for caller in found if is_allowed("", *caller, DECISION_PERMISSIONS[decision])}, found


@pytest.mark.parametrize("name", sorted(name for name, allowed in PERMISSIONS.items() if allowed is not None))
async def test_every_permission_is_a_known_combination(name: str) -> None:
    allowed = PERMISSIONS[name]
    assert allowed is not None
    assert allowed.roles | {"admin"} in ROLE_SETS.values()
    assert allowed.scopes in SCOPE_SETS.values()


async def test_the_permissions_page_lists_every_operation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "permissions.md").read_text(encoding="utf-8")
    for name, method, path in CALLS:
        assert f"| `{name}` | `{method} {path}` |" in page
