"""The simulated model generates a valid value for any schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given, settings

from cairn.adapters.simulated_model.regex_strings import matching_strings
from cairn.adapters.simulated_model.schema_values import NoValueFound, generate
from cairn.definitions import check_value
from tests.adapters.simulated_model.schema_strategies import schemas
from tests.effort import examples

CORPUS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "corpus.json").read_text())


@pytest.mark.parametrize("case", CORPUS, ids=[case["name"] for case in CORPUS])
def test_the_value_is_valid_and_deterministic(case: dict[str, Any]) -> None:
    value = generate(case["schema"])
    assert check_value(case["schema"], value) == []
    assert generate(case["schema"]) == value


@settings(max_examples=examples(250))
@given(schemas())
def test_a_value_is_found_for_random_schemas(schema_and_witness: tuple[Any, Any]) -> None:
    """Each schema is built around a valid value, so at least one exists."""
    schema, witness = schema_and_witness
    try:
        validator = jsonschema_rs.validator_for(schema, validate_formats=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        assume(False)
        raise
    assume(validator.is_valid(witness))
    assert validator.is_valid(generate(schema))


@pytest.mark.parametrize(
    "schema", [False, {"type": "string", "enum": [1]}, {"minimum": 5, "maximum": 3, "type": "number"}, {"not": {}}]
)
def test_a_schema_without_valid_values_is_rejected(schema: Any) -> None:
    with pytest.raises(NoValueFound):
        generate(schema)


@pytest.mark.parametrize(
    "pattern",
    [
        "^[A-Z]{2}-[0-9]{4}$",
        r"^\d{4}-(0[1-9]|1[0-2])-\d{2}$",
        "^(foo|bar)+(?:baz)?$",
        r"^[^\s@]+@[^\s@]+\.[a-z]{2,}$",
        "^#[0-9a-fA-F]{6}$",
        r"^\p{Lu}\p{L}+$",
        r"^(?<year>\d{4})$",
        "colou?r",
        "^.{3,5}$",
        r"^[\w.-]+/[\w.-]+$",
        "^$",
        r"^\u00e4+$",
        "^[^a-z]$",
    ],
)
def test_generated_strings_match_the_pattern(pattern: str) -> None:
    generated = list(matching_strings(pattern, limit=20))
    assert generated
    assert [text for text in generated if not jsonschema_rs.is_valid({"pattern": pattern}, text)] == []
    assert len(set(generated)) == len(generated)


def test_an_invalid_pattern_has_no_strings() -> None:
    assert list(matching_strings("(")) == []
