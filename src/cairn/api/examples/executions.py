"""An execution with a form."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.services.artifacts.views import Upload
from cairn.services.runs.execution_views import Context, ContextBlock


def start_request() -> dict[str, Any]:
    return {"execution_id": story.EXECUTION_ID}


def approve_start_request() -> dict[str, Any]:
    return {}


def approve_request() -> dict[str, Any]:
    return {"digest": story.DIGEST}


def revise_request() -> dict[str, Any]:
    return {"feedback": "Add how we will measure this", "digest": story.DIGEST}


def submit_request() -> dict[str, Any]:
    return {"fields": {"goals": "Twice as many customers"}}


def retry_request() -> dict[str, Any]:
    return {"attempt_number": 1}


def context() -> Context:
    return Context(
        stored=False,
        content_format="markdown",
        input={"market": "Europe"},
        blocks=[
            ContextBlock(
                kind="previous_version",
                heading="PREVIOUS VERSION: Checkpoint 1 from v1",
                checkpoint_name="Business Goals",
                run_version=1,
                artifact_name="goals",
                file_path="runs/v1/checkpoint_0_business_goals/outputs/goals_5d0a7e31_v1.json",
                content='{"goals": "Grow"}',
                size_bytes=17,
            )
        ],
        system_prompt="",
        task_prompt="What should be true in a year?",
        text='=== PREVIOUS VERSION: Checkpoint 1 from v1 ===\n{"goals": "Grow"}',
        size_characters=64,
    )


def upload() -> Upload:
    return Upload(upload_id=story.id_of("upload"), filename="figures.csv", size_bytes=2048, checksum=story.DIGEST)
