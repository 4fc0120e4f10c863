"""Previews and diffs of artifacts by format, isolated from the page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Error, Page, Route, expect

from tests.e2e.page_checks import PageErrors, check_page
from tests.e2e.server import Server

FILES = """
pipeline_name: Every format
config: { auto_advance: true }
checkpoints:
  - key: files
    checkpoint_name: Files
    function: e2e.files
    outputs: [figures.csv, page.html, flow.mmd, wrong.mmd, code.py]
"""
REVISED = """
pipeline_name: Told twice
config: { auto_advance: true }
checkpoints:
  - key: told
    checkpoint_name: Told
    form: [{ name: text, label: Text, type: multiline_text }]
    outputs: [text.md]
    approve: complete
"""


def test_each_format_has_its_own_preview(signed_in: Page, server: Server, page_errors: PageErrors) -> None:
    run_id = server.start(server.define(FILES))
    server.wait_for_run(run_id, "completed")
    requests: list[str] = []
    left: list[str] = []

    def leave(route: Route) -> None:
        left.append(route.request.url)
        route.abort()

    signed_in.on("request", lambda request: requests.append(request.url))
    # A request blocked by the policy is reported, but never reaches the route.
    signed_in.context.route("https://elsewhere.invalid/**", leave)
    signed_in.goto(f"{server.address}/runs/{run_id}?tab=artifacts")

    signed_in.get_by_role("button", name="figures.csv").click()
    table = signed_in.get_by_role("region", name="Content of figures.csv").get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["customer", "note", "amount"])
    expect(table.get_by_role("cell", name="Nordwind, Ltd.")).to_be_visible()
    expect(table.get_by_role("cell", name="1200.50")).to_have_css("text-align", "right")
    check_page(signed_in)

    signed_in.get_by_role("button", name="code.py").click()
    code = signed_in.get_by_role("region", name="Content of code.py")
    expect(code.locator("pre").first).to_have_text("1\n2")

    signed_in.get_by_role("button", name="flow.mmd").click()
    drawing = signed_in.get_by_role("region", name="Diagram of flow.mmd").get_by_role("img")
    expect(drawing).to_be_visible()
    signed_in.wait_for_function("(image) => image.complete && image.naturalWidth > 20", arg=drawing.element_handle())
    expect(signed_in.get_by_role("region", name="Content of flow.mmd")).to_contain_text("intake --> answer")
    assert [url for url in requests if "mermaid" in url]
    signed_in.get_by_role("button", name="View full size").click()
    expect(signed_in.get_by_role("button", name="Fit to page")).to_be_visible()
    check_page(signed_in)

    signed_in.get_by_role("button", name="wrong.mmd").click()
    expect(signed_in.get_by_text("This diagram can't be displayed.")).to_be_visible()
    expect(signed_in.get_by_text(re.compile("Parse error on line 2"))).to_be_visible()
    expect(signed_in.get_by_role("region", name="Content of wrong.mmd")).to_contain_text("intake --> ((")
    check_page(signed_in)

    signed_in.get_by_role("button", name="page.html").click()
    frame = signed_in.frame_locator("iframe[title='Preview of page.html']")
    expect(frame.get_by_role("heading", name="Hello")).to_be_visible()
    assert signed_in.locator("iframe").get_attribute("sandbox") == ""
    check_page(signed_in)
    frame.get_by_role("link", name="Leave for all").click()
    frame.get_by_role("link", name="Leave", exact=True).click()
    expect(frame.get_by_role("heading", name="Hello")).not_to_be_visible()  # the frame is empty and does not navigate
    signed_in.get_by_text("Source", exact=True).click()
    source = signed_in.get_by_role("region", name="Content of page.html")
    expect(source).to_contain_text("<script>document.title = 'broken'")
    assert "broken" not in signed_in.title()
    assert left == []
    with pytest.raises(Error, match="ERR_FAILED"):
        signed_in.context.new_page().goto("https://elsewhere.invalid/seen.png")
    assert left == ["https://elsewhere.invalid/seen.png"]  # the check itself works
    blocked = [words for words in page_errors.messages if "srcdoc" in words or "elsewhere.invalid" in words]
    assert any("Blocked script execution" in words for words in blocked), page_errors.messages
    page_errors.messages[:] = [words for words in page_errors.messages if words not in blocked]


def test_the_diff_to_the_previous_version(signed_in: Page, server: Server) -> None:
    requests: list[str] = []
    signed_in.on("request", lambda request: requests.append(request.url))
    pipeline_id = server.define(REVISED)
    for text in ("# Cap\n\nSix months of fees.\n", "# Cap\n\nTwelve months of fees.\n\nBut for leaks.\n"):
        run_id = server.start(pipeline_id)
        execution_id = server.wait_for_approval(run_id, 0, "input")["execution_id"]
        server.call("POST", f"/api/executions/{execution_id}/submit", {"fields": {"text": text}})
        approval_id = server.wait_for_approval(run_id, 0, "completion")["approval"]["approval_id"]
        if text.startswith("# Cap\n\nSix"):
            server.call("POST", f"/api/executions/{execution_id}/approve-complete")
            server.wait_for_run(run_id, "completed")
    signed_in.goto(f"{server.address}/runs/{run_id}?tab=artifacts")
    expect(signed_in.get_by_role("button", name="text.md")).to_contain_text("changed since v1")
    expect(signed_in.get_by_role("tabpanel", name="Artifacts")).to_contain_text("Twelve months of fees.")
    signed_in.get_by_text("Changes since v1", exact=True).click()
    changes = signed_in.get_by_role("region", name="Changes in text.md")
    expect(changes.locator("mark").first).to_have_text("Six")
    expect(changes.locator("p[data-sign='+'] mark").first).to_have_text("Twelve")
    expect(signed_in.get_by_text("3 lines added, 1 removed.")).to_be_visible()
    check_page(signed_in)
    signed_in.goto(f"{server.address}/approvals/{approval_id}")  # on the approval page too
    signed_in.get_by_text("Changes since v1", exact=True).click()
    expect(changes.locator("mark").first).to_have_text("Six")
    assert [url for url in requests if "mermaid" in url] == []  # large: loaded for diagrams only
