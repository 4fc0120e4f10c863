"""What is wrong with a definition, and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"  # it cannot work: it is not saved
    WARNING = "warning"  # it may not work: it is saved, and told


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to put right. `path` is a JSON pointer into what the author wrote; line and column count from 1."""

    path: str
    message: str
    severity: Severity = Severity.ERROR
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column}" if self.line is not None else self.path or "the document"
        return f"{place}: {self.message}"


def warning(path: str, message: str) -> Finding:
    return Finding(path, message, Severity.WARNING)


def errors(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity is Severity.ERROR]


class DefinitionError(ValueError):
    """A definition that cannot work, with everything that is wrong with it."""

    what = "definition"

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


class RulesError(DefinitionError):
    """Rules that cannot work."""

    what = "rules"


class AgentError(DefinitionError):
    """An agent of the library that cannot work."""

    what = "agent"


@dataclass(frozen=True, slots=True)
class DefinitionLimits:
    """What stops mistakes; the settings may say otherwise."""

    max_checkpoints: int = 200
    max_timeout_minutes: float = 480
    max_auto_retries: int = 5
