"""The artifacts that a sample checkpoint reads."""

from __future__ import annotations

from typing import Any

from cairn.definitions import CheckpointDefinition
from cairn.documents import Value
from cairn.runners import (
    ArtifactSource,
    ResolvedInputs,
)
from tests.runners.work_orders import checkpoint, stored

ANALYSIS = stored(
    "analysis",
    "md",
    "# Business Analysis\nKey findings from v1...",
    "runs/v1/checkpoint_2_analysis/outputs/analysis_def78900_v1.md",
)
REQUIREMENTS = stored(
    "requirements",
    "json",
    '{\n  "requirements": ["Feature A", "Feature B"]\n}\n',
    "runs/v2/checkpoint_0_goals/outputs/goals_abc12300_v2.json",
    "abc12300-0000-4000-8000-000000000000",
)
FOUND = ResolvedInputs(
    previous=ArtifactSource("Business analysis", 2, 1, (ANALYSIS,)),
    completed={"requirements": ArtifactSource("Requirements", 0, 2, (REQUIREMENTS,))},
)
ODD_STEP: dict[str, Any] = {"prompt": "Go.", "inputs": {"include_previous_version": True}}


def step(format: str = "markdown", **more: Value) -> CheckpointDefinition:
    """The sample checkpoint."""
    instructions: dict[str, Value] = {
        "system_prompt": "You are careful.",
        "task_prompt": "Write the design.",
        "injection_format": {"content_format": format},
    }
    declared: dict[str, Value] = {
        "key": "analysis",
        "agent": {"name": "A", "task_prompt": "Be brief."},
        "instructions": {**instructions, **more},
        "inputs": {"include_previous_version": True, "include_checkpoint_outputs": [{"checkpoint_id": "requirements"}]},
    }
    return checkpoint(**declared)
