"""The run page: progress, errors, restart, undo by toast, focus."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.samples import one_function
from tests.e2e.server import Server

BY_HAND = """
pipeline_name: {name}
checkpoints:
  - key: goals
    checkpoint_name: Goals
    form: [{{name: goal, label: Goal}}]
    outputs: [goals.json]
  - key: design
    checkpoint_name: Design
    form: [{{name: design, label: Design}}]
    outputs: [design.json]
"""


def halfway(server: Server, name: str) -> str:
    """Start a run whose first checkpoint is complete and whose second waits to be started."""
    run_id = server.start(server.define(BY_HAND.format(name=name)))
    execution = server.wait_for_approval(run_id, 0, "input")["execution_id"]
    server.call("POST", f"/api/executions/{execution}/submit", {"fields": {"goal": "Fewer mails"}})
    while server.run(run_id)["pending_start_count"] == 0:
        pass
    return run_id


def test_progress_updates_without_a_reload(signed_in: Page, server: Server) -> None:
    far = server.folder / "far"
    run_id = server.start(server.define(one_function("Far along", "e2e.progress", "{gate: far}")))
    signed_in.goto(f"{server.address}/runs/{run_id}")
    bar = signed_in.get_by_role("tabpanel").get_by_role("progressbar", name="Progress of Work")
    expect(bar).to_have_attribute("aria-valuetext", "0%, begins")
    far.write_text("0.455 reading rows")
    expect(bar).to_have_attribute("aria-valuetext", "45%, reading rows")
    expect(signed_in.get_by_role("list", name="Checkpoints")).to_contain_text("45%, reading rows")
    expect(signed_in.get_by_role("region", name="Status and actions")).to_contain_text("45%, reading rows")
    signed_in.goto(f"{server.address}/runs")
    row = signed_in.get_by_role("listitem").filter(has_text="Far along")
    expect(row).to_contain_text("Work: 45%, reading rows")
    far.write_text("0.9 writing")
    expect(row.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "90")
    far.write_text("done")
    expect(row).to_contain_text("Completed")
    expect(row.get_by_role("progressbar")).to_have_count(0)


def test_errors_are_shown_per_attempt(signed_in: Page, server: Server) -> None:
    definition = one_function("Fails twice", "e2e.fail").replace(
        "    execution:\n", "    execution:\n      retry_config: {max_auto_retries: 1, retry_delay_seconds: 0}\n"
    )
    run_id = server.start(server.define(definition))
    server.wait_for_run(run_id, "paused")
    signed_in.goto(f"{server.address}/runs/{run_id}")
    faults = signed_in.get_by_role("region", name="Failed attempts")
    expect(faults.get_by_role("heading")).to_have_text("2 failed attempts")
    expect(faults.get_by_role("listitem")).to_contain_text(["Attempt 2", "Attempt 1"])
    newest = faults.get_by_role("region", name="Stack trace of attempt 2")
    expect(newest).to_contain_text('return {"found": row[field]}')
    expect(newest).to_contain_text("KeyError: 'iban'")
    assert "site-packages" not in newest.inner_text()
    first = faults.get_by_role("region", name="Stack trace of attempt 1")
    expect(first).to_be_hidden()
    faults.get_by_text("Stack trace", exact=True).nth(1).press("Enter")
    expect(first).to_be_visible()


def test_lists_mark_runs_that_wait_for_a_start(page: Page, fresh_server: Server) -> None:
    halfway(fresh_server, "Started by hand")
    page.goto(fresh_server.start_link)
    waiting = page.get_by_role("listitem").filter(has_text="Started by hand v1 · checkpoint 2")
    expect(waiting.get_by_role("link", name="Start Design", exact=True)).to_be_visible()
    page.get_by_role("link", name="Approvals").click()
    expect(page.get_by_role("heading", name="1 item waiting for you")).to_be_visible()
    expect(waiting.get_by_role("link", name="Start Design", exact=True)).to_be_visible()
    page.get_by_role("link", name="Runs", exact=True).click()
    row = page.get_by_role("listitem").filter(has_text="Started by hand")
    expect(row).to_contain_text("Waiting for you")
    expect(row).to_contain_text("Design is waiting for a manual start")


def test_a_restart_shows_its_impact_first(signed_in: Page, server: Server) -> None:
    run_id = halfway(server, "Once more")
    signed_in.goto(f"{server.address}/runs/{run_id}")
    signed_in.get_by_role("button", name="More actions for this run").click()
    signed_in.get_by_role("menuitem", name="Restart from the first checkpoint…").click()
    dialog = signed_in.get_by_role("dialog", name="Start pass 2 of Once more v1?")
    expect(dialog).to_contain_text("1 checkpoint and 1 artifact of pass 1. They stay available.")
    expect(dialog).to_contain_text("Goals starts again.")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Start pass 2").click()
    expect(dialog).to_have_count(0)
    expect(signed_in.get_by_text("Complete form: Goals")).to_be_visible()
    expect(signed_in.get_by_text("Pass 2", exact=True)).to_be_visible()
    assert server.run(run_id)["pass_number"] == 2


def roll_back(page: Page) -> None:
    page.get_by_role("button", name="Roll back…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Start of the run").click()
    dialog.get_by_role("button", name="Roll back to the start").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("Rolled back. Removed items are in the archive.")).to_be_visible()


def test_a_rollback_is_undone_from_its_toast(signed_in: Page, server: Server) -> None:
    run_id = halfway(server, "Back and forth")
    signed_in.goto(f"{server.address}/runs/{run_id}")
    for by_key in (True, False):
        roll_back(signed_in)
        expect(signed_in.get_by_text("Start Goals?")).to_be_visible()
        if by_key:
            signed_in.keyboard.press("z")
        else:
            signed_in.get_by_role("button", name="Undo", exact=True).click()
        expect(signed_in.get_by_text("Rollback undone.")).to_be_visible()
        expect(signed_in.get_by_text("Start Design?")).to_be_visible()
    signed_in.keyboard.press("z")  # the undo has expired
    expect(signed_in.get_by_text("Start Design?")).to_be_visible()


def test_a_late_undo_is_refused_on_the_page(signed_in: Page, server: Server) -> None:
    run_id = halfway(server, "Too late")
    signed_in.goto(f"{server.address}/runs/{run_id}")
    roll_back(signed_in)
    expect(signed_in.get_by_text("Start Goals?")).to_be_visible()
    signed_in.get_by_role("button", name="Start", exact=True).click()
    execution = server.wait_for_approval(run_id, 0, "input")["execution_id"]
    server.call("POST", f"/api/executions/{execution}/submit", {"fields": {"goal": "Something newer"}})
    expect(signed_in.get_by_text("Start Design?")).to_be_visible()
    signed_in.keyboard.press("z")
    expect(signed_in.get_by_text("The rollback can't be undone.")).to_be_visible()


def test_the_focus_moves_to_the_heading_of_a_new_page(signed_in: Page, server: Server) -> None:
    halfway(server, "Heard of")
    expect(signed_in.get_by_role("heading", level=1)).not_to_be_focused()
    signed_in.get_by_role("link", name="Runs", exact=True).click()
    expect(signed_in.get_by_role("heading", name="Runs", level=1)).to_be_focused()
    signed_in.get_by_role("link", name="Heard of").click()
    expect(signed_in.get_by_role("heading", name="Heard of v1", level=1)).to_be_focused()
    tab = signed_in.get_by_role("tab", name="Log")
    tab.click()
    expect(tab).to_be_focused()  # another tab of the same page
    signed_in.keyboard.press("g")
    signed_in.keyboard.press("h")
    expect(signed_in.get_by_role("heading", level=1)).to_be_focused()


ASKING = """
pipeline_name: Asks for parameters
checkpoints:
  - key: report
    checkpoint_name: Report
    script: ask.py
    execution:
      script_config: {requires_user_input: true, user_input_prompt: Which report?}
    outputs: [report.json]
scripts:
  ask.py: |
    def main(ctx, region: str, rows: int = 10, final: bool = False):
        return {"region": region, "rows": rows, "final": final}
"""


def test_a_script_with_only_a_prompt_shows_a_form_for_its_parameters(signed_in: Page, server: Server) -> None:
    run_id = server.start(server.define(ASKING))
    server.wait_for_approval(run_id, 0, "input")
    signed_in.goto(f"{server.address}/runs/{run_id}")
    expect(signed_in.get_by_text("Which report?")).to_be_visible()
    expect(signed_in.get_by_label("rows")).to_have_value("10")
    signed_in.get_by_role("button", name="Submit form").click()
    expect(signed_in.get_by_label("region")).to_have_attribute("aria-invalid", "true")
    signed_in.get_by_label("region").fill("North")
    signed_in.get_by_label("rows").fill("20")
    signed_in.get_by_label("final").check()
    signed_in.get_by_role("button", name="Submit form").click()
    server.wait_for_run(run_id, "completed")
    expect(signed_in.get_by_text('"region": "North"')).to_be_visible()
