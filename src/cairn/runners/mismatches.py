"""Differences between a value and its declaration."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.json_schema.validator import SchemaError, compile_schema, iter_violation_details
from cairn.documents import Value
from cairn.ports import ValidationFinding

MAX_SHOWN = 20  # mismatches in one message


class Mismatch(NamedTuple):
    """One difference between a value and its declaration."""

    path: str
    message: str
    expected: str = ""  # set for violations of a schema
    actual: str = ""

    @property
    def finding(self) -> ValidationFinding:
        return ValidationFinding(self.path, self.message, self.expected, self.actual)

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def check(schema: JsonSchema, value: Value, location: str) -> list[Mismatch]:
    """The violations of the schema, at most one more than a message lists."""
    try:
        violations = iter_violation_details(compile_schema(schema), schema, value)
    except SchemaError as error:
        return [Mismatch(location, f"the schema is invalid: {error.message}")]
    first = dict.fromkeys(islice(violations, MAX_SHOWN + 1))
    return [Mismatch(f"{location}#{pointer}" if pointer else location, *detail) for pointer, *detail in first]


def listed(mismatches: Sequence[Mismatch]) -> str:
    """The first mismatches, one line each."""
    lines = [f"- {mismatch}" for mismatch in mismatches[:MAX_SHOWN]]
    return "\n".join(lines if len(mismatches) <= MAX_SHOWN else [*lines, "- and more"])
