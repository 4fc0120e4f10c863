"""A bench for scripts, once with each sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runners.scripting import Bench, make_sandbox


@pytest.fixture(params=["bubblewrap", "process"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return Bench(tmp_path, make_sandbox(request.param, tmp_path))


@pytest.fixture
def shut_in(tmp_path: Path) -> Bench:
    """In bubblewrap."""
    return Bench(tmp_path, make_sandbox("bubblewrap", tmp_path))
