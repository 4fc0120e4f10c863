"""Every page is accessible and nothing overflows, light and dark, on a desktop and on a phone."""

from __future__ import annotations

from typing import Literal
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page_checks import axe, overflow
from tests.e2e.samples import REFUND, form_then_approval, one_function
from tests.e2e.server import Server

Scheme = Literal["light", "dark"]

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
TEXT = """# Title

A *word* and `code`

| a | b |
|---|---|
| 1 | 2 |

<script>document.title = 'broken'</script>
"""


@pytest.fixture(scope="module")
def app(server: Server) -> dict[str, str]:
    """Create runs in every state that is displayed differently. Returns page addresses by name."""
    filled = server.start(server.define(form_then_approval("Filled", FIELDS)))
    waiting = server.start(server.define(MARKDOWN))
    execution = server.wait_for_approval(waiting, 0, "input")["execution_id"]
    server.call("POST", f"/api/executions/{execution}/submit", {"fields": {"text": TEXT}})
    server.wait_for_approval(waiting, 0, "completion")
    failed = server.start(server.define(one_function("Failed", "e2e.fail_once", f"{{mark: {uuid4().hex}}}")))
    server.wait_for_run(failed, "paused")
    done_pipeline = server.define(one_function("Done", "e2e.big_number"))
    done = server.start(done_pipeline)
    server.wait_for_run(done, "completed")
    server.wait_for_run(server.start(done_pipeline), "completed")
    working = server.start(server.define(one_function("Working", "e2e.wait", "{gate: never}")))
    server.call("PUT", f"/api/pipelines/{done_pipeline}", {"pipeline_description": "Said later"})
    logging = server.start(server.define(one_function("Talking", "e2e.talk", "{gate: never, lines: 700}")))
    approval = server.wait_for_approval(waiting, 0, "completion")["approval"]["approval_id"]
    proposing = server.start(server.define(REFUND))
    action = server.wait_for_approval(proposing, 4, "action")["approval"]["approval_id"]
    faulty = server.start(server.define(one_function("Faulty", "e2e.fail")))
    server.wait_for_run(faulty, "paused")
    return {
        "home": "/",
        "approvals": "/approvals",
        "approvals of one kind": "/approvals?kind=validation",
        "approval of a result": f"/approvals/{approval}",
        "approval of an action": f"/approvals/{action}",
        "run with an action": f"/runs/{proposing}",
        "pipelines": "/pipelines",
        "new from a template": "/pipelines/new",
        "templates": "/templates",
        "agents": "/agents",
        "new agent": "/agents?new=true",
        "agent": "/agents/ticket-analyzer",
        "editing an agent": "/agents/ticket-analyzer?edit=true",
        "no such agent": "/agents/nobody",
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
        "log": f"/runs/{logging}?tab=log",
        "fault": f"/runs/{faulty}",
        "events of a run": f"/runs/{waiting}?tab=events",
        "failed run": f"/runs/{failed}",
        "working run": f"/runs/{working}",
        "completed run": f"/runs/{done}",
        "events": "/events",
        "rules": "/rules",
        "rules of a pipeline": f"/rules?pipeline={done_pipeline}",
        "account": "/settings",
        "notification preferences": "/settings/notifications",
        "users": "/settings/users",
        "groups": "/settings/groups",
        "tokens": "/settings/tokens",
        "secrets": "/settings/secrets",
        "tools": "/settings/tools",
        "channels": "/settings/channels",
        "deliveries": "/settings/deliveries",
        "no such page": "/nowhere",
        "no such approval": "/approvals/00000000-0000-4000-8000-000000000000",
        "no such run": "/runs/00000000-0000-4000-8000-000000000000",
    }


