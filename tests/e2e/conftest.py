"""A real server and a real browser. The web app has to be built: `make setup`."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cairn.api.web_app import STATIC
from tests.e2e.page_checks import PageErrors
from tests.e2e.server import Server

PATIENCE = 40_000  # milliseconds: the tests share their machine
expect.set_options(timeout=PATIENCE)

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    assert chromium is not None, "Chromium is not installed: run scripts/system-packages."
    return {**browser_type_launch_args, "executable_path": chromium, "args": FLAGS}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_context_args, "viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    assert (STATIC / "index.html").is_file(), "The web app is not built: run make setup."
    running = Server(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


@pytest.fixture
def fresh_server(tmp_path: Path) -> Generator[Server]:
    """A new server without data."""
    running = Server(tmp_path)
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def page_errors(page: Page) -> Generator[PageErrors]:
    """Fail the test on page errors and violations of the content security policy."""
    page.set_default_timeout(PATIENCE)
    errors = PageErrors(page)
    yield errors
    page.unroute_all(behavior="ignoreErrors")  # a mocked response may still be in flight
    assert errors.errors == []


@pytest.fixture
def signed_in(page: Page, server: Server) -> Page:
    """A page that has opened the start link."""
    page.goto(server.start_link)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    return page
