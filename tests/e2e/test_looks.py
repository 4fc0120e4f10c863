"""Every page, light and dark, on a desk and on a phone: axe finds nothing and nothing is wider than the window (F2)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.looking import Complaints, axe, overflow
from tests.e2e.samples import form_then_approval, one_function
from tests.e2e.server import Server

FIELDS = """
      - {name: goal, label: What do we want to reach in the longest word of all, type: multiline_text}
      - {name: amount, label: Amount, type: number, required: false, validation: {minimum: 1}}
      - {name: sure, label: Sure, type: boolean}
      - {name: offer, label: Offer, type: file, required: false}
"""
MARKDOWN = """
pipeline_name: Written down
checkpoints:
  - key: text
    checkpoint_name: A checkpoint with a rather long name that has to break somewhere
    form: [{name: text, label: Text, type: multiline_text}]
    outputs: [text.md]
    approve: complete
"""


@pytest.fixture(scope="module")
def house(server: Server) -> dict[str, str]:
    """Runs in every state that has a look of its own; their addresses by name."""
    filled = server.start(server.define(form_then_approval("Filled", FIELDS)))
    waiting = server.start(server.define(MARKDOWN))
    execution = server.execution(waiting, 0)["execution_id"]
    text = "# Title\n\nA *word* and `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>document.title = 'broken'</script>"
    server.call("POST", f"/api/executions/{execution}/submit", {"fields": {"text": text}})
    failed = server.start(server.define(one_function("Failed", "e2e.fail_once", "{mark: looked-at}")))
    server.until(failed, "paused")
    done_pipeline = server.define(one_function("Done", "e2e.big_number"))
    done = server.start(done_pipeline)
    server.until(done, "completed")
    server.until(server.start(done_pipeline), "completed")
    working = server.start(server.define(one_function("Working", "e2e.wait", "{gate: never}")))
    server.call("PUT", f"/api/pipelines/{done_pipeline}", {"pipeline_description": "Said later"})
    return {
        "home": "/",
        "approvals": "/approvals",
        "pipelines": "/pipelines",
        "new from a template": "/pipelines/new",
        "new in YAML": "/pipelines/new?from=yaml",
        "pipeline": f"/pipelines/{done_pipeline}",
        "definition": f"/pipelines/{done_pipeline}?tab=definition",
        "editing": f"/pipelines/{done_pipeline}?tab=definition&edit=true",
        "history": f"/pipelines/{done_pipeline}?tab=history",
        "runs": "/runs",
        "form": f"/runs/{filled}",
        "approval": f"/runs/{waiting}",
        "artifacts": f"/runs/{waiting}?tab=artifacts",
        "context": f"/runs/{waiting}?tab=context",
        "log": f"/runs/{working}?tab=log",
        "events of a run": f"/runs/{waiting}?tab=events",
        "failed run": f"/runs/{failed}",
        "working run": f"/runs/{working}",
        "completed run": f"/runs/{done}",
        "events": "/events",
        "no such page": "/nowhere",
        "no such run": "/runs/00000000-0000-4000-8000-000000000000",
    }


def settled(page: Page) -> None:
    expect(page.locator("h1")).to_have_count(1)
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 1100, 360])
def test_every_page(
    browser: Browser,
    browser_context_args: dict[str, Any],
    server: Server,
    house: dict[str, str],
    width: int,
    scheme: str,
) -> None:
    options = {**browser_context_args, "viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    context = browser.new_context(**options)
    page = context.new_page()
    heard = Complaints(page)
    page.goto(server.start_link)
    found: dict[str, list[str]] = {}
    for name, address in house.items():
        page.goto(server.address + address)
        settled(page)
        wider = overflow(page)
        faults = axe(page) + ([f"{wider} px too wide"] if wider > 0 else []) + heard.found
        heard.found.clear()
        if faults:
            found[name] = faults
    context.close()
    assert found == {}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 360])
def test_every_dialog(
    browser: Browser,
    browser_context_args: dict[str, Any],
    server: Server,
    house: dict[str, str],
    width: int,
    scheme: str,
) -> None:
    options = {**browser_context_args, "viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    context = browser.new_context(**options)
    page = context.new_page()
    page.goto(server.start_link)
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        wider = overflow(page)
        faults = axe(page) + ([f"{wider} px too wide"] if wider > 0 else [])
        if faults:
            found[name] = faults

    page.goto(server.address + house["pipeline"])
    page.get_by_role("button", name="Start v3, extends v2").click()
    expect(page.get_by_label("Input as JSON (optional)")).to_be_visible()
    look("start")
    page.goto(server.address + house["approval"])
    page.get_by_role("button", name="Reject…").click()
    expect(page.get_by_label("Reason")).to_be_focused()
    look("reject")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    look("keys")
    page.goto(server.address + house["completed run"])
    page.get_by_role("button", name="More for this run").click()
    expect(page.get_by_role("menuitem", name="Run again with the same input")).to_be_visible()
    look("menu")
    if width < 760:
        page.get_by_role("menuitem", name="Roll back…").click()
    else:
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Roll back…").click()
    expect(page.get_by_role("dialog")).to_contain_text("What happens")
    expect(page.get_by_role("dialog")).to_contain_text("Archived, not deleted")
    look("rollback")
    context.close()
    assert found == {}


def test_what_an_artifact_holds_is_never_carried_out(signed_in: Page, server: Server, house: dict[str, str]) -> None:
    """S3: HTML and script in artifacts are text."""
    signed_in.goto(server.address + house["artifacts"])
    expect(signed_in.get_by_role("tabpanel", name="Artifacts")).to_contain_text("Title")
    assert "broken" not in signed_in.title()
    assert signed_in.locator("[role=tabpanel] script").count() == 0


def test_the_phone_unfolds_the_timeline(page: Page, server: Server, house: dict[str, str]) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(server.start_link)
    page.goto(server.address + house["working run"])
    picker = page.get_by_role("button", name="1 of 1, Work")
    picker.click()
    expect(page.get_by_role("list", name="Checkpoints").get_by_role("button")).to_be_visible()
    expect(picker).to_have_attribute("aria-expanded", "true")
