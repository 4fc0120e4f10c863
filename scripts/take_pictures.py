#!/usr/bin/env python3
"""Takes the README's pictures of a run from a real server, in both colour schemes: run it when the page has changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TEXT = """\
A cairn is a pile of stones that marks a way. Walkers add a stone when they pass, so that those who come after them find
the path in fog and snow. The marks are simple, they last, and everybody can read them.

Pipelines need such marks, too. Each checkpoint says what was done, by whom, and who agreed. Whoever comes later can see
the way that was taken, and go back to any stone on it.
"""


class Server:
    """A server of its own, and its API."""

    def __init__(self, folder: str) -> None:
        command = [str(Path(sys.executable).parent / "cairn"), "serve", "--port", "0", "--data-dir", folder]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        said = self.process.stdout or []
        self.link = next(line.removeprefix("Open ").strip() for line in said if line.startswith("Open "))
        self.address, _, self.token = self.link.partition("/#token=")

    def call(self, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{self.address}/api/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
            return json.load(response)

    def wait_for_approval(self, run: str, position: int) -> str:
        """The execution at a position, once its result waits for approval."""
        while True:
            found = self.call(f"runs/{run}")["trail"][position]
            if found["status"] == "waiting_approval_to_complete":
                return str(found["execution_id"])
            time.sleep(0.1)


def sample(server: Server) -> str:
    """A second version whose report waits for approval; the answer is its id."""
    pipeline = server.call("pipelines", {"template": "text-report"})["pipeline_id"]
    first = server.call("runs", {"pipeline_id": pipeline, "input": {"text": TEXT.partition("\n\n")[0]}})["run_id"]
    server.call(f"executions/{server.wait_for_approval(first, 3)}/approve", {})
    second = server.call("runs", {"pipeline_id": pipeline, "input": {"text": TEXT}})["run_id"]
    server.wait_for_approval(second, 3)
    return str(second)


def take(server: Server, run: str) -> None:
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        for scheme in SCHEMES:
            page = browser.new_page(viewport={"width": 1280, "height": 780}, color_scheme=scheme)
            page.goto(server.link)
            page.get_by_role("navigation", name="Main").wait_for()
            page.goto(f"{server.address}/runs/{run}")
            page.get_by_role("button", name="Approve", exact=True).wait_for()
            page.wait_for_timeout(1500)  # fonts and previews
            page.screenshot(path=FOLDER / f"run-{scheme}.png")
        browser.close()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        try:
            take(server, sample(server))
        finally:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    main()
