"""The live log of an execution: follow, scroll back, filter, resume and download."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.e2e.samples import one_function
from tests.e2e.server import Server

# The first visible line of the log and its offset: the scroll position.
PLACE = """(log) => {
  const edge = log.getBoundingClientRect().top
  const row = [...log.querySelectorAll('[data-index]')].find((row) => row.getBoundingClientRect().top >= edge)
  return [row.innerText, Math.round(row.getBoundingClientRect().top - edge)]
}"""


def open_log(page: Page, server: Server, name: str, lines: int) -> Locator:
    """Start a run that has logged `lines` lines and can log more, and show its log."""
    run_id = server.start(server.define(one_function(name, "e2e.talk", f"{{gate: {gate(name)}, lines: {lines}}}")))
    page.goto(f"{server.address}/runs/{run_id}?tab=log")
    log = page.get_by_role("log", name="Log of Work")
    expect(log).to_contain_text(f"line {lines - 1} of what it says")
    return log


def gate(name: str) -> str:
    return name.lower().replace(" ", "_")


def say(server: Server, name: str, lines: int) -> None:
    """Log more lines."""
    written = server.folder / f"{gate(name)}.tmp"
    written.write_text(str(lines))
    written.rename(server.folder / f"{gate(name)}.say")


def jump(page: Page) -> Locator:
    return page.get_by_role("button", name="Jump to latest")


def settled_position(page: Page, log: Locator) -> Any:
    """Return the scroll position when it no longer changes."""
    last, now = None, log.evaluate(PLACE)
    while last != now:
        page.wait_for_timeout(150)
        last, now = now, log.evaluate(PLACE)
    return now


def test_the_log_follows_until_scrolled_up(signed_in: Page, server: Server) -> None:
    log = open_log(signed_in, server, "Followed", 300)
    expect(jump(signed_in)).to_have_count(0)
    say(server, "Followed", 200)
    expect(log).to_contain_text("line 499 of what it says")

    log.focus()
    signed_in.keyboard.press("PageUp")
    expect(jump(signed_in)).to_be_visible()
    position = settled_position(signed_in, log)
    say(server, "Followed", 120)
    expect(jump(signed_in)).to_have_text(re.compile(r"Jump to latest \(120 new\)"))
    assert log.evaluate(PLACE) == position

    jump(signed_in).press("Enter")
    expect(log).to_contain_text("line 619 of what it says")
    expect(jump(signed_in)).to_have_count(0)
    expect(log).to_be_focused()
    say(server, "Followed", 1)
    expect(log).to_contain_text("line 620 of what it says")


def test_older_lines_load_on_demand(signed_in: Page, server: Server) -> None:
    """Only visible lines are rendered."""
    log = open_log(signed_in, server, "Long", 5000)
    expect(signed_in.get_by_text("Latest 500 lines")).to_be_visible()
    signed_in.get_by_role("button", name="Load older lines").click()
    expect(signed_in.get_by_text("Latest 1000 lines")).to_be_visible()
    expect(log).to_contain_text("line 4999 of what it says")  # still at the end
    first = log.get_by_text("line 0 of what it says", exact=True)
    for _ in range(100):
        if first.count() > 0:
            break
        log.press("Home")
        signed_in.wait_for_timeout(50)
    expect(first).to_be_visible()
    expect(signed_in.get_by_text("5000 lines", exact=True)).to_be_visible()
    expect(signed_in.get_by_role("button", name="Load older lines")).to_have_count(0)
    assert log.locator("[data-index]").count() < 100
    log.press("End")
    expect(log).to_contain_text("line 4999 of what it says")
    expect(jump(signed_in)).to_have_count(0)


def test_the_log_resumes_after_a_lost_connection(signed_in: Page, server: Server) -> None:
    """Every line appears once, including those logged while offline."""
    log = open_log(signed_in, server, "Cut off", 10)
    # A hidden page closes its streams; it becomes visible again while offline.
    signed_in.context.set_offline(offline=True)
    signed_in.evaluate("""() => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => window.away })
        for (const away of [true, false]) {
            window.away = away
            document.dispatchEvent(new Event('visibilitychange'))
        }
    }""")
    expect(signed_in.get_by_text("Connection lost.")).to_be_visible()
    say(server, "Cut off", 30)
    signed_in.context.set_offline(offline=False)
    expect(log).to_contain_text("line 39 of what it says")
    expect(signed_in.get_by_text("40 lines", exact=True)).to_be_visible()
    expect(signed_in.get_by_text("Connection lost.")).to_have_count(0)


def test_the_log_is_filtered_by_level_and_text(signed_in: Page, server: Server) -> None:
    log = open_log(signed_in, server, "Filtered", 1000)
    level = signed_in.get_by_label("Log level")
    level.select_option(label="Errors only")
    expect(signed_in.get_by_text("10 lines", exact=True)).to_be_visible()
    expect(log).to_contain_text("line 99 of what it says")  # beyond the newest 500
    say(server, "Filtered", 100)
    expect(signed_in.get_by_text("11 lines", exact=True)).to_be_visible()
    level.select_option(label="Warnings and errors")
    expect(signed_in.get_by_text("110 lines", exact=True)).to_be_visible()

    signed_in.get_by_role("heading", level=1).click()
    signed_in.keyboard.press("/")
    field = signed_in.get_by_label("Search the log")
    expect(field).to_be_focused()
    field.fill("LINE 109 of")
    expect(signed_in.get_by_text("1 line", exact=True)).to_be_visible()
    expect(log.locator("mark")).to_have_text(["line 109 of"])
    field.fill("nowhere")
    expect(signed_in.get_by_text("No lines match.")).to_be_visible()
    field.press("Escape")
    level.select_option(label="All levels")
    expect(log).to_contain_text("line 1099 of what it says")


def test_the_complete_log_is_copied_and_downloaded(signed_in: Page, server: Server, tmp_path: Path) -> None:
    open_log(signed_in, server, "Saved", 700)
    with signed_in.expect_download() as download:
        signed_in.get_by_role("link", name="Download full log").click()
    saved = tmp_path / "saved.log"
    download.value.save_as(saved)
    lines = saved.read_text().splitlines()
    assert [line.split(" ", 2)[1:] for line in lines[8:11]] == [
        ["info", "line 8 of what it says"],
        ["warning", "line 9 of what it says"],
        ["info", "line 10 of what it says"],
    ]
    assert len(lines) == 700

    signed_in.context.grant_permissions(["clipboard-read", "clipboard-write"])
    signed_in.get_by_role("button", name="Copy loaded lines").click()
    expect(signed_in.get_by_text("Copied the latest 500 lines.")).to_be_visible()
    copied: str = signed_in.evaluate("navigator.clipboard.readText()")
    rows = copied.splitlines()
    assert (len(rows), rows[-1].endswith(" error line 699 of what it says")) == (500, True)


def test_long_lines_wrap_or_scroll(signed_in: Page, server: Server) -> None:
    log = open_log(signed_in, server, "Wrapped", 40)
    wider = "(log) => log.scrollWidth > log.clientWidth"
    signed_in.set_viewport_size({"width": 360, "height": 800})
    wrap = signed_in.get_by_role("button", name="Wrap long lines")
    expect(wrap).to_have_attribute("aria-pressed", "true")
    assert log.evaluate(wider) is False
    wrap.click()
    expect(wrap).to_have_attribute("aria-pressed", "false")
    signed_in.reload()
    expect(log).to_contain_text("line 39 of what it says")
    expect(wrap).to_have_attribute("aria-pressed", "false")


PRINTING = """
pipeline_name: Printing
config: { auto_advance: true }
checkpoints:
  - key: work
    checkpoint_name: Work
    execution:
      mode: script
      script_config:
        script_source: |
          import sys

          def main(ctx):
              print("a long line that does not fit on a phone, " * 6)
              ctx.log("figures found", rows=12)
              print("no such column", file=sys.stderr)
              raise ValueError("the file is empty")
    outputs: [figures.json]
