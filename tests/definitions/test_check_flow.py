"""Mapped sources exist and have the required types."""

from __future__ import annotations

from typing import Any

import pytest

from tests.definitions.expected_findings import errors, findings_of, step, warnings
from tests.mentions import mentions

TICKET: Any = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "size": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "customer": {"$ref": "#/$defs/customer"},
    },
    "required": ["id", "size", "tags", "customer"],
    "$defs": {
        "customer": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["name"],
        }
    },
}


def mapped(path: str, **fields: Any) -> list[Any]:
    """A checkpoint that outputs a ticket, and a checkpoint that maps one of its values."""
    second = step("b", input_mapping={"x": path}, **fields)
    return [step("ticket", output_schema=TICKET), second]


POINTER = "/checkpoints/1/input_mapping/x"


@pytest.mark.parametrize("path", ["ticket", "ticket.id", "ticket.customer.name", "input", "input.anything.goes[3]"])
def test_sources_that_exist_pass(path: str) -> None:
    assert errors(*mapped(path)) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("tickets.id", mentions("'tickets'", "'ticket'")),
        ("b.x", mentions("'b'")),
        ("ticket.name", mentions("ticket.name", "'name'")),
        ("ticket.id.x?", mentions("ticket.id.x", "ticket.id", "'x'")),
        ("ticket.customer[0]", mentions("ticket.customer[0]", "ticket.customer", "0")),
        ("ticket..id", mentions("'ticket..id'", "'..id'")),
    ],
)
def test_sources_that_cannot_exist_are_rejected(path: str, message: str) -> None:
    assert errors(*mapped(path)) == [(POINTER, message)]


def test_a_source_that_comes_later_is_rejected() -> None:
    assert errors(step("a", input_mapping={"x": "b", "y": "b?"}), step("b")) == [
        ("/checkpoints/0/input_mapping/x", mentions("'b'", "'a'")),
        ("/checkpoints/0/input_mapping/y", mentions("'b'", "'a'")),
    ]


def test_a_source_that_may_still_be_running_is_rejected() -> None:
    parallel = [step("a", stage="s"), step("b", stage="s")]
    message = mentions("'a'", "'b'")
    parallel[1]["input_mapping"] = {"x": "a"}
    assert errors(*parallel) == [("/checkpoints/1/input_mapping/x", message)]
    parallel[1]["input_mapping"] = {"x": "a?"}
    assert warnings(*parallel) == [("/checkpoints/1/input_mapping/x", message)]
    parallel[1]["needs"] = ["a"]
    assert errors(*parallel) == []


def test_needs_skip_the_stages_between() -> None:
    steps = [step("a"), step("b"), step("c", needs=["a"], input_mapping={"x": "b"})]
    message = mentions("'b'", "'c'")
    assert errors(*steps) == [("/checkpoints/2/input_mapping/x", message)]
    steps[0], steps[1] = step("b"), step("a")
    assert errors(*steps) == [], "the prerequisites of a need are complete as well"


def test_a_possibly_missing_value_is_a_warning() -> None:
    message = mentions("ticket.customer.age")
    assert warnings(*mapped("ticket.customer.age")) == [(POINTER, message)]
    assert errors(*mapped("ticket.customer.age?")) == []
    assert warnings(*mapped("ticket.tags[0]")) == [(POINTER, mentions("ticket.tags[0]"))]


def test_the_runs_input_is_known_by_its_schema() -> None:
    schema: Any = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "n": {"default": 1}},
        "required": ["text"],
    }
    first = step("a", input_mapping={"x": "input.text", "y": "input.n"})
    assert errors(first, input_schema=schema) == [], "properties with a default are filled in"
    first["input_mapping"] = {"x": "input.txt"}
    assert errors(first, input_schema=schema) == [("/checkpoints/0/input_mapping/x", mentions("input.txt", "'txt'"))]


def test_the_output_of_a_form_has_its_fields() -> None:
    form = {
        "key": "a",
        "form": ["goals", {"name": "n", "type": "number", "required": False}, {"name": "f", "type": "file"}],
    }
    mapping = {"g": "a.goals", "f": "a.f"}
    assert errors(form, step("b", input_mapping=mapping)) == []
    assert warnings(form, step("b", input_mapping={"x": "a.n"})) == [(POINTER, mentions("a.n"))]
    assert errors(form, step("b", input_mapping={"x": "a.gaols"})) == [(POINTER, mentions("a.gaols", "'gaols'"))]


@pytest.mark.parametrize(
    ("outputs", "path", "message"),
    [
        (["r.json"], "a.anything", None),
        (["r.json", "s.json"], "a.r.anything", None),
        (["r.json", "s.json"], "a.t", mentions("a.t", "'t'")),
        (["r.md"], "a", mentions("'a'", "JSON", "output_schema")),
        ([], "a", mentions("'a'", "JSON", "output_schema")),
    ],
)
def test_the_output_is_the_json_artifact_or_several_by_name(outputs: Any, path: str, message: str | None) -> None:
    agent = {"key": "a", "prompt": "x", "outputs": outputs}
    assert errors(agent, step("b", input_mapping={"x": path})) == ([(POINTER, message)] if message else [])


