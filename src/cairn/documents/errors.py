"""The error for invalid documents."""

from __future__ import annotations


class DocumentError(ValueError):
    """A text or value is not valid JSON or YAML, or exceeds a limit."""

    def __init__(
        self, message: str, line: int | None = None, column: int | None = None, path: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.path = path

    def __str__(self) -> str:
        if self.line is not None and self.column is not None:
            return f"line {self.line}, column {self.column}: {self.message}"
        return f"{self.path}: {self.message}" if self.path else self.message
