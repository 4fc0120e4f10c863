"""A bench for scripts, once with each sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.runners.agents.tools import mcp
from tests.isolation import PATIENCE
from tests.runners.script_samples import Bench, make_sandbox


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give MCP servers more time to start, because the machine may be busy."""
    monkeypatch.setattr(mcp, "START_SECONDS", PATIENCE)


@pytest.fixture(params=["bubblewrap", "process"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return Bench(tmp_path, make_sandbox(request.param, tmp_path))


@pytest.fixture
def shut_in(tmp_path: Path) -> Bench:
    """In bubblewrap."""
    return Bench(tmp_path, make_sandbox("bubblewrap", tmp_path))
