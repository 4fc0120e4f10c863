"""What was expected, what came, and where."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.json_schema.validator import SchemaError, compile_schema, iter_violation_details
from cairn.documents import Value
from cairn.ports import ValidationFinding

SHOWN = 20  # that one message names


class Mismatch(NamedTuple):
    """One place where something else came than was expected."""

    path: str
    message: str
    expected: str = ""  # in words, where the message is of a schema
    actual: str = ""

    @property
    def finding(self) -> ValidationFinding:
        return ValidationFinding(self.path, self.message, self.expected, self.actual)

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def check(schema: JsonSchema, value: Value, place: str) -> list[Mismatch]:
    """What in the value does not fit; the first ones when they are many."""
    try:
        faults = iter_violation_details(compile_schema(schema), schema, value)
    except SchemaError as error:
        return [Mismatch(place, f"the schema that it is checked by cannot be used: {error.message}")]
    some = dict.fromkeys(islice(faults, SHOWN + 1))
    return [Mismatch(f"{place}#{pointer}" if pointer else place, *detail) for pointer, *detail in some]


def listed(mismatches: Sequence[Mismatch]) -> str:
    """One line each; the first ones when they are many."""
    lines = [f"- {one}" for one in mismatches[:SHOWN]]
    return "\n".join(lines if len(mismatches) <= SHOWN else [*lines, "- and more"])
