"""A council and an agent with the simulated model, from start to approval."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page_checks import check_page
from tests.e2e.server import Server

SPEECH = "A refund keeps the customer. " * 60  # takes the simulated model some seconds
REFUNDS = f"""
pipeline_name: Refund council
config: {{ auto_advance: true }}
budget: {{ max_cost_usd: 2 }}
input_schema:
  type: object
  properties:
    ticket: {{ type: string, default: The invoice was charged twice. }}
checkpoints:
  - key: triage
    checkpoint_name: Triage
    prompt: Read the ticket. Say what it is about and how urgent it is.
    approve: start
    execution:
      agent_config:
        model_settings:
          simulation:
            - {{ when: "=== VALIDATION FINDINGS", output: {{ subject: Invoice, urgency: high }} }}
            - {{ output: {{ subject: Invoice, urgency: soon }} }}
    outputs:
      - name: triage
        format: json
        schema:
          type: object
          properties: {{ subject: {{ type: string }}, urgency: {{ enum: [low, medium, high] }} }}
          required: [subject, urgency]
    output: {{ validation: {{ validation_mode: llm_schema, max_validation_retries: 1 }} }}
  - key: decide
    checkpoint_name: Decide
    prompt: Decide whether the customer gets a refund.
    inputs: {{ include_checkpoint_outputs: [{{ checkpoint_id: triage }}] }}
    execution:
      agent_config:
        creation_mode: predefined
        discussion_mode: council
        tools: [file_operations]
        agents:
          - {{ name: Advocate, role: You speak for the customer. }}
          - {{ name: Sceptic, role: You doubt. }}
          - {{ name: Accountant, role: You count. }}
        model_settings:
          simulation:
            - {{ when: You are Advocate, call: 1, say: "{SPEECH.strip()}" }}
    outputs: [decision.md]
    approve: complete
"""
# Records the length of a streamed message at each change of the page.
WATCH = """() => {
  window.heard = []
  new MutationObserver(() => {
    const row = document.querySelector('article[aria-label="Advocate answers"]')
    const length = row?.innerText.length ?? 0
    if (/\\bnow\\b/.test(row?.querySelector('header')?.innerText ?? '') && window.heard.at(-1) !== length)
      window.heard.push(length)
  }).observe(document.body, { subtree: true, childList: true, characterData: true })
}"""
FAULTY = """
pipeline_name: No tokens left
checkpoints:
  - key: work
    checkpoint_name: Work
    prompt: Write it down.
    execution: { agent_config: { model: "simulated:quota" }, retry_config: { max_auto_retries: 2 } }
"""


@pytest.fixture(scope="module")
def paced(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A server whose simulated model streams slowly."""
    running = Server(tmp_path_factory.mktemp("paced"), CAIRN_SIMULATION_CHARS_PER_SECOND="400")
    yield running
    running.stop()


