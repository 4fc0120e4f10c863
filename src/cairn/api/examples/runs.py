"""The second run of the pipeline."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.services.runs.execution_views import ExecutionPage
from cairn.services.runs.views import RunPage


def create_request() -> dict[str, Any]:
    return {"pipeline_id": story.PIPELINE_ID, "input": {"market": "Europe"}}


def restart_request() -> dict[str, Any]:
    return {"pass_number": 1}


def run_input() -> dict[str, Any]:
    return {"market": "Europe"}


def runs() -> RunPage:
    return story.page(RunPage, story.run_summary())


def executions() -> ExecutionPage:
    return story.page(ExecutionPage, story.execution())
