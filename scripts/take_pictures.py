#!/usr/bin/env python3
"""Take the README's screenshots of a run from a real server, in both color schemes. Run it when the page changes."""

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
A cairn is a pile of stones that marks a trail. Hikers add a stone as they pass, so that those who follow can find the
path in fog and snow. Cairns are simple, durable and easy to read.

Pipelines need markers too. Each checkpoint records what was done, who did it and who approved it. Anyone who follows
can see which path was taken, and return to any stone along it.
"""


class Server:
    """A temporary server and its API."""

    def __init__(self, folder: str) -> None:
        command = [str(Path(sys.executable).parent / "cairn"), "serve", "--port", "0", "--data-dir", folder]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        output = self.process.stdout or []
        self.link = next(line.removeprefix("Open ").strip() for line in output if line.startswith("Open "))
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
        """Wait until the result at a position needs approval, and return its execution."""
        while True:
            checkpoint = self.call(f"runs/{run}")["checkpoints"][position]
            if checkpoint["status"] == "waiting_approval_to_complete":
                return str(checkpoint["execution_id"])
            time.sleep(0.1)


def create_run(server: Server) -> str:
    """Create a second version whose report waits for approval, and return its id."""
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
            take(server, create_run(server))
        finally:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    main()
