"""What a check finds in a pipeline, short enough to compare whole."""

from __future__ import annotations

from typing import Any

from cairn.definitions import DefinitionLimits, Finding, Severity, check
from tests.definitions.corpus import pipeline


def found(
    *checkpoints: Any, limits: DefinitionLimits | None = None, functions: Any = None, **fields: Any
) -> list[Finding]:
    return check(pipeline(*checkpoints, **fields), limits=limits or DefinitionLimits(), functions=functions)


def errors(*checkpoints: Any, **fields: Any) -> list[tuple[str, str]]:
    """Place and message of each error; there must be no warning."""
    findings = found(*checkpoints, **fields)
    assert [finding for finding in findings if finding.severity is Severity.WARNING] == []
    return [(finding.path, finding.message) for finding in findings]


def warnings(*checkpoints: Any, **fields: Any) -> list[tuple[str, str]]:
    """Place and message of each warning; there must be no error."""
    findings = found(*checkpoints, **fields)
    assert [finding for finding in findings if finding.severity is Severity.ERROR] == []
    return [(finding.path, finding.message) for finding in findings]


def step(key: str, **fields: Any) -> dict[str, Any]:
    """A checkpoint done by a function, whose output is not known."""
    return {"key": key, "function": "f", **fields}
