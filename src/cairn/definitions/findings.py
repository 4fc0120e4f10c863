"""Findings of checks: errors and warnings with their location."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"  # the definition is not saved
    WARNING = "warning"  # the definition is saved, but may not work as intended


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem. `path` is a JSON pointer into the author's document. Lines and columns count from 1."""

    path: str
    message: str
    severity: Severity = Severity.ERROR
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        location = f"line {self.line}, column {self.column}" if self.line is not None else self.path or "document"
        return f"{location}: {self.message}"


def warning(path: str, message: str) -> Finding:
    return Finding(path, message, Severity.WARNING)


def errors(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity is Severity.ERROR]


class DefinitionError(ValueError):
    """An invalid definition, with all findings."""

    noun = "definition"

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


class RulesError(DefinitionError):
    """Invalid rules, with all findings."""

    noun = "rules"


class AgentError(DefinitionError):
    """An invalid library agent, with all findings."""

    noun = "agent"


@dataclass(frozen=True, slots=True)
class DefinitionLimits:
    """Limits that catch mistakes. The settings can change them."""

    max_checkpoints: int = 200
    max_timeout_minutes: float = 480
    max_auto_retries: int = 5
