"""Generated pages match the code."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from typing import Any

import pytest

from cairn.core.events import EventType
from cairn.core.states import ExecutionMode
from cairn.definitions import authoring_schema
from cairn.runners import make_runners
from cairn.store.events.descriptions import SENTENCES
from tests.docs.pages import ROOT

SCRIPT = runpy.run_path(str(ROOT / "scripts" / "make_reference.py"))
PAGES: dict[str, Callable[[], str]] = SCRIPT["PAGES"]


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_up_to_date(name: str) -> None:
    page = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert page == PAGES[name](), "run make docs"


def test_every_event_is_listed() -> None:
    page = PAGES["events.md"]()
    names = [*SENTENCES, *(event.value for event in EventType)]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_not_yet_lists_the_modes_without_a_runner() -> None:
    """With a sandbox and models, every mode has a runner."""
    configs = {ExecutionMode.AGENTIC: "AgentConfig", ExecutionMode.SCRIPT: "ScriptConfig"} | {
        ExecutionMode.FUNCTION: "FunctionConfig",
        ExecutionMode.HUMAN_ONLY: "HumanOnlyConfig",
    }
    port: Any = object()
    runners = make_runners(sandbox=port, models=port)
    assert {name for mode, name in configs.items() if mode not in runners} == SCRIPT["NOT_YET"] & set(configs.values())


def test_not_yet_lists_existing_fields() -> None:
    parts = authoring_schema()["$defs"] | {"Pipeline": authoring_schema()}
    sections = {name for name in SCRIPT["NOT_YET"] if "." not in name}
    fields = {tuple(name.split(".")[:2]) for name in SCRIPT["NOT_YET"] if "." in name}
    assert sections <= set(parts)
    assert {f"{part}.{field}" for part, field in fields if field not in parts[part]["properties"]} == set()
