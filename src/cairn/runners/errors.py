"""Errors that prevent an execution from starting: its inputs are missing, invalid or too long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from cairn.core.execution import Failure
from cairn.runners.mismatches import Mismatch, listed


class CannotStart(ValueError):
    """The inputs of an execution are missing or invalid."""

    failure_type: ClassVar[str] = "cannot_start"

    @property
    def failure(self) -> Failure:
        return Failure(self.failure_type, str(self))


class MissingReference(CannotStart):
    """A referenced checkpoint is not complete in this run, or has not produced the artifact."""

    failure_type = "missing_reference"


class ContextTooLong(CannotStart):
    """The context exceeds max_context_length."""

    failure_type = "context_too_long"

    def __init__(self, characters: int, limit: int, sizes: Sequence[tuple[str, int]]) -> None:
        self.characters = characters
        self.limit = limit
        self.sizes = tuple(sizes)
        lines = "\n".join(f"- {name}: {size:,}" for name, size in self.sizes)
        super().__init__(
            f"The context has {characters:,} characters; the limit is {limit:,}. Include fewer artifacts, allow"
            f" summaries with use_summarization, or raise max_context_length. Characters by part:\n{lines}"
        )


class InvalidInputData(CannotStart):
    """An input doesn't match its schema, or its mapping can't be resolved."""

    failure_type = "invalid_input"

    def __init__(self, name: str, mismatches: Sequence[Mismatch]) -> None:
        self.mismatches = tuple(mismatches)
        super().__init__(f"{name} is invalid:\n{listed(self.mismatches)}")
