"""The conversation of an execution, its cost and its budget."""

from __future__ import annotations

import json
from typing import Literal

from playwright.sync_api import Page, Route, expect

from tests.e2e.mock_conversation import NO_LIMITS, MockConversation, usage
from tests.e2e.page_checks import axe, overflow
from tests.e2e.server import Server

FROM_END = "(log) => Math.round(log.scrollHeight - log.scrollTop - log.clientHeight)"


def test_messages_appear_as_they_are_written(signed_in: Page, server: Server) -> None:
    conversation = MockConversation(signed_in, server, "Debated")
    conversation.add("Cairn", "Debate the cap.\nAt length.", role="user", model=None, turn="debate/1/advocate")
    spent = usage(calls=1, input_tokens=1500, output_tokens=400, cost_usd=0.0042, seconds=3.2)
    thought = "They paid less.\nBut not much."
    conversation.add("Advocate", "A cap of **12 months**.", turn="debate/1/advocate", usage=spent, thinking=thought)
    call = {"call_id": "1", "name": "file_operations", "arguments": {"operation": "read", "path": "clauses.json"}}
    conversation.add("Sceptic", "I look first.", turn="debate/1/sceptic", tool_calls=[call])
    result = {"call_id": "1", "name": "file_operations", "content": "The file is not there.", "succeeded": False}
    conversation.add("Cairn", "", role="tool", model=None, turn="debate/1/sceptic", tool_results=[result])
    conversation.add("Judge", '{"ruling": "accept"}', turn="judge/1", purpose="judge", is_simulated=True)
    signed_in.goto(conversation.address)

    log = signed_in.get_by_role("log", name="Conversation of Work")
    expect(log.get_by_role("heading", level=3)).to_have_text(["Round 1", "Validation"])
    expect(log.get_by_role("article", name="Advocate argues")).to_contain_text("1.9k tokens · $0.0042 · 3.2 s")
    expect(log.get_by_role("article", name="Advocate argues").locator("strong").last).to_have_text("12 months")
    expect(log.get_by_role("article", name="Judge validates the result")).to_contain_text("simulated")
    thinking = log.get_by_role("article", name="Advocate argues").get_by_role("button", name="Thinking")
    expect(thinking).to_contain_text("They paid less.")
    expect(log.get_by_text("But not much.")).to_have_count(0)
    thinking.click()
    expect(log.get_by_text("But not much.")).to_be_visible()
    tool = log.get_by_role("button", name="file_operations")
    expect(tool).to_contain_text("clauses.json")
    expect(tool).to_contain_text("failed")
    tool.click()
    expect(log.get_by_role("region", name="Result of file_operations")).to_have_text("The file is not there.")
    log.get_by_role("button", name="Prompt for Advocate").click()
    expect(log.get_by_text("At length.")).to_be_visible()

    conversation.send_delta("Peers signed 🙂", 0)
    conversation.send_delta("Hm", 0, kind="thinking")
    conversation.send_delta(" **48**", 14)
    coming = log.get_by_role("article", name="Sceptic works")
    expect(coming).to_contain_text("Peers signed 🙂 48")
    expect(coming.get_by_role("button", name="Thinking")).to_have_attribute("aria-expanded", "false")
    conversation.send(conversation.add("Sceptic", "Peers signed 48, whole."))
    expect(coming).to_have_count(1)
    expect(coming).to_contain_text("Peers signed 48, whole.")
    looks: list[tuple[Literal["light", "dark"], int]] = [("light", 1440), ("dark", 360)]
    for scheme, width in looks:
        signed_in.emulate_media(color_scheme=scheme)
        signed_in.set_viewport_size({"width": width, "height": 800})
        expect(log).to_be_visible()
        assert (axe(signed_in), overflow(signed_in)) == ([], 0)


def test_a_long_conversation_opens_at_its_end(signed_in: Page, server: Server) -> None:
    conversation = MockConversation(signed_in, server, "Long talk")
    for number in range(250):
        conversation.add(
            "Advocate", f"Point {number}. {'And so on. ' * (number % 9 * 5 + 1)}", turn=f"debate/{number}/a"
        )
    signed_in.goto(conversation.address)
    log = signed_in.get_by_role("log", name="Conversation of Work")
    expect(log).to_contain_text("Point 249.")
    assert log.locator("[data-index]").count() < 60
    conversation.send_delta("And now " * 200, 0)
    expect(log).to_contain_text("And now")
    signed_in.wait_for_function(f"(log) => ({FROM_END})(log) === 0", arg=log.element_handle())
    assert conversation.pages == ["newest None"]

    log.press("PageUp")
    follow = signed_in.get_by_role("button", name="Jump to latest")
    expect(follow).to_be_visible()
    signed_in.wait_for_timeout(300)
    scroll_top = log.evaluate("(log) => log.scrollTop")
    conversation.send_delta("more\n\n" * 40, 1600)
    signed_in.wait_for_timeout(300)
    assert log.evaluate("(log) => log.scrollTop") == scroll_top

    # Older messages are inserted above without moving the ones in view.
    log.evaluate("(log) => { log.scrollTop = 600 }")
    expect(log).to_contain_text("Point 150.")
    seen = log.get_by_role("article").filter(has_text="Point 152.")
    expect(seen).to_have_count(1)
    while conversation.pages[-1] != "newest 51":
        log.press("PageUp")
        signed_in.wait_for_timeout(100)
    expect(log.get_by_role("article").first).to_be_visible()
    while not log.get_by_role("article").filter(has_text="Point 0.").count():
        log.press("Home")
        signed_in.wait_for_timeout(100)
    expect(signed_in.get_by_role("button", name="Load earlier messages")).to_have_count(0)
    assert conversation.pages == ["newest None", "newest 151", "newest 51"]
    follow.click()
    expect(follow).to_have_count(0)
    signed_in.wait_for_function(f"(log) => ({FROM_END})(log) === 0", arg=log.element_handle())