def test_the_schema_of_an_artifact_is_used() -> None:
    schema: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    agent = {"key": "a", "prompt": "x", "outputs": [{"name": "r", "format": "json", "schema": schema}]}
    assert errors(agent, step("b", input_mapping={"x": "a.a"})) == []
    assert errors(agent, step("b", input_mapping={"x": "a.b"})) != []


def test_a_deciding_checkpoint_outputs_decision_and_reason() -> None:
    decider = step("a", decides=True)
    assert errors(decider, step("b", input_mapping={"x": "a.decision", "y": "a.reason", "z": "a.more?"})) == []
    form = {"key": "a", "form": ["note"], "decides": True}
    assert errors(form, step("b", input_mapping={"x": "a.decision", "y": "a.note"})) == []
    assert errors(form, step("b", input_mapping={"x": "a.other"})) != []


def schema_of(type: Any) -> Any:
    return {"type": "object", "properties": {"x": {"type": type}}, "required": ["x"]}


@pytest.mark.parametrize(
    ("path", "schema", "severity", "message"),
    [
        ("ticket.id", schema_of("integer"), "error", mentions("ticket.id", "string", "integer")),
        ("ticket.size", schema_of("integer"), "warning", mentions("ticket.size", "number", "integer")),
        ("ticket.size", schema_of(["number", "null"]), None, ""),
        ("ticket.customer", schema_of("object"), None, ""),
        (
            "input.n",
            schema_of("string"),
            "warning",
            mentions("input.n"),
        ),
        (
            "ticket",
            {"properties": {"x": {"required": ["weight"]}}},
            "error",
            mentions("ticket.weight"),
        ),
        (
            "ticket.customer",
            {"properties": {"x": {"type": "object", "required": ["age"], "properties": {"name": {"type": "number"}}}}},
            "error",
            mentions("ticket.customer.name", "string", "number"),
        ),
    ],
)
def test_required_properties_and_their_types(path: str, schema: Any, severity: str | None, message: str) -> None:
    findings = [
        (finding.path, finding.severity.value, finding.message)
        for finding in findings_of(*mapped(path, input_schema=schema))
    ]
    expected = [(POINTER, severity, message)] if severity else []
    possibly_missing = mentions("ticket.customer.age")
    assert [finding for finding in findings if finding != (POINTER, "warning", possibly_missing)] == expected


def test_an_unmapped_property_cannot_be_required() -> None:
    pointer = "/checkpoints/0/input_schema"
    first = step("a", input_mapping={"x": "input"})
    assert errors(first | {"input_schema": {"required": ["x", "y"]}}) == [(pointer, mentions("'y'", "input_mapping"))]
    assert errors(first | {"input_schema": {"type": "array"}}) == [(pointer, mentions())]
    assert errors(first | {"input_schema": {"additionalProperties": False, "properties": {"y": True}}}) == [
        ("/checkpoints/0/input_mapping/x", mentions("'x'", "input_schema"))
    ]


def test_without_a_mapping_the_complete_context_must_match() -> None:
    ticket = step("ticket", output_schema=TICKET)
    pointer = "/checkpoints/1/input_schema"
    schema: Any = {
        "required": ["ticket", "input"],
        "properties": {"ticket": schema_of("string") | {"required": ["id"]}},
    }
    assert errors(ticket, step("b", input_schema=schema)) == []
    schema = {"required": ["customer"], "properties": {"ticket": {"type": "string"}, "not_there": {"type": "string"}}}

    assert errors(ticket, step("b", input_schema=schema)) == [
        (pointer, mentions("'customer'", "'ticket'")),
        (pointer, mentions("ticket", "object", "string")),
    ]


def test_referenced_outputs_must_exist() -> None:
    def reading(*references: Any) -> Any:
        return step("b", inputs={"include_checkpoint_outputs": list(references)})

    first, pointer = step("a", outputs=["r.md"]), "/checkpoints/1/inputs/include_checkpoint_outputs"
    assert errors(first, reading({"checkpoint_id": "a"}, {"checkpoint_id": "a", "artifact_ids": ["r"]})) == []
    assert errors(
        first,
        reading({"checkpoint_id": "c"}, {"checkpoint_id": "b"}, {"checkpoint_id": "a", "artifact_ids": ["q"]}),
        step("c"),
    ) == [
        (f"{pointer}/0/checkpoint_id", mentions("'c'", "'b'")),
        (f"{pointer}/1/checkpoint_id", mentions("'b'")),
        (f"{pointer}/2/artifact_ids/0", mentions("'a'", "'q'", "'r'")),
    ]
    assert errors(first, reading({"checkpoint_id": "nobody"})) == [
        (f"{pointer}/0/checkpoint_id", mentions("'nobody'", "'a'"))
    ]


def test_a_saved_form_can_be_read() -> None:
    form = {"key": "a", "form": ["x"], "outputs": ["goals.json"]}
    reference = {"checkpoint_id": "a", "artifact_ids": ["goals"]}
    assert errors(form, step("b", inputs={"include_checkpoint_outputs": [reference]})) == []
