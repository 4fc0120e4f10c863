"""Keys, names and the order of checkpoints."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.definitions import DefinitionError, expand, full_schema
from cairn.definitions.authoring.slugs import key_for, name_for, slug
from tests.definitions.corpus import pipeline
from tests.mentions import mentions

is_key = jsonschema_rs.validator_for(full_schema()["$defs"]["Key"], pattern_options=jsonschema_rs.RegexOptions())
ONE, TWO = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Business Goals", "business_goals"),
        ("  --Größe & Maß!  ", "größe_maß"),
        ("需求 分析", "需求_分析"),
        ("v1.2/β", "v1_2_β"),
        ("e\u0301te\u0301", "été"),
        ("", "checkpoint"),
        ("!!!", "checkpoint"),
        ("a" * 100, "a" * 60),
        ("a" * 59 + " b", "a" * 59),
        ("3 steps", "3_steps"),
    ],
)
def test_slugs_of_names(name: str, expected: str) -> None:
    assert slug(name) == expected


@settings(deadline=None)
@given(st.text(), st.sets(st.text(max_size=5)))
def test_every_name_has_a_free_key(name: str, taken: set[str]) -> None:
    key = key_for(name, taken)
    assert is_key.is_valid(key)
    assert key not in taken | {"input"}
    assert key_for(name, taken | {key}) != key


def test_taken_keys_get_a_number() -> None:
    assert key_for("Goals", {"goals"}) == "goals_2"
    assert key_for("Goals", {"goals", "goals_2"}) == "goals_3"
    assert key_for("Input", ()) == "input_2"
    assert key_for("3 steps", ()) == "checkpoint_3_steps"
    assert key_for("a" * 80, {"a" * 60}) == "a" * 60 + "_2"


def test_names_are_made_from_keys() -> None:
    assert name_for("business-analysis_2", ()) == "Business analysis 2"
    assert name_for("a", {"A"}) == "A 2"


def keys(*checkpoints: Any, **fields: Any) -> list[tuple[str, str]]:
    document: Any = expand(pipeline(*checkpoints, **fields))
    return [(checkpoint["key"], checkpoint["checkpoint_name"]) for checkpoint in document["checkpoints"]]


def test_keys_come_from_names_and_names_from_keys() -> None:
    assert keys(
        {"checkpoint_name": "My Goals", "prompt": "x"},
        {"checkpoint_name": "my-goals", "prompt": "x"},
        {"key": "my_goals_2", "prompt": "x"},
        {"prompt": "x"},
        {"checkpoint_name": "Input", "prompt": "x"},
        {"key": "a-b", "prompt": "x"},
        {"key": "a_b", "prompt": "x"},
    ) == [
        ("my_goals", "My Goals"),
        ("my_goals_3", "my-goals"),
        ("my_goals_2", "My goals 2"),
        ("checkpoint", "Checkpoint"),
        ("input_2", "Input"),
        ("a-b", "A b"),
        ("a_b", "A b 2"),
    ]


def test_checkpoint_order_accepts_keys_and_ids() -> None:
    a: Any = {"key": "a", "prompt": "x", "checkpoint_id": ONE.upper()}
    b: Any = {"key": "b", "prompt": "x"}
    assert keys(a, b, checkpoint_order=["b", ONE]) == [("b", "B"), ("a", "A")]
    document: Any = expand(pipeline(a, b, checkpoint_order=["b", ONE]))
    assert "checkpoint_order" not in document
    assert document["checkpoints"][1]["checkpoint_id"] == ONE


def test_checkpoint_order_must_list_every_checkpoint() -> None:
    with pytest.raises(DefinitionError) as caught:
        expand(pipeline({"key": "a", "prompt": "x"}, {"key": "b", "prompt": "x"}, checkpoint_order=["a", "c"]))
    assert [(finding.path, finding.message) for finding in caught.value.findings] == [
        ("/checkpoint_order/1", mentions("'c'")),
        ("/checkpoint_order", mentions("checkpoint_order", "b")),
    ]


def test_references_by_id_become_references_by_key() -> None:
    document: Any = expand(
        pipeline(
            {
                "key": "a",
                "checkpoint_id": ONE,
                "prompt": "x",
                "outputs": [{"name": "report", "format": "md", "artifact_id": TWO}],
            },
            {
                "key": "b",
                "prompt": "x",
                "dependencies": {"required_checkpoint_ids": [ONE]},
                "inputs": {"include_checkpoint_outputs": [{"checkpoint_id": ONE, "artifact_ids": [TWO.upper()]}]},
            },
        )
    )
    second = document["checkpoints"][1]
    assert second["dependencies"] == {"required_checkpoint_ids": ["a"]}
    assert second["inputs"]["include_checkpoint_outputs"] == [
        {"checkpoint_id": "a", "artifact_ids": ["report"], "use_summarization": False}
    ]
