"""The first minutes after starting Cairn."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from cairn.definitions import builtin_templates
from tests.e2e.page_checks import axe, overflow
from tests.e2e.server import Server


@pytest.mark.parametrize("width", [1440, 360])
def test_a_sample_leads_to_the_first_approval(page: Page, fresh_server: Server, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{fresh_server.address}/")
    expect(page.get_by_role("heading", name="Sign in to Cairn")).to_be_visible()
    assert (axe(page), overflow(page)) == ([], 0)
    page.goto(fresh_server.start_link)
    expect(page.get_by_role("heading", name="Approve your first run in two minutes")).to_be_visible()
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    assert (axe(page), overflow(page)) == ([], 0)

    page.get_by_role("button", name="Start Text report").click()
    expect(page.get_by_text("Approve Write report?")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("Run completed")).to_be_visible()


def test_a_sample_with_agents_is_offered_and_runs_offline(page: Page, fresh_server: Server) -> None:
    """A template with agents reaches its approval without an API key."""
    page.goto(fresh_server.start_link)
    expect(page.get_by_role("heading", name="Approve your first run in two minutes")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Start "))).to_have_count(6)
    page.get_by_role("link", name="All templates").click()
    expect(page.get_by_role("button", name=re.compile("^Use template"))).to_have_count(len(builtin_templates()))
    page.go_back()
    page.get_by_role("button", name="Start Ticket triage").click()
    expect(page.get_by_text("Approve Solution generator?")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("Run completed")).to_be_visible()


def test_home_lists_runs_that_wait_for_a_start(page: Page, fresh_server: Server) -> None:
    """A checkpoint without approval waits to be started."""
    page.goto(fresh_server.start_link)
    page.get_by_role("button", name="Start Product discovery").click()
    expect(page.get_by_text("Complete form: Business goals")).to_be_visible()
    page.get_by_label("What do we want to achieve?").fill("Suppliers answer within a day.")
    page.get_by_label("Who is it for?").fill("Suppliers")
    page.get_by_label("How will we measure success?").fill("Half as many mails")
    page.get_by_role("button", name="Submit form").click()
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("Start Requirements?")).to_be_visible()
    page.get_by_role("link", name="Home", exact=True).click()
    expect(page.get_by_role("heading", name="1 item waiting for you")).to_be_visible()
    page.get_by_role("link", name="Start Requirements", exact=True).click()
    expect(page.get_by_text("Start Requirements?")).to_be_visible()
