"""What is looked at on every page: accessibility, overflow, and what the browser complains about."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
_RUN = """
axe.run(document, {iframes: false, resultTypes: ['violations'], %s}).then(({violations}) => JSON.stringify(
  violations.map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`)))
"""
_COLOURS = "runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}"


def axe(page: Page, *, colours: bool = False) -> list[str]:
    """What axe objects to, or only to the colours: a page that turned dark is otherwise as it was before.

    Injected through the debugger, as the page's policy lets nothing else in. A preview in a frame is closed to
    everybody, to axe too: it must not knock there.
    """
    page.locator("h1").first.wait_for(state="attached")  # nothing is drawn before it
    debugger: Any = page.context.new_cdp_session(page)
    if not page.evaluate("'axe' in window"):
        debugger.send("Runtime.evaluate", {"expression": AXE.read_text()})
    run = {"expression": _RUN % (_COLOURS if colours else ""), "awaitPromise": True, "returnByValue": True}
    answer = debugger.send("Runtime.evaluate", run)
    debugger.detach()
    found: list[str] = json.loads(answer["result"]["value"])
    return found


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than the window."""
    wider: int = page.evaluate(
        """() => Math.max(...['html', 'main'].map((name) => {
          const part = document.querySelector(name)
          return part === null ? 0 : part.scrollWidth - part.clientWidth
        }))"""
    )
    return wider


Look = tuple[Literal["light", "dark"], int]
DESK: Look = ("light", 1440)
LOOKS: list[Look] = [DESK, ("dark", 1440), ("dark", 360), ("light", 360)]  # from each to the next one thing changes


def faults(page: Page, looks: Iterable[Look] = LOOKS, there: Locator | None = None) -> list[str]:
    """What is wrong with what is shown, light and dark, on a desk and on a phone."""
    found: list[str] = []
    checked: set[int] = set()  # widths, in all respects
    for scheme, width in looks:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        if there is not None:
            expect(there).to_be_visible()
        said = axe(page, colours=width in checked)
        checked.add(width)
        wider = overflow(page)
        found += [f"{scheme}, {width}: {what}" for what in (*said, *([f"{wider} px too wide"] if wider > 0 else ()))]
    return found


def look(page: Page, there: Locator | None = None) -> None:
    """Nothing is wrong with it."""
    assert faults(page, there=there) == []
    page.set_viewport_size({"width": DESK[1], "height": 900})


class Complaints:
    """Everything that a browser says when a page does what its policy forbids, or breaks."""

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.found.append(f"error: {error}"))

    def _console(self, message: ConsoleMessage) -> None:
        # A refused request is part of what is tested; everything else in the console is a fault.
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            self.found.append(f"{message.type}: {message.text}")
