"""Create, edit, delete and restore pipelines in the browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.samples import form_then_approval, one_function
from tests.e2e.server import Server

FAULTY = """pipeline_name: Faulty
checkpoints:
  - key: one
    checkpoint_name: One
    form: [{name: goal}]
    needs: [two]
"""


def test_each_definition_error_is_shown_at_its_line(signed_in: Page, server: Server) -> None:
    signed_in.goto(f"{server.address}/pipelines/new?from=yaml")
    editor = signed_in.get_by_label("Definition (YAML)")
    editor.fill(FAULTY)
    finding = signed_in.get_by_role("button", name="Error on line 6")
    expect(finding).to_be_visible()
    finding.click()
    expect(editor).to_be_focused()
    chosen = editor.evaluate("(area) => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert chosen == "    needs: [two]"

    signed_in.reload()
    expect(editor).to_have_value(FAULTY)
    editor.fill(FAULTY.replace("    needs: [two]\n", ""))
    expect(signed_in.get_by_text("No problems found.")).to_be_visible()
    signed_in.get_by_role("button", name="Create pipeline").click()
    expect(signed_in.get_by_role("heading", name="Faulty", level=1)).to_be_visible()


def test_a_definition_is_edited_compared_and_reverted(signed_in: Page, server: Server) -> None:
    pipeline_id = server.define(form_then_approval("Changed often"))
    signed_in.goto(f"{server.address}/pipelines/{pipeline_id}?tab=definition")
    signed_in.get_by_role("button", name="Edit", exact=True).click()
    editor = signed_in.get_by_label("Definition (YAML)")
    editor.fill(editor.input_value().replace("Changed often", "Changed rarely"))
    signed_in.get_by_role("button", name="Save definition").click()
    expect(signed_in.get_by_role("heading", name="Changed rarely", level=1)).to_be_visible()
    signed_in.get_by_role("tab", name="History").click()
    difference = signed_in.get_by_role("region", name="Changes since revision 1")
    expect(difference).to_contain_text("Changed rarely")
    signed_in.get_by_role("button", name="Revision 1").click()
    signed_in.get_by_role("button", name="Restore revision 1").click()
    expect(signed_in.get_by_role("heading", name="Changed often", level=1)).to_be_visible()
    expect(signed_in.get_by_role("button", name="Revision 3")).to_be_visible()


@pytest.mark.parametrize("live", [True, False])
def test_an_edit_based_on_an_older_revision_is_kept(signed_in: Page, server: Server, *, live: bool) -> None:
    """A newer revision is announced when it is seen, at the latest when saving fails."""
    if not live:
        signed_in.route("**/api/stream", lambda route: route.abort())
    pipeline_id = server.define(form_then_approval("Edited by two"))
    signed_in.goto(f"{server.address}/pipelines/{pipeline_id}?tab=definition&edit=true")
    editor = signed_in.get_by_label("Definition (YAML)")
    mine = editor.input_value().replace("Edited by two", "Mine")
    editor.fill(mine)
    server.call("PUT", f"/api/pipelines/{pipeline_id}", {"pipeline_name": "Theirs"})
    if not live:
        signed_in.get_by_role("button", name="Save definition").click()
    expect(signed_in.get_by_text("Someone else saved a new revision. Your text is still here.")).to_be_visible()
    expect(editor).to_have_value(mine)
    assert server.call("GET", f"/api/pipelines/{pipeline_id}")["pipeline_name"] == "Theirs"
    expect(signed_in.get_by_role("heading", name="Theirs", level=1)).to_be_visible()
    signed_in.get_by_role("button", name="Overwrite").click()
    expect(signed_in.get_by_role("heading", name="Mine", level=1)).to_be_visible()


def test_deleting_can_be_undone_and_restored(signed_in: Page, server: Server) -> None:
    server.define(form_then_approval("Not needed"))
    signed_in.goto(f"{server.address}/pipelines")
    row = signed_in.get_by_role("listitem").filter(has_text="Not needed")
    row.get_by_role("button", name="More actions for Not needed").click()
    signed_in.get_by_role("menuitem", name="Delete").click()
    expect(signed_in.get_by_text("Deleted Not needed.")).to_be_visible()
    expect(row).to_have_count(0)
    signed_in.get_by_role("button", name="Undo").click()
    expect(row).to_be_visible()
    row.get_by_role("button", name="More actions for Not needed").click()
    signed_in.get_by_role("menuitem", name="Delete").click()
    signed_in.get_by_text("Deleted", exact=True).click()
    row.get_by_role("button", name="Restore").click()
    expect(signed_in.get_by_text("Restored Not needed.")).to_be_visible()


def test_deleting_with_an_open_run_asks_first(signed_in: Page, server: Server) -> None:
    pipeline_id = server.define(form_then_approval("Still open"))
    run_id = server.start(pipeline_id)
    signed_in.goto(f"{server.address}/pipelines/{pipeline_id}")
    signed_in.get_by_role("button", name="More actions for this pipeline").click()
    signed_in.get_by_role("menuitem", name="Delete").click()
    dialog = signed_in.get_by_role("dialog", name="Still open has open runs")
    dialog.get_by_role("button", name="Cancel runs and delete").click()
    expect(signed_in.get_by_text("Deleted Still open.")).to_be_visible()
    assert server.run(run_id)["status"] == "cancelled"


def test_a_run_starts_with_its_input(signed_in: Page, server: Server) -> None:
    pipeline_id = server.define(one_function("Takes input", "e2e.big_number"))
    signed_in.goto(f"{server.address}/pipelines/{pipeline_id}")
    signed_in.get_by_role("button", name="Start v1").click()
    dialog = signed_in.get_by_role("dialog")
    dialog.get_by_label("Input (JSON, optional)").fill('{"id": 12345678901234567890,}')
    dialog.get_by_role("button", name="Start v1").click()
    expect(dialog.get_by_text("Invalid JSON")).to_be_visible()
    dialog.get_by_label("Input (JSON, optional)").fill('{"id": 12345678901234567890}')
    dialog.get_by_role("button", name="Start v1").click()
    expect(signed_in.get_by_text("Run completed")).to_be_visible()
    run_id = signed_in.url.partition("/runs/")[2].partition("?")[0]
    assert server.call("GET", f"/api/runs/{run_id}/input") == {"id": 12345678901234567890}


def test_a_form_uploads_a_file(signed_in: Page, server: Server) -> None:
    fields = "[{name: offer, label: Offer, type: file}]"
    run_id = server.start(server.define(form_then_approval("With a file", fields)))
    signed_in.goto(f"{server.address}/runs/{run_id}")
    with signed_in.expect_file_chooser() as chooser:
        signed_in.get_by_role("button", name="Choose a file: Offer").click()
    chooser.value.set_files({"name": "offer.txt", "mimeType": "text/plain", "buffer": b"Twelve months"})
    expect(signed_in.get_by_text("offer.txt")).to_be_visible()
    signed_in.reload()
    expect(signed_in.get_by_text("offer.txt")).to_be_visible()
    signed_in.get_by_role("button", name="Submit form").click()
    expect(signed_in.get_by_text("Approve Goals?")).to_be_visible()
    expect(signed_in.get_by_role("complementary", name="Artifacts")).to_contain_text("offer")


def test_events_are_filtered_by_pipeline(signed_in: Page, server: Server) -> None:
    pipeline_id = server.define(one_function("Leaves a trail", "e2e.big_number"))
    server.wait_for_run(server.start(pipeline_id), "completed")
    signed_in.goto(f"{server.address}/events")
    signed_in.get_by_label("Pipeline", exact=True).select_option(label="Leaves a trail")
    signed_in.wait_for_url(f"**pipeline_id={pipeline_id}*")
    signed_in.reload()
    events = signed_in.get_by_role("main").get_by_role("listitem")
    expect(events.first).to_be_visible()
    known = server.call("GET", f"/api/events?pipeline_id={pipeline_id}")["items"]
    expect(events).to_have_count(len(known))
    events.first.click()
    expect(signed_in.get_by_role("link", name="View run").first).to_be_visible()