def test_loading_older_messages_keeps_the_position(signed_in: Page, server: Server) -> None:
    conversation = MockConversation(signed_in, server, "Read upwards")
    for number in range(150):
        conversation.add(
            "Advocate", f"Point {number}. {'And so on. ' * (number % 9 * 5 + 1)}", turn=f"debate/{number}/a"
        )
    conversation.is_slow = True
    signed_in.goto(conversation.address)
    log = signed_in.get_by_role("log", name="Conversation of Work")
    expect(log).to_contain_text("Point 149.")
    log.evaluate("(log) => { log.scrollTop = 300 }")
    expect(signed_in.get_by_text("Loading earlier messages…")).to_be_visible()
    signed_in.wait_for_timeout(300)  # wait until the rows are measured
    top = "(log) => { const at = log.getBoundingClientRect().top; const row = [...log.querySelectorAll('article')]"
    top += ".find((one) => one.getBoundingClientRect().bottom > at + 5);"
    top += " return [row.innerText.match(/Point \\d+/)[0], Math.round(row.getBoundingClientRect().top - at)] }"
    before = log.evaluate(top)
    conversation.release_older()
    expect(signed_in.get_by_text("Loading earlier messages…")).to_have_count(0)
    signed_in.wait_for_timeout(300)
    assert log.evaluate("(log) => log.scrollTop") > 3000
    name, offset = log.evaluate(top)
    assert (name, abs(offset - before[1]) <= 3) == (before[0], True)


def test_hidden_and_empty_messages_are_marked(signed_in: Page, server: Server) -> None:
    conversation = MockConversation(signed_in, server, "Hidden talk")
    signed_in.goto(conversation.address)
    expect(signed_in.get_by_text("No messages yet.")).to_be_visible()
    conversation.is_hidden = True
    signed_in.reload()
    expect(signed_in.get_by_text("This conversation is hidden")).to_be_visible()
    conversation.add("Writer", "Seen by an admin.")
    signed_in.reload()
    expect(signed_in.get_by_text("Hidden from other users.")).to_be_visible()
    expect(signed_in.get_by_role("article", name="Writer works")).to_contain_text("Seen by an admin.")


def test_the_budget_of_a_run_is_raised(signed_in: Page, server: Server) -> None:
    conversation = MockConversation(signed_in, server, "Spent")
    message = "The run has used $2.03 of its budget of $2.00."
    amounts = {"allowed": 2.0, "used": 2.03, "is_exhausted": True, "unpriced_calls": 1}
    status = {"period": "run", "limit": "max_cost_usd", **amounts, "message": message}
    limits = {"run_limits": NO_LIMITS, "definition_limits": {**NO_LIMITS, "max_cost_usd": 2.0}}
    conversation.run = {
        "status": "paused",
        "over_budget": message,
        "available_commands": [],
        "usage": usage(calls=3, input_tokens=38_000, output_tokens=400, cost_usd=2.03),
        "budget": {**limits, "monthly_limits": NO_LIMITS, "status": [status]},
    }
    requests: list[tuple[str, object]] = []

    def answer(route: Route) -> None:
        requests.append((route.request.url.rpartition("/")[2], json.loads(route.request.post_data or "null")))
        route.fulfill(json={})

    signed_in.route("**/api/runs/*/budget", answer)
    signed_in.route("**/api/runs/*/resume", answer)
    signed_in.goto(conversation.address)
    expect(signed_in.get_by_text("$2.03", exact=True).first).to_be_visible()
    expect(signed_in.get_by_text("Budget exhausted")).to_be_visible()
    bar = signed_in.get_by_role("region", name="Status and actions")
    expect(bar).to_contain_text(message)
    bar.get_by_role("button", name="Raise budget…").click()
    dialog = signed_in.get_by_role("dialog")
    expect(dialog).to_contain_text("$2.03 of $2.00 used, plus 1 call with unknown price")
    field = dialog.get_by_label("Limit (US dollars)")
    field.fill("2")
    expect(dialog).to_contain_text("Enter more than $2.03")
    raising = dialog.get_by_role("button", name="Raise budget and resume")
    expect(raising).to_be_disabled()
    field.fill("4")
    expect(dialog).to_contain_text("$1.97 remaining.")
    assert axe(signed_in) == []
    raising.click()
    expect(dialog).to_have_count(0)
    assert requests == [("budget", {**NO_LIMITS, "max_cost_usd": 4}), ("resume", None)]
