"""Checks for every page: accessibility, overflow and console errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import ConsoleMessage, Locator, Page, Request, expect

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
_RUN = """
axe.run(document, {iframes: false, resultTypes: ['violations']}).then((found) => JSON.stringify(found.violations.map(
  (fault) => `${fault.id}: ${fault.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`)))
"""


def axe(page: Page) -> list[str]:
    """Return the violations that axe finds. Previews in frames are isolated, so axe skips them.

    Axe is injected through the debugger, because the content security policy blocks scripts.
    """
    page.locator("h1").first.wait_for(state="attached")  # the page is rendered
    debugger: Any = page.context.new_cdp_session(page)
    known = debugger.send("Runtime.evaluate", {"expression": "typeof axe"})
    if known["result"]["value"] == "undefined":
        debugger.send("Runtime.evaluate", {"expression": AXE.read_text()})
    answer = debugger.send("Runtime.evaluate", {"expression": _RUN, "awaitPromise": True, "returnByValue": True})
    debugger.detach()
    found: list[str] = json.loads(answer["result"]["value"])
    return found


def overflow(page: Page) -> int:
    """Return how many pixels the page is wider than the window."""
    wider: int = page.evaluate(
        """() => Math.max(...['html', 'main'].map((name) => {
          const part = document.querySelector(name)
          return part === null ? 0 : part.scrollWidth - part.clientWidth
        }))"""
    )
    return wider


APPEARANCES: list[tuple[Literal["light", "dark"], int]] = [
    ("light", 1440),
    ("dark", 1440),
    ("light", 360),
    ("dark", 360),
]


def check_page(page: Page, visible: Locator | None = None) -> None:
    """Check accessibility and overflow, light and dark, on a desktop and on a phone."""
    for scheme, width in APPEARANCES:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        if visible is not None:
            expect(visible).to_be_visible()
        assert (axe(page), overflow(page)) == ([], 0), (scheme, width)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})


class PageErrors:
    """Collect page errors and violations of the content security policy."""

    def __init__(self, page: Page) -> None:
        self.messages: list[str] = []
        self._aborted: set[str] = set()  # requests aborted by leaving a page
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.messages.append(f"error: {error}"))
        page.on("requestfailed", self._failed)

    @property
    def errors(self) -> list[str]:
        """All messages, except for modules whose loading was aborted by leaving the page."""
        return [
            message
            for message in self.messages
            if not ("dynamically imported module" in message and any(address in message for address in self._aborted))
        ]

    def _failed(self, request: Request) -> None:
        if request.failure == "net::ERR_ABORTED":
            self._aborted.add(request.url)

    def _console(self, message: ConsoleMessage) -> None:
        # tests provoke failed requests, but any other console error fails the test
        if message.type in {"error", "warning"} and "Failed to load resource" not in message.text:
            self.messages.append(f"{message.type}: {message.text}")
