"""The context of a run, and inputs mapped from it."""

from __future__ import annotations

import pytest

from cairn.definitions import CheckpointDefinition
from cairn.documents import Value
from cairn.ports import ProducedFile, StoredFile
from cairn.runners import CannotStart, InvalidInputData, map_input, read_value, run_context, sources
from tests.mentions import listing, mentions
from tests.runners.work_orders import checkpoint, function_checkpoint, stored, unreadable


def mapped(**paths: str) -> CheckpointDefinition:
    return function_checkpoint(input_mapping={**paths})


CONTEXT = run_context(
    {"text": "hello", "n": 2**70, "nothing": None},
    {"ticket": {"id": "T-1", "tags": ["a", {"name": "b"}], "empty": {}}},
)


# ---- context keys --------------------------------------------------------------------------------------


def test_a_single_json_artifact_is_added_to_the_context_directly() -> None:
    definition = function_checkpoint("a.json", "b.md")
    artifacts = (stored("a", "json", f"[{2**70}, 1.0]"), stored("b", "md", "# B"))
    assert read_value(definition, artifacts) == [2**70, 1.0]


def test_several_artifacts_are_added_to_the_context_by_name() -> None:
    definition = function_checkpoint("a.json", "b.json", "c.md")
    artifacts = (stored("b", "json", "2"), stored("c", "md", "x"), ProducedFile("a", "json", b"null"))
    assert read_value(definition, artifacts) == {"a": None, "b": 2}


def test_existing_artifacts_are_added_to_the_context() -> None:
    assert read_value(function_checkpoint("a.json", "b.json"), (stored("b", "json", "2"),)) == {"b": 2}


@pytest.mark.parametrize("outputs", [[], ["a.md"]])
def test_a_return_value_is_added_to_the_context_without_a_declared_json_artifact(outputs: list[str]) -> None:
    text = stored("a", "md", "x")
    assert read_value(function_checkpoint(*outputs), (text, stored("output", "json", "[1]"))) == [1]
    assert read_value(function_checkpoint(*outputs), (text,)) is None


def test_the_fields_of_a_form_are_added_to_the_context() -> None:
    fields: Value = ["goal", {"name": "data", "type": "file"}]
    answers: Value = {"goal": "x", "data": "d.json"}
    data = stored("data", "json", "{")
    as_json = checkpoint(form=fields, outputs=["goals.json"])
    assert read_value(as_json, (stored("goals", "json", '{"goal": "y"}'), data), answers) == {"goal": "y"}
    assert (
        read_value(checkpoint(form=fields, outputs=["goals.md"]), (stored("goals", "md", "#"), data), answers)
        == answers
    )
    assert read_value(checkpoint(form=fields), (data,), answers) == answers


def test_an_accepted_invalid_result_may_not_be_json() -> None:
    with pytest.raises(InvalidInputData) as error:
        read_value(function_checkpoint("a.json"), (stored("a", "json", "{"),))
    assert str(error.value).splitlines() == [mentions("step"), mentions("- a.json: ", "line 1, column 1: ")]


# ---- input mapping ---------------------------------------------------------------------------------------


def test_fields_are_mapped_by_path_with_their_types() -> None:
    definition = mapped(text="input.text", n="input.n", none="input.nothing", tag="ticket.tags[1].name", all="ticket")
    assert map_input(definition, CONTEXT) == {
        "text": "hello",
        "n": 2**70,
        "none": None,
        "tag": "b",
        "all": {"id": "T-1", "tags": ["a", {"name": "b"}], "empty": {}},
    }


def test_without_a_mapping_the_input_is_the_complete_context() -> None:
    assert map_input(function_checkpoint(), CONTEXT) == CONTEXT
    assert CONTEXT == {
        "input": {"text": "hello", "n": 2**70, "nothing": None},
        "ticket": {"id": "T-1", "tags": ["a", {"name": "b"}], "empty": {}},
    }


def test_a_missing_source_fails_unless_it_is_optional() -> None:
    assert map_input(mapped(a="ticket.none?", b="ticket.id"), CONTEXT) == {"b": "T-1"}
    with pytest.raises(InvalidInputData) as error:
        map_input(mapped(a="ticket.none", b="later.x", c="ticket.id"), CONTEXT)
    assert error.value.failure.type == "invalid_input"
    assert error.value.failure.message == listing(
        mentions("- input_mapping.a: ", "ticket.none", "'none'", "'id', 'tags', 'empty'"),
        mentions("- input_mapping.b: ", "later.x", "'later'", "input, ticket"),
    )


def test_the_input_schema_reports_path_and_value() -> None:
    schema: Value = {"properties": {"id": {"type": "integer"}, "tags": {"maxItems": 1}}, "required": ["more"]}
    definition = function_checkpoint(input_mapping={"id": "ticket.id", "tags": "ticket.tags"}, input_schema=schema)
    with pytest.raises(CannotStart) as error:
        map_input(definition, CONTEXT)
    heading, *findings = str(error.value).splitlines()
    assert heading == mentions("step")
    assert sorted(findings) == [
        mentions("- input#/id: ", '"T-1"'),
        mentions("- input#/tags: ", "1", "2"),
        mentions("- input: ", "`more`"),
    ]


def test_the_sources_of_a_mapping_are_known_in_advance() -> None:
    assert sources(mapped(a="input.text", b="ticket.id?", c="ticket.tags[0]")) == {"input", "ticket"}
    assert sources(function_checkpoint()) is None


def test_ten_megabytes_and_ten_levels_are_accepted() -> None:
    value: Value = {"text": "ß" * (5 * 1024 * 1024)}
    for _ in range(12):
        value = {"in": [value]}
    context = run_context(value, {})
    assert map_input(mapped(all="input"), context) == {"all": value}


def test_files_outside_the_context_are_not_read() -> None:
    definition = function_checkpoint("a.json", "b.md")
    artifacts = (stored("a", "json", "1"), StoredFile("b", "md", "sum", 10**9, unreadable))
    assert read_value(definition, artifacts) == 1
