"""Schemas, patterns, limits, functions and artifacts inside a definition."""

from __future__ import annotations

import time
from typing import Any

import pytest

from cairn.definitions import DefinitionError, DefinitionLimits, load
from tests.definitions.corpus import pipeline
from tests.definitions.expected_findings import errors, step
from tests.isolation import limit
from tests.mentions import mentions

LOOKAROUND = {"type": "object", "properties": {"x": {"pattern": "(?=a)b"}}}
MESSAGE = mentions("'(?=a)b'")


def test_every_schema_is_compiled() -> None:
    script = {
        "script_path": "a.py",
        "requires_user_input": True,
        "user_input_prompt": "?",
        "parameters_schema": LOOKAROUND,
    }
    assert errors(
        step("a", input_schema=LOOKAROUND, output_schema=LOOKAROUND),
        {"key": "b", "execution": {"mode": "script", "script_config": script}},
        {"key": "c", "form": [{"name": "x", "validation": LOOKAROUND}, {"name": "y", "validation": "(?=a)b"}]},
        {"key": "d", "prompt": "x", "outputs": [{"name": "r", "format": "json", "schema": LOOKAROUND}]},
        input_schema=LOOKAROUND,
        actions={"send": {"schema": LOOKAROUND}},
    ) == [
        ("/input_schema/properties/x/pattern", MESSAGE),
        ("/actions/send/schema/properties/x/pattern", MESSAGE),
        ("/checkpoints/0/input_schema/properties/x/pattern", MESSAGE),
        ("/checkpoints/0/output_schema/properties/x/pattern", MESSAGE),
        ("/checkpoints/1/execution/script_config/parameters_schema/properties/x/pattern", MESSAGE),
        ("/checkpoints/2/form/0/validation/properties/x/pattern", MESSAGE),
        ("/checkpoints/2/form/1/validation", MESSAGE),
        ("/checkpoints/3/outputs/0/schema/properties/x/pattern", MESSAGE),
    ]


def test_a_schema_never_fetches() -> None:
    uri = "https://example.org/x.json"
    assert errors(step("a", input_schema={"$ref": uri})) == [("/checkpoints/0/input_schema", mentions(f"'{uri}'"))]


def test_fixed_parameters_must_match_their_schema() -> None:
    schema = {"required": ["quarter"], "properties": {"pages": {"type": "integer"}}}
    script: Any = {"script_path": "a.py", "parameters": {"pages": "many"}, "parameters_schema": schema}
    pointer = "/checkpoints/0/execution/script_config/parameters"
    checkpoint = {"key": "a", "execution": {"mode": "script", "script_config": script}}
    assert errors(checkpoint) == [
        (pointer, mentions("`quarter`")),
        (f"{pointer}/pages", mentions('"many"')),
    ]
    script |= {"requires_user_input": True, "user_input_prompt": "Which?"}
    assert errors(checkpoint) == []


def test_an_unusable_parameter_schema_is_reported_once() -> None:
    script = {"script_path": "a.py", "parameters_schema": {"$ref": "#/none"}}
    assert len(errors({"key": "a", "execution": {"mode": "script", "script_config": script}})) == 1


def test_limits_of_a_definition() -> None:
    limits = DefinitionLimits(max_checkpoints=1, max_timeout_minutes=10, max_auto_retries=1)
    slow = {"timeout_config": {"timeout_minutes": 10.5}, "retry_config": {"max_auto_retries": 2}}
    assert errors(step("a"), step("b"), limits=limits) == [("/checkpoints", mentions("1", "2"))]
    assert errors(step("a", execution=slow), limits=limits) == [
        (
            "/checkpoints/0/execution/timeout_config/timeout_minutes",
            mentions("10", "10.5"),
        ),
        (
            "/checkpoints/0/execution/retry_config/max_auto_retries",
            mentions("1", "2"),
        ),
    ]
    assert errors(*(step(f"k{at}") for at in range(200))) == []
    assert len(errors(*(step(f"k{at}") for at in range(201)))) == 1


