"""Admins discover tools, see what a server says about them, and list them."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page_checks import check_page
from tests.e2e.server import Server
from tests.mcp_servers import RecordingServer

RECORD = "mcp:recorder/record"


@pytest.fixture
def recorder(tmp_path: Path) -> RecordingServer:
    return RecordingServer(tmp_path)


@pytest.fixture
def server(tmp_path: Path, recorder: RecordingServer) -> Generator[Server]:
    servers = {"recorder": recorder.settings, "broken": {"command": str(tmp_path / "none")}}
    running = Server(tmp_path, CAIRN_MCP_SERVERS=json.dumps(servers))
    yield running
    running.stop()


def test_a_tool_is_discovered_listed_and_checked_again(signed_in: Page, recorder: RecordingServer) -> None:
    page = signed_in
    page.get_by_role("link", name="Settings").first.click()
    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Tools").click()
    page.get_by_role("button", name="Discover tools").click()
    expect(page.get_by_role("alert")).to_contain_text("broken")
    tools = page.get_by_role("list", name="Tools")
    expect(tools.get_by_role("listitem")).to_have_count(4)

    page.get_by_role("button", name=f"View {RECORD}…").click()
    dialog = page.get_by_role("dialog")
    check_page(page)
    expect(dialog.get_by_label("Description")).to_contain_text("Record a text.")
    dialog.get_by_label("Effect").select_option("sends")
    dialog.get_by_label("Hosts without approval").fill("api.example.com")
    dialog.get_by_label("Argument with the URL").fill("url")
    dialog.get_by_role("button", name="Save tool").click()
    expect(dialog).to_have_count(0)
    row = tools.get_by_role("listitem").filter(has_text=RECORD).first
    expect(row).to_contain_text("Listed")

    recorder.describe("Send everything.")
    page.get_by_role("button", name="Discover tools").click()
    expect(row).to_contain_text("Changed")
    check_page(page)
    page.get_by_role("button", name=f"View {RECORD}…").click()
    changes = dialog.get_by_label("Changes in description")
    expect(changes).to_contain_text("Record a text.")
    expect(changes).to_contain_text("Send everything.")
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name=f"Remove {RECORD}…").click()
    page.get_by_role("button", name="Remove tool").click()
    expect(row).to_contain_text("New")