"""


def test_script_output_is_labeled(signed_in: Page, server: Server) -> None:
    """Stdout and stderr are labeled, fields are shown, and the end is at the lower edge, on a phone too."""
    run_id = server.start(server.define(PRINTING))
    server.wait_for_run(run_id, "paused")
    signed_in.set_viewport_size({"width": 360, "height": 640})
    signed_in.goto(f"{server.address}/runs/{run_id}?tab=log")
    log = signed_in.get_by_role("log")
    expect(log.locator("[data-stream=stdout]")).to_contain_text("stdout a long line")
    expect(log.locator("[data-stream=stderr]")).to_contain_text("stderr no such column")
    expect(log).to_contain_text("figures found rows=12")
    below = """(log) => {
      const last = [...log.querySelectorAll('[data-index]')].at(-1).getBoundingClientRect().bottom
      return Math.round(log.getBoundingClientRect().bottom - last)
    }"""
    assert 0 <= log.evaluate(below) <= 16
    signed_in.get_by_role("tab", name="Overview").click()
    fault = signed_in.get_by_role("region", name="Stack trace of attempt 1")
    expect(fault).to_contain_text('raise ValueError("the file is empty")')
    expect(signed_in.get_by_text("bubblewrap: access to its workspace only")).to_be_visible()


def test_times_are_in_the_time_zone_of_the_reader(server: Server, page: Page) -> None:
    browser = page.context.browser
    assert browser is not None
    abroad = browser.new_context(timezone_id="Asia/Kolkata")
    there = abroad.new_page()
    there.goto(server.start_link)
    expect(there.get_by_role("navigation", name="Main")).to_be_visible()
    log = open_log(there, server, "Abroad", 3)
    stamp = log.locator("time").first
    timestamp = str(stamp.get_attribute("datetime"))
    shown = there.evaluate("(at) => new Date(at).toLocaleTimeString('en-GB', {timeZone: 'Asia/Kolkata'})", timestamp)
    expect(stamp).to_have_text(re.compile(rf"^{shown}\.\d{{3}}$"))
    abroad.close()
