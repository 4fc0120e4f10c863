"""Two approvers: the second decides on the parameters that the first changed."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.samples import REFUND
from tests.e2e.server import Server

RULES = """
version: "1.0"
checkpoints:
  - name: Four eyes
    trigger: { operation_type: [send_email] }
    action: { auto_approve: false, require_approval_count: 2, timeout_seconds: 3600 }
"""


def test_the_second_approver_sees_the_changes_of_the_first(page: Page, fresh_server: Server) -> None:
    server = fresh_server
    requests: list[str] = []
    server.call("POST", "/api/users", {"name": "reviewer", "roles": ["approver"]}, expect=201)
    token: str = server.call("POST", "/api/tokens", {"name": "e2e", "user": "reviewer"}, expect=201)["token"]
    server.call("PUT", "/api/rules", RULES)
    run_id = server.start(server.define(REFUND))
    approval: dict[str, Any] = server.wait_for_approval(run_id, 4, "action")["approval"]
    address = f"/api/approvals/{approval['approval_id']}"

    page.on("request", lambda request: requests.append(f"{request.method} {request.url}"))
    page.goto(server.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.goto(f"{server.address}/approvals/{approval['approval_id']}")
    expect(page.get_by_text("0 of 2 approvals given")).to_be_visible()
    expect(page.get_by_text("Four eyes")).to_be_visible()

    body = {"digest": approval["digest"], "modified_params": {"amount": 89.99}}
    server.call("PUT", f"{address}/approve", body, token=token)
    expect(page.get_by_text("This approval changed while you were viewing it.")).to_be_visible()
    expect(page.get_by_text("Your refund of $99.99")).to_be_visible()
    expect(page.get_by_role("button", name="Approve and send")).to_have_count(0)

    page.get_by_role("button", name="Show current version").click()
    expect(page.get_by_text("Your refund of $89.99")).to_be_visible()
    expect(page.get_by_text("1 of 2 approvals given")).to_be_visible()
    assert [request for request in requests if request.startswith("PUT")] == []
    assert page.get_by_text("Not enough approvers").count() == 0
    page.get_by_role("button", name="Approve and send").click()
    expect(page.get_by_text("Approved by")).to_be_visible()
    server.wait_for_run(run_id, "completed")
    action = server.call("GET", address)["action"]
    assert (action["parameters"]["amount"], action["approved_parameters"]["amount"]) == (99.99, 89.99)


def test_too_few_approvers_is_shown_in_the_run_and_the_approval(page: Page, fresh_server: Server) -> None:
    """An approver was removed after the rule was saved."""
    server = fresh_server
    server.call("POST", "/api/users", {"name": "reviewer", "roles": ["approver"]}, expect=201)
    server.call("PUT", "/api/rules", RULES)
    server.call("DELETE", "/api/users/reviewer")
    server.wait_for_approval(server.start(server.define(REFUND)), 4, "action")
    warning = "Needs 2 decisions, but only 1 user can decide. Give more users the approver role."
    page.goto(server.start_link)
    expect(page.get_by_text(warning)).to_be_visible()
    page.get_by_role("link", name="Send “Refund").first.click()
    expect(page.get_by_text("Not enough approvers")).to_be_visible()
    expect(page.get_by_text(warning)).to_be_visible()
    server.call("POST", "/api/users/reviewer/restore")
    page.reload()
    expect(page.get_by_text("0 of 2 approvals given")).to_be_visible()
    expect(page.get_by_text("Not enough approvers")).to_have_count(0)
