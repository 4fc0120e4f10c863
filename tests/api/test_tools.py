"""Admins list tools over HTTP. The names of tools contain a slash."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from cairn.bootstrap.adapters import mcp_servers
from cairn.ports.tools import OfferedTool
from tests.api.app import App, form, open_app
from tests.api.users import token_for
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
Json = dict[str, Any]
PATH = "/api/tools/mcp%3Afiles%2Fread%2Fall"
NAME = "mcp:files/read/all"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    servers = {"files": {"command": "files-server"}, "newest": {"command": "npx", "args": ["files"]}}
    async with open_app(tmp_path_factory.mktemp("data"), mcp_servers=servers) as opened:
        yield opened


async def offer(app: App, name: str = NAME, description: str = "Reads.") -> None:
    """Let a server offer a tool."""
    server = mcp_servers(app.cairn.settings)[name.removeprefix("mcp:").partition("/")[0]]
    schema = {"type": "object", "properties": {"url": {"type": "string"}}}
    await app.cairn.tools.observe([OfferedTool(name, server.address, server.digest, description, schema)])


async def test_a_tool_is_listed_changed_and_removed(app: App) -> None:
    await offer(app)
    seen = await app.get(PATH)
    assert (seen["name"], seen["state"], seen["effect"], seen["server"]) == (NAME, "new", "changes", "files-server")
    listed = await app.put(PATH, {"effect": "reads", "digest": seen["digest"]})
    assert (listed["state"], listed["effect"], listed["grant"]["updated_by"]) == ("listed", "reads", "admin")
    await offer(app, description="Deletes.")
    changed = await app.get(PATH)
    assert (changed["state"], changed["effect"], changed["changes"]) == (
        "changed",
        "changes",
        [{"field": "description", "before": "Reads.", "after": "Deletes."}],
    )
    assert [item["name"] for item in (await app.get("/api/tools", state="changed"))["items"]] == [NAME]
    await app.put(PATH, {"effect": "reads", "digest": seen["digest"]}, 412)
    assert (await app.client.delete(PATH)).status_code == 204
    assert (await app.client.delete(PATH)).status_code == 404
    assert (await app.get(PATH))["state"] == "new"
    assert (await app.client.get("/api/tools/mcp%3Afiles%2Ffly")).status_code == 404


async def test_a_tool_whose_server_has_no_fixed_version_cannot_pass_without_approval(app: App) -> None:
    await offer(app, "mcp:newest/read")
    path = "/api/tools/mcp%3Anewest%2Fread"
    seen = await app.get(path)
    assert seen["unpinned"] == mentions("files")
    for body in ({"effect": "reads"}, {"effect": "sends"}, {"effect": "changes", "may_skip_approval": True}):
        problem = await app.put(path, {**body, "digest": seen["digest"]}, 422)
        assert problem["errors"][0]["message"] == mentions("files")
    await app.put(path, {"effect": "changes", "digest": seen["digest"]})


async def test_discovery_reports_servers_that_do_not_start(app: App) -> None:
    found = await app.post("/api/tools/discover")
    assert found["tools"] == 0
    assert {problem["server"]: problem["message"] for problem in found["problems"]}["files"] == mentions("files-server")


async def test_only_admins_see_and_list_tools(app: App) -> None:
    await offer(app)
    async with app.client_for(await token_for(app, "editor", "approver")) as editor:
        assert (await editor.get("/api/tools")).status_code == 403
        assert (await editor.get(PATH)).status_code == 403
        assert (await editor.put(PATH, json={"effect": "reads"})).status_code == 403
        assert (await editor.delete(PATH)).status_code == 403
        assert (await editor.post("/api/tools/discover")).status_code == 403


async def test_the_doctor_names_tools_whose_calls_need_approval(app: App) -> None:
    await offer(app)
    execution = {"mode": "agentic", "agent_config": {"agent": {"name": "A", "role": "x", "tools": [NAME]}}}
    await app.pipeline(form("goals"), {"key": "x", "prompt": "Go.", "execution": execution, "outputs": ["a.md"]})
    checks = (await app.get("/api/doctor"))["checks"]
    (check,) = [check for check in checks if check["name"] == "tools"]
    assert (check["status"], check["detail"]) == ("warning", mentions(NAME))
