"""`cairn tools`: discover, list and remove tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.mcp_servers import RecordingServer
from tests.mentions import mentions

RECORD = "mcp:recorder/record"


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RecordingServer:
    server = RecordingServer(tmp_path)
    servers = {"recorder": server.settings, "broken": {"command": str(tmp_path / "none")}}
    monkeypatch.setenv("CAIRN_MCP_SERVERS", json.dumps(servers))
    return server


def test_tools_are_discovered_listed_shown_and_removed(local_shell: Shell, recorder: RecordingServer) -> None:
    assert local_shell("tools", "discover").out == mentions("4", "broken")
    assert [tool["state"] for tool in local_shell.json("tools", "list")["items"]] == ["new"] * 4
    listed = local_shell.json(
        "tools", "set", RECORD, "--effect", "sends", "--host", "a.example", "--url-argument", "url"
    )
    assert (listed["state"], listed["grant"]["hosts"], listed["grant"]["url_argument"]) == (
        "listed",
        ["a.example"],
        "url",
    )
    recorder.describe("Another version.")
    local_shell("tools", "discover")
    assert local_shell("tools", "list", "--state", "changed").out == mentions(RECORD, "changes")
    assert local_shell("tools", "show", RECORD).out == mentions(RECORD, "Record a text.", "Another version.")
    local_shell("tools", "set", RECORD, "--effect", "reads", "--digest", listed["digest"], code=1)
    local_shell("tools", "remove", RECORD)
    assert local_shell.json("tools", "show", RECORD)["state"] == "new"
