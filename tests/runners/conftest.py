"""A bench for scripts, once with each sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.runners.agents.tools import mcp
from tests.isolation import PATIENCE
from tests.runners.script_samples import Bench, make_sandbox


@pytest.fixture(autouse=True)
def long_start_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give MCP servers more time to start, because the machine may be busy."""
    monkeypatch.setattr(mcp, "START_SECONDS", PATIENCE)


@pytest.fixture(params=["bubblewrap", "process"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return Bench(tmp_path, make_sandbox(request.param, tmp_path))


@pytest.fixture
def bubblewrap_bench(tmp_path: Path) -> Bench:
    """A bench with the bubblewrap sandbox."""
    return Bench(tmp_path, make_sandbox("bubblewrap", tmp_path))
