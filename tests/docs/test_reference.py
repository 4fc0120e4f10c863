"""Pages that are made from code are as the code makes them."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from typing import Any

import pytest

from cairn.core.states import ExecutionMode
from cairn.definitions import authoring_schema
from cairn.runners import make_runners
from tests.docs.pages import ROOT

SCRIPT = runpy.run_path(str(ROOT / "scripts" / "make_reference.py"))
PAGES: dict[str, Callable[[], str]] = SCRIPT["PAGES"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_not_stale(name: str) -> None:
    page = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert page == PAGES[name](), "run make docs"


def test_what_is_marked_as_not_yet_is_what_no_runner_does() -> None:
    """With a sandbox and models every mode has its runner; the page says the same."""
    configs = {ExecutionMode.AGENTIC: "AgentConfig", ExecutionMode.SCRIPT: "ScriptConfig"} | {
        ExecutionMode.FUNCTION: "FunctionConfig",
        ExecutionMode.HUMAN_ONLY: "HumanOnlyConfig",
    }
    there: Any = object()
    runners = make_runners(sandbox=there, models=there)
    assert {name for mode, name in configs.items() if mode not in runners} == SCRIPT["LATER"] & set(configs.values())


def test_what_is_marked_as_not_yet_exists() -> None:
    parts = authoring_schema()["$defs"] | {"Pipeline": authoring_schema()}
    sections = {name for name in SCRIPT["LATER"] if "." not in name}
    fields = {tuple(name.split(".")[:2]) for name in SCRIPT["LATER"] if "." in name}
    assert sections <= set(parts)
    assert {f"{part}.{field}" for part, field in fields if field not in parts[part]["properties"]} == set()
