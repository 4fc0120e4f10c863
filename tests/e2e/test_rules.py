"""Rules in the browser: edit, validate, backtest, publish, emergency stop."""

from __future__ import annotations

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page_checks import axe, overflow
from tests.e2e.samples import one_function
from tests.e2e.server import Server

RULES = """version: "1.0"
checkpoints:
  - name: Large amounts
    priority: 1
    trigger:
      kind: action
      data_threshold: { field: amount, operator: ">", value: 1000 }
    action: { timeout_seconds: 3600 }
auto_approval:
  enabled: true
  rules:
    - name: Small refunds
      conditions:
        operation_type: refund
        data_threshold: { field: amount, operator: "<=", value: 50 }
        confidence: ">= 0.9"
      action: { auto_approve: true, audit_sample_percentage: 100 }
"""


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A new server, because rules apply to all of its runs."""
    running = Server(Path(tmp_path_factory.mktemp("ruled")))
    yield running
    running.stop()


def open_page(page: Page, server: Server, address: str, width: int = 1280) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(server.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.goto(server.address + address)


def refund(server: Server, amount: int) -> str:
    """Start a run that proposes a refund and return its id."""
    return server.start(server.define(one_function(f"Refund of {amount}", "e2e.refund", f"{{amount: {amount}}}")))


def approval_of(server: Server, run_id: str) -> dict[str, Any]:
    """Wait for the approval of the run's action."""
    deadline = time.monotonic() + 15
    while not (found := server.call("GET", f"/api/approvals?run_id={run_id}")["items"]):
        assert time.monotonic() < deadline, "nothing was proposed"
        time.sleep(0.05)
    first: dict[str, Any] = found[0]
    return first


def test_rules_are_edited_validated_and_apply_at_once(page: Page, fresh_server: Server) -> None:
    """Errors are shown at their lines, invalid rules are not saved, valid ones apply without a restart."""
    open_page(page, fresh_server, "/rules")
    expect(page.get_by_role("heading", name="No rules yet", level=1)).to_be_visible()
    page.get_by_role("button", name="Write rules").click()
    editor = page.get_by_label("Rules (YAML)")
    editor.fill(RULES.replace("priority: 1", "prioriti: 1"))
    finding = page.get_by_role("button", name="Error on line 4")
    expect(finding).to_contain_text("did you mean `priority`?")
    finding.click()
    chosen = editor.evaluate("(area) => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert chosen == "    prioriti: 1"
    page.get_by_role("button", name="Publish rules").click()
    expect(page.get_by_text("Couldn't publish the rules. The previous rules are still active.")).to_be_visible()
    page.reload()
    expect(editor).to_have_value(RULES.replace("priority: 1", "prioriti: 1"))

    editor.fill(RULES)
    expect(page.get_by_role("button", name="Warning on line 6")).to_contain_text("`amount` can be missing")
    page.get_by_label("Change comment").fill("Small ones by themselves")
    page.get_by_role("button", name="Publish rules").click()
    expect(page.get_by_role("heading", name="1 rule requires approval, 1 approves automatically")).to_be_visible()
    expect(page.get_by_role("list", name="Rules")).to_contain_text("100% audited")
    assert approval_of(fresh_server, refund(fresh_server, 2000))["rule"] == "Large amounts"

    page.get_by_role("button", name="Edit").click()
    editor.fill(RULES.replace("1000", "3000"))
    page.get_by_role("button", name="Publish rules").click()
    page.get_by_role("tab", name="Versions").click()
    expect(page.get_by_role("region", name="Changes since version 1")).to_contain_text("3000")
    page.get_by_role("button", name="Version 1").click()
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_role("button", name="Version 3")).to_be_visible()
    assert fresh_server.call("GET", "/api/rules")["text"] == RULES


def test_an_edit_based_on_older_rules_is_kept(page: Page, fresh_server: Server) -> None:
    open_page(page, fresh_server, "/rules?edit=true")
    editor = page.get_by_label("Rules (YAML)")
    page.get_by_role("button", name="Start from an example").click()
    mine = editor.input_value()
    fresh_server.call("PUT", "/api/rules", RULES)
    expect(page.get_by_text("Someone else saved new rules. Your text is still here.")).to_be_visible()
    expect(editor).to_have_value(mine)
    page.get_by_role("button", name="Overwrite").click()
    expect(page.get_by_role("heading", name="1 rule requires approval", exact=True, level=1)).to_be_visible()
    assert fresh_server.call("GET", "/api/rules")["text"] == mine


def test_rules_for_one_pipeline(page: Page, fresh_server: Server) -> None:
    pipeline_id = fresh_server.define(one_function("With its own", "e2e.refund", "{amount: 10}"))
    open_page(page, fresh_server, f"/pipelines/{pipeline_id}")
    page.get_by_role("link", name="view rules").click()
    expect(page.get_by_label("Scope", exact=True)).to_have_value(pipeline_id)
    page.get_by_role("button", name="Write rules").click()
    page.get_by_label("Rules (YAML)").fill(RULES)
    page.get_by_role("button", name="Publish rules").click()
    expect(page.get_by_role("list", name="Rules")).to_contain_text("Small refunds")
    assert fresh_server.call("GET", "/api/rules")["text"] == ""
    page.get_by_role("button", name="Delete rules…").click()
    page.get_by_role("button", name="Delete rules", exact=True).click()
    expect(page.get_by_text("This pipeline has no rules")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 360])
