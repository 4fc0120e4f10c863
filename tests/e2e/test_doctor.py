"""The health page shows and repairs what `cairn doctor` does."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page_checks import axe, overflow
from tests.e2e.samples import one_function
from tests.e2e.server import Server


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (360, "dark")])
def test_a_failed_check_is_shown_and_repaired(page: Page, fresh_server: Server, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    pipeline_id = fresh_server.define(one_function("Done", "e2e.big_number"))
    fresh_server.wait_for_run(fresh_server.start(pipeline_id), "completed")
    runs = fresh_server.folder / "data" / "pipelines" / pipeline_id / "runs"
    (runs / "mine.txt").write_text("Mine.")

    page.goto(fresh_server.start_link)
    page.get_by_role("button", name="your account").click()
    page.get_by_role("menuitem", name="Health").click()
    expect(page.get_by_role("heading", name=re.compile("^1 error"))).to_be_visible()
    expect(page.get_by_text("extra: runs/mine.txt")).to_be_visible()
    assert (axe(page), overflow(page)) == ([], 0)

    page.get_by_role("button", name="Repair").click()
    expect(page.get_by_role("heading", name=re.compile("no errors|No problems found"))).to_be_visible()
    expect(page.get_by_text("Repaired", exact=True)).to_be_visible()
    assert not (runs / "mine.txt").exists()
    page.get_by_role("button", name="Check again").click()
    expect(page.get_by_text("match the database")).to_be_visible()
