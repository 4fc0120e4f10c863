"""Notifications in the browser: channels, deliveries, preferences."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page_checks import axe, overflow
from tests.e2e.server import Server


class Receiver(ThreadingHTTPServer):
    """A webhook on loopback that records its requests."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), ReceiverHandler)


class ReceiverHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert isinstance(self.server, Receiver)
        self.server.requests.append({"path": self.path, "body": json.loads(body)})
        self.send_response(410 if self.path == "/gone" else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log."""


@pytest.fixture
def receiver() -> Generator[Receiver]:
    with Receiver() as opened:
        threading.Thread(target=opened.serve_forever, daemon=True).start()
        yield opened
        opened.shutdown()


@pytest.fixture
def outbound_server(tmp_path: Path) -> Generator[Server]:
    """A server that may send requests to this machine."""
    running = Server(tmp_path, CAIRN_OUTBOUND_ALLOWED='["127.0.0.1"]')
    yield running
    running.stop()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_a_channel_is_created_and_tested(
    page: Page, outbound_server: Server, receiver: Receiver, width: int, scheme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(outbound_server.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.goto(outbound_server.address + "/settings/channels")
    expect(page.get_by_role("heading", name="No notification channels")).to_be_visible()
    page.get_by_role("button", name="New channel…").click()
    page.get_by_label("Name", exact=True).fill("Operations")
    page.get_by_label("Kind").select_option("webhook")
    page.get_by_label("URL", exact=True).fill(f"http://127.0.0.1:{receiver.server_port}/taken")
    assert (axe(page), overflow(page)) == ([], 0)
    page.get_by_role("button", name="Create channel").click()
    expect(page.get_by_role("textbox", name="Signing key")).not_to_have_value("")
    page.get_by_role("button", name="Done", exact=True).click()
    page.get_by_role("button", name="Send test to Operations").click()
    expect(page.get_by_text("Test delivered.")).to_be_visible()
    assert [request["path"] for request in receiver.requests] == ["/taken"]
    assert (axe(page), overflow(page)) == ([], 0)

    page.get_by_role("button", name="Edit Operations…").click()
    page.get_by_label("New URL").fill(f"http://127.0.0.1:{receiver.server_port}/gone")
    page.get_by_role("button", name="Save channel").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Send test to Operations").click()
    expect(page.get_by_role("alert")).to_contain_text("Test result: failed.")
    expect(page.get_by_role("alert")).to_contain_text("410")

    page.goto(outbound_server.address + "/settings/deliveries")
    log = page.get_by_role("list", name="Deliveries")
    expect(log.get_by_role("button", name="Test", exact=True)).to_have_count(2)
    log.get_by_role("button", name="Test", exact=True).first.click()
    expect(log.get_by_role("list", name="Attempts")).to_contain_text("not accepted")
    assert (axe(page), overflow(page)) == ([], 0)
    page.get_by_label("Status").select_option("sent")
    expect(log.get_by_role("button", name="Test", exact=True)).to_have_count(1)


def test_notification_preferences(page: Page, outbound_server: Server) -> None:
    outbound_server.call("POST", "/api/channels", {"name": "Mail", "kind": "email"})
    page.goto(outbound_server.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.goto(outbound_server.address + "/settings/notifications")
    page.get_by_role("checkbox", name="Run completed").uncheck()
    page.get_by_role("switch", name="Quiet hours").check()
    page.get_by_label("Time zone").fill("Europe/Nowhere")
    page.get_by_role("button", name="Save preferences").click()
    expect(page.get_by_text("Couldn't save your preferences.")).to_be_visible()
    page.get_by_label("Time zone").fill("Europe/Berlin")
    assert (axe(page), overflow(page)) == ([], 0)
    page.get_by_role("button", name="Save preferences").click()
    expect(page.get_by_text("Preferences saved.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("checkbox", name="Run completed")).not_to_be_checked()
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")
    stored = outbound_server.call("GET", "/api/preferences")
    assert (stored["channels"], stored["quiet_hours"]) == (
        None,
        {"start": "22:00", "end": "07:00", "time_zone": "Europe/Berlin"},
    )
