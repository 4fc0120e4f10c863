"""Pending approvals on the home page and in the inbox: order, filters, keyboard, bulk decisions."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.samples import REFUND, form_then_approval
from tests.e2e.server import Server

RULES = """
version: "1.0"
checkpoints:
  - name: Letters about money
    trigger: { operation_type: [send_email] }
    action: { auto_approve: false, timeout_seconds: 3120, on_timeout: fail }
"""
DESK, PHONE = 1440, 360
WIDTHS = pytest.mark.parametrize("width", [DESK, PHONE])


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A server with an old form and three emails that have a deadline."""
    running = Server(tmp_path_factory.mktemp("queue"))
    running.wait_for_approval(running.start(running.define(form_then_approval("Filled by hand"))), 0, "input")
    running.call("PUT", "/api/rules", RULES)
    propose(running, 3)
    yield running
    running.stop()


def propose(server: Server, times: int) -> list[dict[str, Any]]:
    pipeline_id = server.define(REFUND)
    runs = [server.start(pipeline_id) for _ in range(times)]
    return [server.wait_for_approval(run_id, 4, "action")["approval"] for run_id in runs]


def open_at(page: Page, server: Server, address: str, width: int = DESK) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(server.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.goto(server.address + address)


def rows(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("listitem").filter(has=page.locator("[data-row-link]"))


def record_requests(page: Page) -> list[str]:
    """Collect the requests of the page from now on."""
    requests: list[str] = []
    page.on("request", lambda request: requests.append(f"{request.method} {request.url}"))
    return requests


@WIDTHS
def test_home_shows_the_most_urgent_first(page: Page, queue: Server, width: int) -> None:
    """One list from one request, with the remaining time and what happens at the deadline."""
    requests = record_requests(page)
    open_at(page, queue, "/", width)
    expect(page.get_by_role("heading", level=1)).to_contain_text("waiting for you")
    first = rows(page).first
    expect(first).to_contain_text("Send “Refund Confirmation - Order #12345” to customer@example.com")
    expect(first).to_contain_text("High risk")
    expect(first).to_contain_text("min left")
    expect(first).to_contain_text("then it fails")
    expect(rows(page).last).to_contain_text("Fill in Goals")
    assert [request for request in requests if "/api/approvals/" in request] == []
    first.get_by_role("link").first.click()
    expect(page.get_by_role("region", name="Time left").locator("visible=true").first).to_contain_text("then it fails")
    expect(page.get_by_text("Letters about money")).to_be_visible()


@WIDTHS
def test_the_inbox_is_filtered_and_sorted(page: Page, queue: Server, width: int) -> None:
    """The address keeps filters and order."""
    open_at(page, queue, "/approvals", width)
    expect(rows(page).first).to_contain_text("Send “Refund")
    page.get_by_label("Sort by", exact=True).select_option(label="Oldest first")
    expect(rows(page).first).to_contain_text("Fill in Goals")
    page.get_by_label("Kind").select_option(label="Actions")
    expect(rows(page).first).to_contain_text("Send “Refund")
    expect(rows(page).filter(has_text="Fill in")).to_have_count(0)
    page.reload()
    expect(page.get_by_label("Kind")).to_have_value("action")
    page.get_by_label("Risk").select_option(label="Low")
    expect(page.get_by_text("No approvals match the filters")).to_be_visible()
    page.get_by_role("button", name="Show all approvals").click()
    expect(rows(page).filter(has_text="Fill in Goals")).to_have_count(1)


def test_keys_navigate_the_inbox_and_ask_for_confirmation(page: Page, queue: Server) -> None:
    """J, K and ↵. The key of a decision never decides in the list."""
    open_at(page, queue, "/approvals?kind=action&sort=age")
    expect(rows(page)).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(rows(page).nth(1).locator("[data-row-link]")).to_be_focused()
    page.keyboard.press("k")
    expect(rows(page).nth(0).locator("[data-row-link]")).to_be_focused()
    page.keyboard.press("m")
    expect(page.get_by_role("dialog", name="Modify action")).to_be_visible()
    page.go_back()
    expect(rows(page)).to_have_count(3)
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Approve and send")).to_be_focused()
    page.keyboard.press("j")
    expect(page.get_by_text("2 of 3")).to_be_visible()
    page.go_back()
    page.go_back()
    expect(rows(page)).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Send “Refund")


@WIDTHS
def test_approvals_of_one_kind_are_decided_together(page: Page, fresh_server: Server, width: int) -> None:
    """The dialog shows their number. An approval that was decided meanwhile is refused."""
    approvals = propose(fresh_server, 3)
    form = fresh_server.start(fresh_server.define(form_then_approval("Not like these")))
    fresh_server.wait_for_approval(form, 0, "input")
    open_at(page, fresh_server, "/approvals", width)
    boxes = page.get_by_role("checkbox", name="Select Send")
    expect(boxes).to_have_count(3)
    expect(page.get_by_role("checkbox", name="Select Fill in Goals")).to_be_disabled()
    boxes.first.check()
    page.get_by_role("button", name="Select all 3").click()
    page.get_by_role("button", name="Reject 3…").click()
    dialog = page.get_by_role("dialog", name="Reject 3: Send email")
    expect(dialog).to_contain_text("3 runs will fail with your reason. 3 of 3 are high risk.")
    dialog.get_by_role("button", name="Reject 3").click()
    expect(dialog.get_by_text("Enter a reason.")).to_be_visible()
    first = approvals[0]
    fresh_server.call("PUT", f"/api/approvals/{first['approval_id']}/approve", {"digest": first["digest"]})
    dialog.get_by_label("Reason").fill("The shop is closed.")
    dialog.get_by_role("button", name="Reject 3").click()
    expect(dialog).to_contain_text("2 rejected, 1 not.")
    dialog.get_by_role("button", name="Back to approvals").click()
    expect(boxes).to_have_count(0)
    assert [
        fresh_server.call("GET", f"/api/approvals/{approval['approval_id']}")["status"] for approval in approvals
    ] == [
        "approved",
        "rejected",
        "rejected",
    ]