@pytest.mark.timeout(180)
def test_a_council_debates_and_its_result_is_approved(page: Page, paced: Server) -> None:
    page.goto(paced.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    run_id = paced.start(paced.define(REFUNDS))
    page.goto(f"{paced.address}/runs/{run_id}")
    page.evaluate(WATCH)
    page.get_by_role("button", name="Approve").click()

    # The message grows while it streams.
    log = page.get_by_role("log", name="Conversation of Decide")
    # Speakers have different colors, and prompts are collapsed.
    bar = page.get_by_role("region", name="Status and actions")
    expect(bar).to_contain_text("simulated model", timeout=40_000)
    lengths: list[int] = page.evaluate("window.heard")
    assert len(lengths) > 2, lengths
    assert lengths == sorted(lengths), lengths
    assert lengths[0] < len(SPEECH), lengths
    page.set_viewport_size({"width": 1440, "height": 3000})
    parts = log.get_by_role("heading", level=3)
    expect(parts).to_have_text(["Answers", "Reviews", "Decision"])
    rows = log.get_by_role("article")
    names = [row.get_attribute("aria-label") for row in rows.all()]
    assert set(names[:3]) == {"Advocate answers", "Sceptic answers", "Accountant answers"}
    assert set(names[3:]) == {f"{who} reviews other answers" for who in ("Advocate", "Sceptic", "Accountant")} | {
        "Chair decides"
    }
    assert {rows.nth(index).get_attribute("data-speaker") for index in range(3)} == {"1", "2", "3"}
    heads = rows.filter(has=page.locator("header strong"))
    expect(heads).to_have_count(7)
    expect(heads.get_by_text("simulated")).to_have_count(7)
    prompt = log.get_by_role("button", name="Prompt for Sceptic").first
    expect(prompt).to_have_attribute("aria-expanded", "false")
    prompt.click()
    expect(log.get_by_role("region", name="System prompt (full text)").first).to_contain_text(
        "You are Sceptic. You doubt."
    )
    expect(log.get_by_role("region", name="Task (full text)").first).to_contain_text("The invoice was charged twice.")

    # Tool calls are collapsed, with their results.
    tool = log.get_by_role("button", name="write_file").first
    expect(tool).to_contain_text("artifacts_staging/decision.md")
    expect(tool).to_have_attribute("aria-expanded", "false")
    tool.click()
    expect(log.get_by_role("region", name="Result of write_file").first).to_contain_text("decision.md")
    page.get_by_role("tab", name="Conversation").click()
    check_page(page, log)

    # Artifacts, cost, input.
    rail = page.get_by_role("complementary", name="Artifacts")
    expect(rail).to_contain_text("decision.md")
    expect(rail).to_contain_text("Simulated: generated by the built-in model")
    expect(page.locator("main")).to_contain_text("0 of $2.00")
    assert paced.run(run_id)["usage"]["cost_usd"] == 0
    page.get_by_role("tab", name="Context").click()
    expect(page.get_by_role("region", name="REFERENCED OUTPUT: Checkpoint 1 from v1")).to_contain_text('"high"')
    panel = page.get_by_role("tabpanel", name="Context")
    expect(panel).to_contain_text("tokens, formatted as markdown")
    check_page(page, panel)

    # The invalid result: position, expected type, actual value.
    page.get_by_role("list", name="Checkpoints").get_by_role("button", name="Triage").click()
    expect(page.get_by_role("log").get_by_role("heading", level=3)).to_have_text(["Validation retry 1"])
    expect(page.get_by_role("log").get_by_role("button", name="Invalid result")).to_have_count(2)
    expect(page.get_by_role("region", name="Submitted result").last).to_contain_text('"high"')
    page.get_by_role("tab", name="Overview").click()
    validation = page.get_by_role("region", name="Validation")
    expect(validation.get_by_text("Failed", exact=True)).to_be_visible()
    expect(validation.get_by_text("triage.json#/urgency")).to_be_visible()
    expect(validation.locator("dd")).to_have_text(['one of "low", "medium", "high"', '"soon"'])
    expect(page.get_by_role("tabpanel", name="Overview")).to_contain_text("in 4 calls, simulated, free")
    check_page(page, validation)

    # After the decision the conversation can still be read.
    page.get_by_role("list", name="Checkpoints").get_by_role("button", name="Decide").click()
    page.get_by_role("button", name="Approve").click()
    paced.wait_for_run(run_id, "completed")
    page.goto(f"{paced.address}/runs/{run_id}?checkpoint={paced.run(run_id)['checkpoints'][1]['checkpoint_id']}")
    expect(log.get_by_role("article", name="Chair decides").last).to_contain_text("decision.md")


def test_a_model_error_is_shown_in_plain_words(signed_in: Page, server: Server) -> None:
    run_id = server.start(server.define(FAULTY))
    server.wait_for_run(run_id, "paused")
    signed_in.goto(f"{server.address}/runs/{run_id}")
    words = server.execution(run_id, 0)["error_details"]["last_error"]["error_message"]
    failed = signed_in.get_by_role("tabpanel", name="Overview")
    expect(failed).to_contain_text("Work failed.")
    expect(failed).to_contain_text(words)
    assert "quota" in words
    expect(failed.get_by_role("region", name="Failed attempts")).to_contain_text("quota")
    check_page(signed_in, failed)