def test_one_click_stops_all_automation(page: Page, ruled: Server, width: int) -> None:
    """It applies at once, every page shows it, it is recorded, and resuming asks for confirmation."""
    ruled.call("PUT", "/api/rules", RULES)
    run_id = refund(ruled, 20)
    assert ruled.wait_for_run(run_id, "completed")["status"] == "completed"
    open_page(page, ruled, "/rules", width)
    page.get_by_role("button", name="Stop all automatic approvals").click()
    banner = page.get_by_role("region", name="Emergency stop")
    expect(banner).to_contain_text("All automatic approvals are stopped.")
    approval = approval_of(ruled, refund(ruled, 20))
    assert approval["status"] == "pending"
    page.goto(ruled.address + "/runs")
    expect(banner).to_be_visible()
    assert (axe(page), overflow(page)) == ([], 0)
    page.goto(ruled.address + f"/runs/{approval['run_id']}")
    expect(banner).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_attached()
    pushed = page.locator("main").evaluate("(main) => main.scrollHeight - main.clientHeight")
    assert pushed == 0, "the bar below is pushed out of the window"

    banner.get_by_role("button", name="Add reason…").click()
    page.get_by_label("Reason", exact=True).fill("Refunds look odd")
    assert (axe(page), overflow(page)) == ([], 0)
    page.get_by_role("button", name="Save reason").click()
    expect(banner).to_contain_text("Refunds look odd")
    expect(banner.get_by_role("button", name="Edit reason…")).to_be_visible()

    banner.get_by_role("button", name="Lift emergency stop…").click()
    page.get_by_label("Findings").fill("A false alarm")
    page.get_by_role("button", name="Lift emergency stop", exact=True).click()
    expect(banner).to_have_count(0)
    ruled.wait_for_run(refund(ruled, 20), "completed")
    page.goto(ruled.address + "/rules?tab=stops")
    expect(page.get_by_role("list", name="Emergency stops")).to_contain_text("A false alarm")
    expect(page.get_by_role("list", name="Emergency stops")).to_contain_text("Refunds look odd")


def test_a_stop_in_another_window_is_shown(page: Page, ruled: Server) -> None:
    open_page(page, ruled, "/")
    banner = page.get_by_role("region", name="Emergency stop")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    ruled.call("PUT", "/api/rules/emergency-stop", {"stopped": True, "reason": "Refunds look odd"})
    expect(banner).to_contain_text("Refunds look odd")
    ruled.call("PUT", "/api/rules/emergency-stop", {"stopped": False})
    expect(banner).to_have_count(0)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_a_rule_is_backtested_and_sampled(page: Page, fresh_server: Server, width: int, scheme: str) -> None:
    """A backtest on earlier decisions, then samples that people review."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    decided = approval_of(fresh_server, refund(fresh_server, 40))
    fresh_server.call(
        "PUT",
        f"/api/approvals/{decided['approval_id']}/reject",
        {"reason": "It was not broken", "digest": decided["digest"]},
    )
    open_page(page, fresh_server, "/rules?edit=true", width)
    page.get_by_label("Rules (YAML)").fill(RULES)
    page.get_by_role("button", name="Backtest").click()
    tried = page.get_by_role("region", name="Backtest")
    expect(tried).to_contain_text("These rules would have approved 1 of 1 decision. People disagreed with 1 of them.")
    expect(tried).to_contain_text("It was not broken")
    assert (axe(page), overflow(page)) == ([], 0)
    page.get_by_role("button", name="Publish rules").click()
    expect(page.get_by_role("list", name="Rules")).to_contain_text("Small refunds")

    fresh_server.wait_for_run(refund(fresh_server, 20), "completed")
    page.get_by_role("tab", name="Autonomy").click()
    trust = page.get_by_role("list", name="Rule statistics")
    expect(trust).to_contain_text("0 of 1")
    assert (axe(page), overflow(page)) == ([], 0)
    trust.get_by_role("link", name="Review 1").click()
    expect(page.get_by_role("list", name="Audits")).to_contain_text("Refund of 20")
    assert (axe(page), overflow(page)) == ([], 0)
    page.get_by_role("button", name="Disagree…").click()
    page.get_by_label("Reason (optional)").fill("Not without a picture")
    assert (axe(page), overflow(page)) == ([], 0)
    page.get_by_role("button", name="Record disagreement").click()
    expect(page.get_by_text("No open audits")).to_be_visible()
    page.get_by_role("tab", name="Autonomy").click()
    expect(trust).to_contain_text("1 of 1")
    expect(trust).to_contain_text("100%")
