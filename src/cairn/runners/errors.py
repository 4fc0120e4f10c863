"""Why an execution cannot begin: what it is to read is not there, not right, or too much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from cairn.core.execution import Failure
from cairn.runners.mismatches import Mismatch, listed


class CannotStart(ValueError):
    """An execution has not got what it needs."""

    reason: ClassVar[str] = "cannot_start"

    @property
    def failure(self) -> Failure:
        return Failure(self.reason, str(self))


class MissingReference(CannotStart):
    """It reads the output of a checkpoint that this run has not completed, or an artifact that is not there."""

    reason = "missing_reference"


class ContextTooLong(CannotStart):
    """What a model would have to read is over the limit."""

    reason = "context_too_long"

    def __init__(self, characters: int, limit: int, sizes: Sequence[tuple[str, int]]) -> None:
        self.characters = characters
        self.limit = limit
        self.sizes = tuple(sizes)
        lines = "\n".join(f"- {name}: {size:,}" for name, size in self.sizes)
        super().__init__(
            f"The context has {characters:,} characters; at most {limit:,} are allowed. Include fewer artifacts,"
            f" allow summaries with use_summarization, or raise max_context_length. In characters:\n{lines}"
        )


class InvalidInputData(CannotStart):
    """The input of the run or of a checkpoint is not what its schema or its mapping says."""

    reason = "invalid_input"

    def __init__(self, what: str, mismatches: Sequence[Mismatch]) -> None:
        self.mismatches = tuple(mismatches)
        super().__init__(f"{what} is not what is expected:\n{listed(self.mismatches)}")
