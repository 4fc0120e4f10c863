"""Rework in the browser: the dialog with its impact, the chain, stale artifacts."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page_checks import axe, overflow
from tests.e2e.server import Server

LOOP = """
pipeline_name: {name}
config: {{ auto_advance: true }}
checkpoints:
  - key: code
    checkpoint_name: Code
    form: [{{name: text, label: The code, type: multiline_text}}]
    outputs: [code.json]
  - key: docs
    checkpoint_name: Docs
    form: [{{name: text, label: The docs, type: multiline_text}}]
    inputs: {{ include_checkpoint_outputs: [{{ checkpoint_id: code }}] }}
    outputs: [docs.json]
  - key: test
    checkpoint_name: Test
    form: [{{name: found, label: What was found}}]
    outputs: [test.json]
    approve: complete
"""


def fill(server: Server, run: str, position: int, **fields: str) -> None:
    deadline = time.monotonic() + 15
    while server.run(run)["checkpoints"][position]["execution_id"] is None:
        assert time.monotonic() < deadline, f"position {position} does not begin"
        time.sleep(0.05)
    execution = server.wait_for_approval(run, position, "input")["execution_id"]
    server.call("POST", f"/api/executions/{execution}/submit", {"fields": fields})


@pytest.fixture
def run(server: Server) -> str:
    """A run with code, docs derived from it, and a test that waits for approval."""
    run = server.start(server.define(LOOP.format(name="Feedback loop")))
    fill(server, run, 0, text="first version")
    fill(server, run, 1, text="how to use it")
    fill(server, run, 2, found="no test for the reset")
    server.wait_for_approval(run, 2, "completion")
    return run


def test_rework_shows_its_chain(signed_in: Page, server: Server, run: str) -> None:
    page = signed_in
    page.goto(f"{server.address}/runs/{run}")
    page.get_by_role("button", name="Request rework…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="Request rework from Test")).to_be_visible()

    # The nearest checkpoint is selected; each shows its impact.
    expect(dialog.get_by_role("button", name="Redo Docs")).to_be_enabled()
    dialog.get_by_text("1. Code").click()
    expect(dialog.get_by_role("button", name="Redo Code")).to_be_enabled()
    expect(dialog.get_by_text("1 artifact is replaced and stays available as superseded.")).to_be_visible()
    expect(dialog.get_by_text("Docs. It used the replaced artifacts.")).to_be_visible()
    expect(dialog.get_by_text("Test waits, then continues with the new artifacts.")).to_be_visible()
    assert axe(page) == []

    dialog.get_by_role("button", name="Redo Code").click()
    expect(dialog.get_by_text("Enter instructions.")).to_be_visible()
    dialog.get_by_label("Instructions").fill("Add a test for the reset.")
    dialog.get_by_label("Reason (optional)").fill("Coverage is low.")
    dialog.get_by_role("button", name="Redo Code").click()

    # The page opens at the reworked checkpoint with the instructions.
    expect(page.get_by_role("heading", name="1. Code")).to_be_visible()
    page.get_by_label("The code").fill("second version")
    page.get_by_role("button", name="Submit form").click()

    # Artifacts derived from the old ones are stale and are made again.
    timeline = page.get_by_role("list", name="Checkpoints")
    timeline.get_by_role("button", name="Code").click()
    reason = page.get_by_role("region", name="Reason for the rework")
    expect(reason.get_by_text("Requested by admin at Test")).to_be_visible()
    expect(reason.get_by_text("Coverage is low.")).to_be_visible()
    expect(reason.get_by_text("Add a test for the reset.")).to_be_visible()
    before = page.get_by_role("region", name="Superseded versions")
    with page.expect_download() as download:
        before.get_by_role("link", name="code.json").click()
    assert "first version" in download.value.path().read_text()
    assert axe(page) == []

    expect(timeline.get_by_role("button", name="Docs")).to_contain_text("stale")
    timeline.get_by_role("button", name="Docs").click()
    expect(page.get_by_text("Docs is stale.")).to_be_visible()
    expect(page.get_by_text("It is based on an earlier version of Code.")).to_be_visible()
    assert axe(page) == []
    page.get_by_role("button", name="Rerun").click()
    page.get_by_label("The docs").fill("how to use the second version")
    page.get_by_role("button", name="Submit form").click()
    expect(timeline.get_by_role("button", name="Docs")).not_to_contain_text("stale")

    # The checkpoint that requested the rework continues.
    timeline.get_by_role("button", name="Test").click()
    expect(page.get_by_label("What was found")).to_be_visible()


def test_a_rework_that_became_impossible_keeps_the_input(signed_in: Page, server: Server, run: str) -> None:
    """A checkpoint can have one open rework."""
    page = signed_in
    page.goto(f"{server.address}/runs/{run}")
    page.get_by_role("button", name="Request rework…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Instructions").fill("Write more.")
    expect(dialog.get_by_role("button", name="Redo Docs")).to_be_enabled()
    requester = server.wait_for_approval(run, 2, "completion")["execution_id"]
    server.call("POST", f"/api/executions/{requester}/rework", {"checkpoint": "docs"}, expect=201)
    expect(dialog.get_by_text("Checkpoint 'docs' is already being reworked.")).to_be_visible()
    expect(dialog.get_by_label("Instructions")).to_have_value("Write more.")


def test_rework_fits_on_a_phone(signed_in: Page, server: Server, run: str) -> None:
    page = signed_in
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{server.address}/runs/{run}")
    page.get_by_role("tab", name="Overview").click()
    expect(page.get_by_role("button", name="Request rework…")).to_be_visible()
    assert overflow(page) == 0
    page.get_by_role("button", name="Request rework…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Test waits, then continues")).to_be_visible()
    assert overflow(page) == 0
    assert axe(page) == []
