"""What was found of a result."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.services.view import Instant, View


class ResultFinding(View):
    """One place where something else came than was wanted."""

    path: Annotated[str, Field(description="The file, and the place in it: `report.md`, `data.json#/n`.")]
    message: str
    expected: str
    actual: str


class ResultValidation(View):
    """What one check of a result has come to."""

    attempt_number: int
    revision_iteration: int
    at: Instant
    by: Annotated[
        Literal["schema", "lenient", "custom"],
        Field(description="What is declared; a model, of near misses; a model, by the prompt of the checkpoint."),
    ]
    passes: bool
    reason: Annotated[str, Field(description="In the words of the model.")]
    findings: list[ResultFinding]
    model: str | None
    is_simulated: bool
