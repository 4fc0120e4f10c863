"""Templates: search, details, use, edit and start with sample input."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.page_checks import check_page
from tests.e2e.server import Server


def test_a_template_is_found_used_and_started(signed_in: Page, server: Server) -> None:
    templates: list[dict[str, Any]] = server.call("GET", "/api/templates")["items"]
    signed_in.get_by_role("link", name="Templates", exact=True).click()
    cards = signed_in.get_by_role("main").get_by_role("heading", level=2)
    expect(cards).to_have_text([template["title"] for template in templates])
    check_page(signed_in)

    signed_in.get_by_label("Uses").select_option("agents")
    expect(cards).to_have_text([template["title"] for template in templates if "agents" in template["uses"]])
    signed_in.get_by_label("Search templates").fill("nothing is like this")
    signed_in.get_by_role("button", name="Show all templates").click()
    expect(cards).to_have_count(len(templates))
    signed_in.get_by_label("Search templates").fill("triage")
    expect(cards).to_have_text(["Ticket triage"])
    triage = next(template for template in templates if template["name"] == "ticket-triage")
    steps = signed_in.get_by_role("list", name="Checkpoints of Ticket triage").get_by_role("listitem")
    expect(steps).to_have_count(len(triage["checkpoints"]))
    expect(steps.last).to_contain_text("Agent, requires approval")

    signed_in.get_by_role("button", name="Use template: Ticket triage").click()
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("Ticket triage")
    signed_in.get_by_role("button", name="Start v1").click()
    editor = signed_in.get_by_role("dialog").get_by_label("Input (JSON)")
    for name in triage["sample_input"]:
        expect(editor).to_have_value(re.compile(f'"{name}"'))
    signed_in.get_by_role("dialog").get_by_role("button", name="Start v1").click()
    expect(signed_in.get_by_role("region", name="Status and actions")).to_contain_text("simulated model")


def test_a_template_is_edited_before_use(signed_in: Page, server: Server) -> None:
    signed_in.goto(f"{server.address}/templates")
    signed_in.get_by_role("button", name="Customize: Build or buy").click()
    text = signed_in.get_by_role("textbox")
    expect(text.first).to_have_value(re.compile("Build or buy"))
    signed_in.get_by_role("button", name="Create pipeline").click()
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("Build or buy")
