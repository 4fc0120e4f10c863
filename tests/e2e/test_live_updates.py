"""Changes by others appear without a reload, and drafts are never lost."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route, expect

from tests.e2e.samples import form_then_approval, one_function
from tests.e2e.server import Server


def answer(server: Server, run_id: str, goal: str) -> None:
    execution = server.wait_for_approval(run_id, 0, "input")
    server.call("POST", f"/api/executions/{execution['execution_id']}/submit", {"fields": {"goal": goal}})
    server.wait_for_approval(run_id, 0, "completion")


def revise(server: Server, run_id: str, feedback: str) -> None:
    execution = server.wait_for_approval(run_id, 0, "completion")
    server.call("POST", f"/api/executions/{execution['execution_id']}/revise", {"feedback": feedback})


def test_changes_by_another_client_appear(signed_in: Page, server: Server) -> None:
    run_id = server.start(server.define(form_then_approval("Seen live")))
    signed_in.goto(f"{server.address}/runs/{run_id}")
    expect(signed_in.get_by_text("Complete form: Goals")).to_be_visible()
    answer(server, run_id, "Fewer mails")
    expect(signed_in.get_by_text("Approve Goals?")).to_be_visible()
    expect(signed_in.get_by_role("complementary", name="Artifacts")).to_contain_text("Fewer mails")
    execution = server.execution(run_id, 0)
    server.call("POST", f"/api/executions/{execution['execution_id']}/approve", {})
    expect(signed_in.get_by_text("Run completed")).to_be_visible()
    expect(signed_in.get_by_role("img", name="1 checkpoint: 1 completed")).to_be_visible()


def test_lists_update(signed_in: Page, server: Server) -> None:
    signed_in.goto(f"{server.address}/approvals")
    expect(signed_in.get_by_role("heading", level=1)).to_be_visible()
    run_id = server.start(server.define(form_then_approval("Arrives by itself")))
    expect(signed_in.get_by_text("Arrives by itself v1")).to_be_visible()
    server.call("POST", f"/api/runs/{run_id}/cancel")
    expect(signed_in.get_by_text("Arrives by itself v1")).to_have_count(0)


def test_drafts_survive_a_reload_until_sent(signed_in: Page, server: Server) -> None:
    fields = "[{name: goal, label: Goal}, {name: amount, type: number, label: Amount}]"
    run_id = server.start(server.define(form_then_approval("Typed once", fields)))
    signed_in.goto(f"{server.address}/runs/{run_id}")
    signed_in.get_by_role("textbox", name="Goal").fill("Half as many mails")
    signed_in.get_by_label("Amount").fill("12345678901234567890")
    signed_in.reload()
    expect(signed_in.get_by_role("textbox", name="Goal")).to_have_value("Half as many mails")
    expect(signed_in.get_by_text("Your unsent answers were restored.")).to_be_visible()
    signed_in.get_by_role("button", name="Submit form").click()
    expect(signed_in.get_by_text("Approve Goals?")).to_be_visible()
    expect(signed_in.get_by_role("complementary", name="Artifacts")).to_contain_text("12345678901234567890")
    assert signed_in.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('cairn-draft'))") == []

    signed_in.get_by_role("button", name="Request revision…").click()
    signed_in.get_by_label("What should change").fill("More of it")
    signed_in.reload()
    signed_in.get_by_role("button", name="Request revision…").click()
    expect(signed_in.get_by_label("What should change")).to_have_value("More of it")


def test_content_changed_while_reading_is_not_approved(signed_in: Page, server: Server) -> None:
    """The decision carries the digest that was shown."""
    run_id = server.start(server.define(form_then_approval("Changes under the eyes")))
    answer(server, run_id, "The first")
    signed_in.goto(f"{server.address}/runs/{run_id}")
    expect(signed_in.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    # The tab misses events, as after sleep.
    signed_in.route(re.compile(r"/api/(runs|executions)/[^/]+$"), lambda route: route.abort())
    revise(server, run_id, "Again")
    answer(server, run_id, "The second")
    signed_in.unroute_all()
    signed_in.get_by_role("link", name="Runs").hover()
    signed_in.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    server.call("GET", f"/api/runs/{run_id}")
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text("This approval changed while you were viewing it.")).to_be_visible()
    expect(signed_in.get_by_text("goals changed")).to_be_visible()
    expect(signed_in.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    assert server.run(run_id)["status"] == "in_progress"
    signed_in.get_by_role("button", name="Show current version").click()
    expect(signed_in.get_by_role("tabpanel", name="Artifacts")).to_contain_text("The second")
    signed_in.get_by_role("button", name="Approve", exact=True).click()
    expect(signed_in.get_by_text("Run completed")).to_be_visible()


def test_a_second_decision_shows_who_decided_first(signed_in: Page, server: Server) -> None:
    """The first decision counts, and the text of the second is kept."""
    run_id = server.start(server.define(form_then_approval("Decided twice")))
    answer(server, run_id, "Fewer mails")
    signed_in.goto(f"{server.address}/runs/{run_id}")
    signed_in.get_by_role("button", name="Request revision…").click()
    dialog = signed_in.get_by_role("dialog")
    dialog.get_by_label("What should change").fill("My long and careful feedback")

    def decide_first(route: Route) -> None:
        execution = server.execution(run_id, 0)
        server.call("POST", f"/api/executions/{execution['execution_id']}/approve", {})
        route.continue_()

    signed_in.route(re.compile(r"/api/approvals/.*/revise$"), decide_first)
    dialog.get_by_role("button", name="Request revision").click()
    expect(signed_in.get_by_text("Your decision was too late and was not recorded.")).to_be_visible()
    expect(signed_in.get_by_text("Run completed")).to_be_visible()
    assert server.run(run_id)["status"] == "completed"


def test_a_run_is_announced_paused_and_stopped(signed_in: Page, server: Server) -> None:
    more = """
  - key: next
    checkpoint_name: Next
    function: e2e.big_number
    outputs: [number.json]
