"""JSON Schemas at work: compiled once, and what does not hold said as place, expected and came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, cast

import jsonschema_rs
from jsonschema_rs import RegexOptions, ValidationError, Validator

from cairn.documents import canonical
from cairn.documents.pointers import join

SHOWN = 20  # mismatches that one message names
LONGEST = 100  # characters of a value that one message shows


@dataclass(frozen=True, slots=True)
class Mismatch:
    """What was expected at a place, and what came."""

    path: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, came {self.actual}"


def listed(mismatches: Sequence[Mismatch]) -> str:
    """One line each; the first ones when they are many."""
    lines = [f"- {mismatch}" for mismatch in mismatches[:SHOWN]]
    return "\n".join(lines if len(mismatches) <= SHOWN else [*lines, "- and more"])


def check(schema: dict[str, Any] | bool, value: object, place: str) -> tuple[Mismatch, ...]:
    """What in the value the schema does not allow; the first ones when they are many."""
    try:
        validator = _compiled(canonical(schema))
    except ValidationError as error:
        return (Mismatch(place, "a JSON Schema to check it by", f"one that cannot be used: {_cut(error.message)}"),)
    if validator.is_valid(value):
        return ()
    return tuple(_mismatch(error, place) for error in islice(validator.iter_errors(value), SHOWN + 1))


def show(value: object) -> str:
    """A value in a few words, however large it is."""
    match value:
        case dict():
            keys = [str(key) for key in islice(cast("dict[object, object]", value), 6)]
            names = ", ".join(keys[:5]) + (", …" if len(keys) > 5 else "")
            return _cut(f"an object with {names}" if keys else "an empty object")
        case list() | tuple():
            length = len(cast("Sequence[object]", value))
            return f"a list of {length}" if length else "an empty list"
        case str():
            return f'"{_cut(value)}"'
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int() | float():
            return _cut(str(value))
        case _:
            return f"a Python {type(value).__name__}"


@lru_cache(maxsize=1024)
def _compiled(text: bytes) -> Validator:
    # Regular expressions of this kind take time in proportion to the text; `$ref` reaches nothing outside the schema.
    return jsonschema_rs.validator_for(
        text.decode(), validate_formats=True, retriever=_refuse, pattern_options=RegexOptions()
    )


def _refuse(uri: str) -> Any:
    raise ValueError(f"a schema may only refer to its own parts, not to {uri}")


def _mismatch(error: ValidationError, place: str) -> Mismatch:
    details = error.kind.as_dict()
    name = error.kind.name
    if name == "required":
        return Mismatch(_at(error, place, details["property"]), "a value, which is required", "nothing")
    if "unexpected" in details:
        return Mismatch(_at(error, place), "nothing more", ", ".join(map(str, details["unexpected"][:5])))
    return Mismatch(_at(error, place), _expected(name, details, error), show(error.instance))


def _expected(name: str, details: dict[str, Any], error: ValidationError) -> str:
    match name:
        case "type":
            return " or ".join(f"{'an' if kind[0] in 'aio' else 'a'} {kind}" for kind in details["types"])
        case "enum":
            return "one of " + ", ".join(show(option) for option in details["options"])
        case "const":
            return show(details["expected_value"])
        case "format":
            return f"a text in the format {details['format']}"
        case "pattern":
            return f"a text that matches {details['pattern']}"
        case "falseSchema":
            return "nothing"
        case _ if name in _BOUNDS:
            return _BOUNDS[name].format(details["limit"])
        case _:
            return f"what its schema says ({_cut(error.message)})"


_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "a text of at least {} characters",
    "maxLength": "a text of at most {} characters",
    "minItems": "a list of at least {}",
    "maxItems": "a list of at most {}",
    "minProperties": "an object of at least {} properties",
    "maxProperties": "an object of at most {} properties",
}


def _at(error: ValidationError, place: str, *more: str) -> str:
    pointer = join((*error.instance_path, *more))
    return f"{place}#{pointer}" if pointer else place


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
