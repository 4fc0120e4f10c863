"""The findings of a pipeline in a short form that tests can compare."""

from __future__ import annotations

from typing import Any

from cairn.definitions import DefinitionLimits, Finding, Severity, check
from tests.definitions.corpus import pipeline


def findings_of(
    *checkpoints: Any, limits: DefinitionLimits | None = None, functions: Any = None, **fields: Any
) -> list[Finding]:
    return check(pipeline(*checkpoints, **fields), limits=limits or DefinitionLimits(), functions=functions)


def errors(*checkpoints: Any, **fields: Any) -> list[tuple[str, str]]:
    """Path and message of each error. Fails on warnings."""
    findings = findings_of(*checkpoints, **fields)
    assert [finding for finding in findings if finding.severity is Severity.WARNING] == []
    return [(finding.path, finding.message) for finding in findings]


def warnings(*checkpoints: Any, **fields: Any) -> list[tuple[str, str]]:
    """Path and message of each warning. Fails on errors."""
    findings = findings_of(*checkpoints, **fields)
    assert [finding for finding in findings if finding.severity is Severity.ERROR] == []
    return [(finding.path, finding.message) for finding in findings]


def step(key: str, **fields: Any) -> dict[str, Any]:
    """A checkpoint that calls a function, whose output is unknown."""
    return {"key": key, "function": "f", **fields}