"""
    definition = one_function("At work", "e2e.wait", "{gate: narrated}", more)
    run_id = server.start(server.define(definition))
    signed_in.goto(f"{server.address}/runs/{run_id}")
    expect(signed_in.get_by_text("Work: running")).to_be_visible()
    expect(signed_in.get_by_text("halfway · then Next")).to_be_visible()
    signed_in.get_by_role("tab", name="Log").click()
    expect(signed_in.get_by_role("log")).to_contain_text("waits for its gate")
    signed_in.get_by_role("button", name="Pause").click()
    expect(signed_in.get_by_text("Pausing after this checkpoint", exact=True)).to_be_visible()
    server.open_gate("narrated")
    expect(signed_in.get_by_text("The run is paused")).to_be_visible()
    signed_in.get_by_role("button", name="Resume").first.click()
    expect(signed_in.get_by_text("Run completed")).to_be_visible()


def test_numbers_are_shown_with_all_their_digits(signed_in: Page, server: Server) -> None:
    run_id = server.start(server.define(one_function("Big numbers", "e2e.big_number")))
    server.wait_for_run(run_id, "completed")
    signed_in.goto(f"{server.address}/runs/{run_id}?tab=artifacts")
    panel = signed_in.get_by_role("tabpanel", name="Artifacts")
    expect(panel).to_contain_text('"exact": 12345678901234567890')
    with signed_in.expect_download() as download:
        panel.get_by_role("link", name="Download result.json").click()
    assert "12345678901234567890" in download.value.path().read_text()


def test_a_failed_run_shows_the_reason_and_can_be_retried(signed_in: Page, server: Server) -> None:
    run_id = server.start(server.define(one_function("Fails once", "e2e.fail_once", "{mark: failed}")))
    server.wait_for_run(run_id, "paused")
    signed_in.goto(f"{server.address}/runs/{run_id}")
    expect(signed_in.get_by_text("Work failed", exact=True)).to_be_visible()
    expect(signed_in.get_by_role("alert")).to_contain_text("The supplier's register does not answer.")
    signed_in.get_by_role("button", name="Retry").click()
    expect(signed_in.get_by_text("Run completed")).to_be_visible()


def test_the_page_catches_up_after_a_lost_connection(signed_in: Page, server: Server) -> None:
    run_id = server.start(server.define(form_then_approval("Cut off")))
    signed_in.goto(f"{server.address}/runs/{run_id}")
    expect(signed_in.get_by_text("Complete form: Goals")).to_be_visible()
    signed_in.context.set_offline(offline=True)
    # Chromium keeps streams open while offline, but cannot open new ones.
    signed_in.evaluate("""() => {
        Object.defineProperty(document, 'hidden', {configurable: true, get: () => window.away})
        window.away = true
        document.dispatchEvent(new Event('visibilitychange'))
        window.away = false
        document.dispatchEvent(new Event('visibilitychange'))
    }""")
    toast = signed_in.get_by_text("Connection lost.")
    expect(toast).to_be_visible()
    answer(server, run_id, "Meanwhile")
    signed_in.context.set_offline(offline=False)
    expect(toast).to_have_count(0, timeout=15_000)
    expect(signed_in.get_by_text("Approve Goals?")).to_be_visible()
