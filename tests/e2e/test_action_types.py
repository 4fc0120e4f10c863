"""Admins see and change the catalogue of action types."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.page_checks import check_page
from tests.e2e.server import Server


def test_an_action_type_is_created_changed_and_removed(signed_in: Page, server: Server) -> None:
    page = signed_in
    page.get_by_role("link", name="Settings").first.click()
    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Action types").click()
    types = page.get_by_role("list", name="Action types")
    expect(types.get_by_role("listitem").filter(has_text="http_request")).to_contain_text("Built in")
    check_page(page)

    page.get_by_role("button", name="New action type…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("refund")
    dialog.get_by_label("Title of its approvals").fill("Refund {{ amount }}")
    dialog.get_by_label("Lowest risk").select_option("medium")
    dialog.get_by_label("Identity").fill("amount, account")
    schema = dialog.get_by_label("JSON Schema")
    schema.fill("{")
    expect(dialog.get_by_role("button", name="Save action type")).to_be_disabled()
    schema.fill('{"type": "object", "properties": {"amount": {"type": "number"}, "account": {}}}')
    check_page(page)
    dialog.get_by_role("button", name="Save action type").click()
    refund = types.get_by_role("listitem").filter(has=page.get_by_text("refund", exact=True))
    expect(refund).to_contain_text("Changed here")
    [saved] = [kind for kind in server.call("GET", "/api/actions/types")["items"] if kind["name"] == "refund"]
    assert (saved["risk_level"], saved["identity"], saved["title_template"]) == (
        "medium",
        ["amount", "account"],
        "Refund {{ amount }}",
    )

    page.get_by_role("button", name="Edit http_request…").click()
    expect(dialog.get_by_label("JSON Schema")).to_have_count(0)
    dialog.get_by_label("Hosts").fill("api.example.com")
    dialog.get_by_role("button", name="Save action type").click()
    expect(types.get_by_role("listitem").filter(has_text="http_request")).to_contain_text("api.example.com")
    for name in ("refund", "http_request"):
        page.get_by_role("button", name=f"Remove {name}…").click()
        page.get_by_role("button", name="Remove action type").click()
    expect(types.get_by_role("listitem")).to_have_count(4)
    expect(types.get_by_role("listitem").filter(has_text="http_request")).to_contain_text("Built in")
