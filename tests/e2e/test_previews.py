"""What an artifact holds, by its format, as far as a browser shows it safely (A4)."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.looking import axe, overflow
from tests.e2e.server import Server

FILES = """
pipeline_name: Every format
config: { auto_advance: true }
checkpoints:
  - key: files
    checkpoint_name: Files
    function: e2e.files
    outputs: [figures.csv, page.html, flow.mmd, code.py]
"""


def test_each_format_has_a_look_of_its_own(signed_in: Page, server: Server) -> None:
    run_id = server.start(server.define(FILES))
    server.until(run_id, "completed")
    signed_in.goto(f"{server.address}/runs/{run_id}?tab=artifacts")

    signed_in.get_by_role("button", name="figures.csv").click()
    table = signed_in.get_by_role("region", name="Content of figures.csv").get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["customer", "note", "amount"])
    expect(table.get_by_role("cell", name="Nordwind, Ltd.")).to_be_visible()
    expect(table.get_by_role("cell", name="1200.50")).to_have_css("text-align", "right")
    assert axe(signed_in) == []

    signed_in.get_by_role("button", name="page.html").click()
    expect(signed_in.get_by_text("Pages that others have made are not opened here.")).to_be_visible()
    source = signed_in.get_by_role("region", name="Content of page.html")
    expect(source).to_contain_text("<script>document.title = 'broken'</script>")
    assert "broken" not in signed_in.title()

    signed_in.get_by_role("button", name="flow.mmd").click()
    expect(signed_in.get_by_text("The source of a Mermaid diagram.")).to_be_visible()

    signed_in.get_by_role("button", name="code.py").click()
    code = signed_in.get_by_role("region", name="Content of code.py")
    expect(code.locator("pre").first).to_have_text("1\n2")

    signed_in.set_viewport_size({"width": 360, "height": 800})
    signed_in.emulate_media(color_scheme="dark")
    signed_in.get_by_role("button", name="figures.csv").click()
    expect(table).to_be_visible()
    assert (axe(signed_in), overflow(signed_in)) == ([], 0)