def wait_for_page(page: Page) -> None:
    expect(page.locator("h1")).to_have_count(1)
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def sign_in(page: Page, server: Server, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme="light")
    page.goto(server.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()


def violations_of(page: Page, *schemes: Scheme) -> list[str]:
    """Return accessibility violations and overflow in each color scheme, without reloading the page."""
    found: list[str] = []
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {violation}" for violation in axe(page)]
        if (wider := overflow(page)) > 0:
            found.append(f"{scheme}: {wider} px too wide")
    page.emulate_media(color_scheme="light")
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("width", "schemes"), [(1440, ("light", "dark")), (1100, ("light",)), (360, ("light", "dark"))]
)
def test_every_page_is_accessible(
    page: Page, server: Server, app: dict[str, str], width: int, schemes: tuple[Scheme, ...]
) -> None:
    sign_in(page, server, width)
    found: dict[str, list[str]] = {}
    for name, address in app.items():
        page.goto(server.address + address)
        wait_for_page(page)
        if violations := violations_of(page, *schemes):
            found[name] = violations
    assert found == {}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("width", [1440, 360])
def test_every_dialog_is_accessible(page: Page, server: Server, app: dict[str, str], width: int) -> None:
    sign_in(page, server, width)
    found: dict[str, list[str]] = {}
    page.goto(server.address + app["pipeline"])
    page.get_by_role("button", name="Start v3 (based on v2)").click()
    expect(page.get_by_label("Input (JSON, optional)")).to_be_visible()
    found["start"] = violations_of(page, "light", "dark")
    page.goto(server.address + app["approval"])
    page.get_by_role("button", name="Reject…").click()
    expect(page.get_by_label("Reason")).to_be_focused()
    found["reject"] = violations_of(page, "light", "dark")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto(server.address + app["approval of an action"])
    page.get_by_role("button", name="Modify").click()
    expect(page.get_by_role("dialog", name="Modify action").get_by_label("Subject")).to_be_visible()
    found["modify"] = violations_of(page, "light", "dark")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Reassign…").click()
    expect(page.get_by_role("dialog", name="Reassign approval")).to_be_visible()
    found["hand over"] = violations_of(page, "light", "dark")
    page.goto(server.address + app["approvals"])
    page.get_by_role("checkbox", name="Select Send “Refund").first.check()
    page.get_by_role("button", name="Approve 1…").click()
    expect(page.get_by_role("dialog", name="Approve 1: Send email")).to_be_visible()
    found["several"] = violations_of(page, "light", "dark")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    found["keys"] = violations_of(page, "light", "dark")
    page.goto(server.address + app["completed run"])
    page.get_by_role("button", name="More actions for this run").click()
    expect(page.get_by_role("menuitem", name="Run again with the same input")).to_be_visible()
    found["menu"] = violations_of(page, "light", "dark")
    page.get_by_role("menuitem", name="Restart from the first checkpoint…").click()
    expect(page.get_by_role("dialog", name="Start pass 2")).to_be_visible()
    found["restart"] = violations_of(page, "light", "dark")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="More actions for this run").click()
    if width < 760:
        page.get_by_role("menuitem", name="Roll back…").click()
    else:
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Roll back…").click()
    expect(page.get_by_role("dialog")).to_contain_text("Archived, not deleted")
    found["rollback"] = violations_of(page, "light", "dark")
    assert {name: violations for name, violations in found.items() if violations} == {}


def test_artifact_content_is_never_executed(signed_in: Page, server: Server, app: dict[str, str]) -> None:
    """HTML and scripts in artifacts are shown as text."""
    signed_in.goto(server.address + app["artifacts"])
    expect(signed_in.get_by_role("tabpanel", name="Artifacts")).to_contain_text("Title")
    assert "broken" not in signed_in.title()
    assert signed_in.locator("[role=tabpanel] script").count() == 0


def test_the_timeline_expands_on_a_phone(page: Page, server: Server, app: dict[str, str]) -> None:
    sign_in(page, server, 360)
    page.goto(server.address + app["working run"])
    picker = page.get_by_role("button", name="1 of 1, Work")
    picker.click()
    expect(page.get_by_role("list", name="Checkpoints").get_by_role("button")).to_be_visible()
    expect(picker).to_have_attribute("aria-expanded", "true")
