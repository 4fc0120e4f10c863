"""Decide on a proposed action in the browser, on a desktop and on a phone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page_checks import axe, overflow
from tests.e2e.samples import REFUND
from tests.e2e.server import Server

SUBJECT = "Refund Confirmation - Order #12345"
TITLE = f"Send “{SUBJECT}” to customer@example.com"
DESK, PHONE = 1440, 360
WIDTHS = pytest.mark.parametrize("width", [DESK, PHONE])


def propose(server: Server) -> dict[str, Any]:
    """Start a run that proposes a refund email and return its approval."""
    run_id = server.start(server.define(REFUND))
    approval: dict[str, Any] = server.wait_for_approval(run_id, 4, "action")["approval"]
    return approval


def open_at(page: Page, server: Server, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(server.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.goto(server.address + address)
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def open_approval(page: Page, server: Server, approval: dict[str, Any], width: int = DESK) -> None:
    open_at(page, server, f"/approvals/{approval['approval_id']}", width)
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()


def detail(server: Server, approval: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = server.call("GET", f"/api/approvals/{approval['approval_id']}")
    return found


@WIDTHS
def test_the_page_shows_everything_about_the_action(page: Page, server: Server, width: int) -> None:
    """Action, reasoning, confidence, risk with its reason, data, steps and digest. It is approved with a comment."""
    approval = propose(server)
    open_approval(page, server, approval, width)
    main = page.get_by_role("main")
    for text in (
        "Refund email v1",
        "checkpoint 5, Send email",
        "Your refund of $99.99 has been processed for Order #12345.",
        "refund_receipt.txt",
        "Ticket CS-1234 asks for a refund",
        "Wireless headphones",
        "CUST-5678",
        "87%",
        "An email leaves Cairn and can't be taken back.",
        "No rule applies.",
        "Ticket analyzer",
        "Email generator",
        f"{approval['digest'][:4]}…",
    ):
        expect(main.get_by_text(text).locator("visible=true").first).to_be_visible()
    page.get_by_label("Decision comment (optional)").fill("Checked against the policy.")
    page.get_by_role("button", name="Approve and send").click()
    expect(page.get_by_text("Approved by")).to_be_visible()
    expect(page.get_by_text("No mail server is configured")).to_be_visible()
    server.wait_for_run(approval["run_id"], "completed")
    assert [(vote["decision"], vote["feedback"]) for vote in detail(server, approval)["decisions"]] == [
        ("approve", "Checked against the policy.")
    ]


@WIDTHS
def test_an_action_is_rejected_with_a_reason(page: Page, server: Server, width: int) -> None:
    approval = propose(server)
    open_approval(page, server, approval, width)
    page.get_by_role("button", name="Reject…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Reject and fail run").click()
    expect(dialog.get_by_text("This field is required.")).to_be_visible()
    dialog.get_by_label("Reason").fill("The amount exceeds the policy.")
    dialog.get_by_role("button", name="Reject and fail run").click()
    expect(page.get_by_text("Rejected by")).to_be_visible()
    server.wait_for_run(approval["run_id"], "failed")


@WIDTHS
def test_changed_parameters_show_a_live_diff(page: Page, server: Server, width: int) -> None:
    """Form, diff and validation. The approved parameters are executed."""
    approval = propose(server)
    open_approval(page, server, approval, width)
    page.get_by_role("button", name="Modify").click()
    dialog = page.get_by_role("dialog", name="Modify action")
    expect(dialog.get_by_role("button", name="Approve with changes")).to_be_disabled()

    dialog.get_by_label("Amount").fill("-1")
    expect(dialog.get_by_label("Amount")).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_role("button", name="Approve with 1 change")).to_be_disabled()
    dialog.get_by_label("Amount").fill("89.99")
    dialog.get_by_label("Subject").fill(f"URGENT: {SUBJECT}")
    expect(dialog.get_by_text("10.00 less")).to_be_visible()
    expect(dialog.get_by_text("Your refund of $89.99 has been processed")).to_be_visible()
    expect(dialog.get_by_text("Parameters are valid")).to_be_visible()
    assert axe(page) == []
    assert overflow(page) == 0

    dialog.get_by_text("JSON", exact=True).click()
    written = dialog.get_by_label("Parameters as JSON")
    expect(written).to_have_value(re.compile('"amount": 89.99'))
    dialog.get_by_label("Use as an example for agents").check()
    dialog.get_by_role("button", name="Approve with 2 changes").click()
    expect(page.get_by_text("Approved by")).to_be_visible()
    expect(page.get_by_role("heading", name=f"Send “URGENT: {SUBJECT}” to customer@example.com")).to_be_visible()
    server.wait_for_run(approval["run_id"], "completed")
    action = detail(server, approval)["action"]
    assert action["approved_parameters"] == {
        **action["parameters"],
        "amount": 89.99,
        "subject": f"URGENT: {SUBJECT}",
    }
    cases = server.call("GET", "/api/corrections?limit=200")["items"]
    assert [
        [change["field"] for change in case["changes"]]
        for case in cases
        if case["approval_id"] == approval["approval_id"]
    ] == [["subject", "amount"]]


def test_invalid_json_is_reported_and_kept(page: Page, server: Server) -> None:
    approval = propose(server)
    open_approval(page, server, approval)
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog", name="Modify action")
    dialog.get_by_text("JSON", exact=True).click()
    written = dialog.get_by_label("Parameters as JSON")
    written.fill('{"to": "customer@example.com",')
    expect(dialog.get_by_role("button", name="Approve with changes")).to_be_disabled()
    expect(written).to_have_value('{"to": "customer@example.com",')
    dialog.get_by_role("button", name="Reset changes").click()
    expect(dialog.get_by_text("No changes yet")).to_be_visible()


def test_a_risky_action_needs_more_than_one_key(page: Page, server: Server) -> None:
    """The first key only moves the focus, and ↵ confirms."""
    approval = propose(server)
    open_approval(page, server, approval)
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Approve and send")).to_be_focused()
    assert detail(server, approval)["status"] == "pending"
    page.keyboard.press("Enter")
    expect(page.get_by_text("Approved by")).to_be_visible()


def test_a_decision_made_elsewhere_keeps_the_draft(page: Page, server: Server) -> None:
    approval = propose(server)
    open_approval(page, server, approval)
    page.get_by_role("button", name="Reject…").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("Not this one.")
    server.call("PUT", f"/api/approvals/{approval['approval_id']}/approve", {"digest": approval["digest"]})
    expect(page.get_by_text("already decided this approval.")).to_be_visible()
    expect(page.get_by_text("Your unsent text: Not this one.")).to_be_visible()
    assert [vote["decision"] for vote in detail(server, approval)["decisions"]] == ["approve"]


def test_a_late_decision_is_refused(page: Page, server: Server) -> None:
    """The page has not received the first decision yet."""
    approval = propose(server)
    page.route("**/api/stream*", lambda route: route.abort())
    open_approval(page, server, approval)
    page.get_by_label("Decision comment (optional)").fill("Looks right.")
    server.call("PUT", f"/api/approvals/{approval['approval_id']}/approve", {"digest": approval["digest"]})
    page.get_by_role("button", name="Approve and send").click()
    expect(page.get_by_text("already decided this approval.")).to_be_visible()
    expect(page.get_by_text("Your unsent text: Looks right.")).to_be_visible()


def test_an_approval_is_commented_on_and_reassigned(page: Page, server: Server) -> None:
    approval = propose(server)
    open_approval(page, server, approval)
    page.get_by_label("Add a comment").fill("Is the order really his?")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.get_by_text("Is the order really his?")).to_be_visible()
    page.get_by_role("button", name="Reassign…").click()
    dialog = page.get_by_role("dialog", name="Reassign approval")
    dialog.get_by_label("Assign to").fill("approver")
    dialog.get_by_role("button", name="Reassign", exact=True).click()
    expect(page.get_by_text("from approver.")).to_be_visible()


def test_the_run_links_to_the_approval(page: Page, server: Server) -> None:
    """The steps on the approval page link to their checkpoints."""
    approval = propose(server)
    open_at(page, server, f"/runs/{approval['run_id']}", DESK)
    expect(page.get_by_text(f"{TITLE}?")).to_be_visible()
    page.get_by_role("link", name="Review action").click()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    page.get_by_role("link", name="Ticket analyzer").click()
    expect(page.get_by_role("heading", name="1. Ticket analyzer", level=2)).to_be_visible()