def test_a_far_too_large_definition_is_rejected_before_other_checks() -> None:
    started = time.perf_counter()
    many: list[Any] = [{"checkpoint_name": "A", "prompt": "x"}] * 100_000
    assert [path for path, _ in errors(*many)] == ["/checkpoints"]
    assert time.perf_counter() - started < limit(5.0)
    with pytest.raises(DefinitionError, match=r"\b200\b"):
        load(pipeline(*many))


def test_a_long_chain_of_needs_is_valid() -> None:
    chain = [step("k0"), *(step(f"k{at}", needs=[f"k{at - 1}"], input_mapping={"x": "k0"}) for at in range(1, 1000))]
    assert errors(*chain, limits=DefinitionLimits(max_checkpoints=1000)) == []


def test_functions_must_be_registered_if_the_registered_functions_are_known() -> None:
    steps = [step("a"), step("b", function="samples.count")]
    assert errors(*steps) == []
    assert errors(*steps, functions={"samples.counts"}) == [
        ("/checkpoints/0/function", mentions("'f'", "'samples.counts'")),
        ("/checkpoints/1/function", mentions("'samples.count'", "'samples.counts'")),
    ]
    assert errors(*steps, functions=()) == [
        ("/checkpoints/0/function", mentions("'f'")),
        ("/checkpoints/1/function", mentions("'samples.count'")),
    ]


def test_functions_may_produce_any_format() -> None:
    assert errors(step("a", outputs=["report.pdf"])) == []
    assert errors(step("a", loop={"until": {"kind": "declared_done"}})) == []


@pytest.mark.parametrize("name", ["", "a b", "1a", "a..b", "a-b"])
def test_function_names_are_python_names(name: str) -> None:
    assert errors(step("a", function=name)) == [("/checkpoints/0/function", mentions(f'"{name}"'))]


def test_a_form_produces_its_saved_answers_and_uploads() -> None:
    artifacts = [{"name": "goals", "format": "md"}, {"name": "proof", "format": "csv"}, {"name": "x", "format": "md"}]
    form: Any = {
        "instructions": "x",
        "input_fields": [{"name": "proof", "type": "file"}],
        "save_as_artifact": True,
        "artifact_name": "goals",
    }
    checkpoint = {
        "key": "a",
        "execution": {"mode": "human_only", "human_only_config": form},
        "output": {"artifacts": artifacts},
    }
    pointer = "/checkpoints/0/output/artifacts"
    assert errors(checkpoint) == [
        (f"{pointer}/0/format", mentions("'goals'", "json", "md")),
        (f"{pointer}/2", mentions("'x'", "'goals'")),
    ]
    form["save_as_artifact"] = False
    saves = ("save_as_artifact", "artifact_name")
    assert errors(checkpoint) == [
        (f"{pointer}/0", mentions("'goals'", *saves)),
        (f"{pointer}/2", mentions("'x'", *saves)),
    ]


def test_all_errors_are_reported_at_once() -> None:
    with pytest.raises(DefinitionError) as caught:
        load(
            pipeline(
                {"key": "a", "execution": {"mode": "script"}, "needs": ["nobody"]},
                {"key": "b", "function": "f", "input_mapping": {"x": "c"}, "input_schema": {"type": "objekt"}},
                {"key": "b", "prompt": ""},
            )
        )
    assert [finding.path for finding in caught.value.findings] == [
        "/checkpoints/0/execution",
        "/checkpoints/1/input_schema/type",
        "/checkpoints/2/prompt",
        "/checkpoints/2/key",
        "/checkpoints/0/needs/0",
        "/checkpoints/1/input_mapping/x",
    ]
    assert str(caught.value).startswith("/checkpoints/0/execution: `script_config` ")


def test_warnings_do_not_reject_a_definition() -> None:
    loaded = load(
        pipeline(
            step("a"), step("b", input_mapping={"x": "a.y"}, input_schema={"properties": {"x": {"type": "string"}}})
        )
    )
    assert [str(finding) for finding in loaded.warnings] == [mentions("/checkpoints/1/input_mapping/x", "a.y")]
    assert [checkpoint.key for checkpoint in loaded.definition.checkpoints] == ["a", "b"]
