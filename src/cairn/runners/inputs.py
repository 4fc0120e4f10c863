"""The data that flows between checkpoints: the run's context, and what of it one checkpoint gets (P8, D8)."""

from __future__ import annotations

from collections.abc import Mapping

from cairn.core.model import Mode
from cairn.documents import Value
from cairn.runners.declared import Expected


def value_of(expected: Expected, artifacts: Mapping[str, Value], output: Value) -> Value:
    """What stands under a checkpoint's key: a JSON artifact, several by name, a form's fields, or a return."""
    if expected.checkpoint.execution.mode is Mode.HUMAN_ONLY or not expected.json:
        return output
    if len(expected.json) == 1:
        return artifacts.get(expected.json[0].name)
    return {one.name: artifacts[one.name] for one in expected.json if one.name in artifacts}
