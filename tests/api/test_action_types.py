"""Admins declare action types over HTTP."""

from __future__ import annotations

import asyncio

import pytest

from cairn.config import Settings
from cairn.core.errors import CommandRefused
from cairn.services.action_types.service import ActionTypes
from cairn.services.actions.catalogue import Catalogue
from cairn.services.actors import ADMIN
from cairn.services.engine.admin_changes import AdminChanges
from tests.api.app import App

pytestmark = pytest.mark.asyncio(loop_scope="module")
BUILT_IN = ["database_update", "financial_transaction", "http_request", "send_email"]


async def test_a_type_is_created_changed_and_removed(app: App) -> None:
    body = {"title": "Refund {{ amount }}", "risk_level": "low", "identity": ["amount"]}
    created = await app.put("/api/actions/types/shop/refund.v2", body)
    assert (created["name"], created["source"], created["declaration"]) == ("shop/refund.v2", "admin", body)
    names = [kind["name"] for kind in (await app.get("/api/actions/types"))["items"]]
    assert names == sorted([*BUILT_IN, "shop/refund.v2"])
    page = await app.get("/api/actions/types", limit=2)
    assert [kind["name"] for kind in page["items"]] == BUILT_IN[:2]
    rest = await app.get("/api/actions/types", limit=2, cursor=page["next_cursor"])
    assert [kind["name"] for kind in rest["items"]] == BUILT_IN[2:]
    replaced = await app.put("/api/actions/types/shop/refund.v2", {"risk_level": "high"})
    assert (replaced["risk_level"], replaced["identity"]) == ("high", None)
    assert (await app.client.delete("/api/actions/types/shop/refund.v2")).status_code == 204
    assert (await app.client.delete("/api/actions/types/shop/refund.v2")).status_code == 404
    events = (await app.get("/api/events", scope="global"))["items"]
    assert [(event["event_type"], event["metadata"]["operation_type"]) for event in events[:3]] == [
        ("catalogue_type_removed", "shop/refund.v2"),
        ("catalogue_type_saved", "shop/refund.v2"),
        ("catalogue_type_saved", "shop/refund.v2"),
    ]


async def test_a_built_in_type_is_changed_and_returns_to_its_default(app: App) -> None:
    changed = await app.put("/api/actions/types/http_request", {"hosts": ["API.example.com"], "risk_level": "medium"})
    assert (changed["hosts"], changed["risk_level"], changed["executed_by"]) == (["api.example.com"], "medium", "cairn")
    assert "url" in changed["parameters_schema"]["properties"]
    assert (await app.client.delete("/api/actions/types/http_request")).status_code == 204
    [request] = [k for k in (await app.get("/api/actions/types"))["items"] if k["name"] == "http_request"]
    assert (request["source"], request["hosts"], request["risk_level"]) == ("built-in", None, "high")


@pytest.mark.parametrize(
    ("name", "body", "path"),
    [
        ("Refund", {}, "/name"),
        ("mcp:files/write", {}, "/name"),
        ("refund", {"hosts": ["*"]}, "/hosts"),
        ("refund", {"schema": {"type": "nothing"}}, "/schema"),
        ("refund", {"risk_level": "none"}, "/risk_level"),
        ("refund", {"secrets": ["a"]}, "/secrets"),
    ],
)
async def test_an_invalid_type_is_refused(app: App, name: str, body: dict[str, object], path: str) -> None:
    problem = await app.put(f"/api/actions/types/{name}", body, 422)
    assert [error["path"] for error in problem["errors"]] == [path]


async def test_a_type_of_the_settings_is_changed_there(app: App) -> None:
    settings = Settings(actions={"refund": {"risk_level": "low"}})  # pyright: ignore[reportArgumentType]
    changes = AdminChanges(app.cairn.database, app.cairn.clock, app.cairn.event_bus)
    types = ActionTypes(changes, Catalogue(settings.actions))
    assert (await asyncio.to_thread(types.get, "refund")).source == "settings"
    with pytest.raises(CommandRefused, match="refund"):
        await types.save("refund", settings.actions["refund"], ADMIN)
