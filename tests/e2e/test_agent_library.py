"""The agent library: search, create from YAML, use in a pipeline, edit, delete, restore."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page_checks import check_page
from tests.e2e.server import Server

OWN = """name: fact-checker
title: Fact checker
role: You trust nothing that is not shown.
task_prompt: Name every claim of the text.
"""
USER = """
pipeline_name: Checked facts
checkpoints:
  - key: check
    agent: fact-checker
    outputs: [claims.md]
"""
COUNTED = """
pipeline_name: Counted things
checkpoints:
  - { key: count, agent: counter, outputs: [count.json] }
  - { key: say, prompt: Say it., input_mapping: { n: count.n }, outputs: [said.md] }
"""


def write(page: Page, text: str) -> None:
    page.get_by_label("Agent (YAML)").fill(text)


@pytest.mark.timeout(120)
def test_an_agent_is_created_edited_and_deleted(signed_in: Page, server: Server) -> None:
    ready: list[dict[str, Any]] = server.call("GET", "/api/agents?limit=100")["items"]
    signed_in.get_by_role("link", name="Agents", exact=True).click()
    rows = signed_in.get_by_role("list", name="Agents").get_by_role("listitem")
    expect(rows).to_have_count(len(ready))
    expect(rows.first).to_contain_text("built in")
    check_page(signed_in)
    signed_in.get_by_label("Search agents").fill("ticket")
    expect(rows.filter(has_text="ticket-analyzer")).to_have_count(1)
    expect(rows.filter(has_text="Chair")).to_have_count(0)

    # Create one: errors are shown at their lines and the text is kept.
    signed_in.get_by_role("button", name="New agent").click()
    save = signed_in.get_by_role("button", name="Save agent")
    expect(save).to_be_disabled()
    write(signed_in, "title: Nameless")
    expect(signed_in.get_by_text("Add a name")).to_be_visible()
    write(signed_in, f"{OWN}tools: [file_operation]\n")
    save.click()
    expect(signed_in.get_by_text("Couldn't save the agent. Your text is still here.")).to_be_visible()
    expect(signed_in.get_by_role("button", name=re.compile("Error on line 5"))).to_be_visible()
    check_page(signed_in)
    signed_in.reload()
    expect(signed_in.get_by_label("Agent (YAML)")).to_have_value(re.compile("file_operation"))
    write(signed_in, f"{OWN}tools: [file_operations]\n")
    save.click()
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("Fact checker")
    main = signed_in.get_by_role("main")
    expect(main).to_contain_text("fact-checker, custom, revision 1")
    expect(main).to_contain_text("file_operations")
    expect(main).to_contain_text("no pipelines")
    expect(signed_in.get_by_role("region", name="Task")).to_contain_text("Name every claim of the text.")

    # An agent in use cannot be deleted.
    pipeline_id = server.define(USER)
    signed_in.reload()
    expect(signed_in.get_by_role("link", name="Checked facts")).to_be_visible()
    check_page(signed_in)
    signed_in.get_by_role("button", name="Delete agent").click()
    expect(signed_in.get_by_text("Couldn't delete the agent.")).to_be_visible()
    expect(main).to_contain_text("fact-checker is used by Checked facts")

    # Edit and revert.
    signed_in.get_by_role("button", name="Edit").click()
    field = signed_in.get_by_label("Agent (YAML)")
    expect(field).to_have_value(re.compile("fact-checker"))
    field.fill(field.input_value().replace("every claim", "each claim"))
    save.click()
    expect(main).to_contain_text("revision 2")
    signed_in.get_by_role("tab", name="Revisions").click()
    changes = signed_in.get_by_role("region", name="Changes in revision 2")
    expect(changes.locator("p[data-sign='+'] mark")).to_have_text("each")
    check_page(signed_in)
    signed_in.get_by_role("button", name="Revision 1").click()
    signed_in.get_by_role("button", name="Restore revision 1").click()
    expect(main).to_contain_text("revision 3")
    assert server.call("GET", "/api/agents/fact-checker")["task_prompt"] == "Name every claim of the text."

    # Delete and undo.
    server.call("DELETE", f"/api/pipelines/{pipeline_id}")
    signed_in.get_by_role("button", name="Delete agent").click()
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("Agents")
    expect(rows.filter(has_text="Fact checker")).to_have_count(0)
    signed_in.get_by_role("button", name="Undo").click()
    expect(rows.filter(has_text="Fact checker")).to_have_count(1)


def test_a_built_in_agent_is_replaced_and_restored(signed_in: Page, server: Server) -> None:
    signed_in.goto(f"{server.address}/agents/critic?edit=true")
    expect(signed_in.get_by_text("This agent is built in.")).to_be_visible()
    field = signed_in.get_by_label("Agent (YAML)")
    field.fill(field.input_value().replace("title: Critic", "title: Doubter"))
    signed_in.get_by_role("button", name="Save agent").click()
    heading = signed_in.get_by_role("heading", level=1)
    expect(heading).to_have_text("Doubter")
    expect(signed_in.get_by_role("main")).to_contain_text("custom, replaces the built-in agent")
    signed_in.get_by_role("button", name="Restore built-in agent").click()
    expect(heading).to_have_text("Critic")
    expect(signed_in.get_by_role("main")).to_contain_text("critic, built in")


def test_saving_an_agent_lists_the_pipelines_it_breaks(signed_in: Page, server: Server) -> None:
    """Saving an agent with another output lists the pipelines that it breaks."""
    counter = "task_prompt: Count.\noutput_schema: {type: object, required: [n], properties: {n: {type: integer}}}\n"
    server.call("PUT", "/api/agents/counter", counter)
    server.define(COUNTED)
    signed_in.goto(f"{server.address}/agents/counter?edit=true")
    field = signed_in.get_by_label("Agent (YAML)")
    field.fill(re.sub(r"\bn\b", "m", field.input_value()))
    signed_in.get_by_role("button", name="Save agent").click()
    warning = signed_in.get_by_text("Counted things has an error with this agent")
    expect(warning).to_be_visible()
    check_page(signed_in, warning)
    signed_in.get_by_role("main").get_by_role("button", name="Dismiss").click()
    expect(warning).to_have_count(0)
