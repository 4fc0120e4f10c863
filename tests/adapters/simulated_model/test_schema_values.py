"""The simulated model satisfies any schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given, settings

from cairn.adapters.simulated_model.regex_strings import matching
from cairn.adapters.simulated_model.schema_values import Impossible, make
from cairn.definitions import check_value
from tests.adapters.simulated_model.schema_strategies import schemas
from tests.effort import examples

CORPUS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "corpus.json").read_text())


@pytest.mark.parametrize("case", CORPUS, ids=[case["what"] for case in CORPUS])
def test_the_corpus(case: dict[str, Any]) -> None:
    value = make(case["schema"])
    assert check_value(case["schema"], value) == []
    assert make(case["schema"]) == value


@settings(max_examples=examples(250))
@given(schemas())
def test_schemas_at_random(made: tuple[Any, Any]) -> None:
    """Each was made around a value that fits: there is one to be found."""
    schema, witness = made
    try:
        validator = jsonschema_rs.validator_for(schema, validate_formats=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        assume(False)
        raise
    assume(validator.is_valid(witness))
    assert validator.is_valid(make(schema))


@pytest.mark.parametrize(
    "schema", [False, {"type": "string", "enum": [1]}, {"minimum": 5, "maximum": 3, "type": "number"}, {"not": {}}]
)
def test_what_cannot_be_is_told(schema: Any) -> None:
    with pytest.raises(Impossible):
        make(schema)


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
def test_patterns(pattern: str) -> None:
    made = list(matching(pattern, most=20))
    assert made
    assert [text for text in made if not jsonschema_rs.is_valid({"pattern": pattern}, text)] == []
    assert len(set(made)) == len(made)


def test_patterns_that_are_none() -> None:
    assert list(matching("(")) == []
