"""The form of a script without a declared schema has the parameters of its entry function."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.definitions.execution_config import ScriptConfig
from cairn.definitions.script_forms import check_answers, form_fields
from cairn.definitions.script_parameters import signature


def config_for(source: str, **more: Any) -> ScriptConfig:
    config = ScriptConfig(script_source=source, requires_user_input=True, **more)
    return config.model_copy(update={"signature": signature(source, config.entry_function)})


@pytest.mark.parametrize(
    ("parameter", "field_type", "required", "default"),
    [
        ("region", "text", True, None),
        ("region: str", "text", True, None),
        ("rows: int", "number", True, None),
        ("rows: int = 10", "number", False, 10),
        ("share: float = 0.5", "number", False, 0.5),
        ("deep: bool = False", "boolean", False, False),
        ("rows=3", "number", False, 3),
        ("note: str | None = None", "text", False, None),
        ("note: Optional[str] = None", "text", False, None),
        ("note: 'str' = 'x'", "text", False, "x"),
        ("region: Literal['North', 'South']", "text", True, None),
        ("names: list[str]", "multiline_text", True, None),
        ("names: dict = {'a': 1}", "multiline_text", False, '{"a":1}'),
        ("day=today()", "text", False, None),
        ("some={1, 2}", "text", False, None),
        ("most=1e999", "text", False, None),
        ("*, region", "text", True, None),
    ],
)
def test_a_parameter_becomes_a_field(parameter: str, field_type: str, required: bool, default: Any) -> None:
    [field] = form_fields(config_for(f"def main(ctx, {parameter}):\n    return {{}}\n"))
    assert (field.type, field.required, field.default) == (field_type, required, default)


def test_answers_are_checked_against_the_signature() -> None:
    config = config_for("def main(ctx, region: Literal['North', 'South'], rows: int = 10):\n    return {}\n")
    assert check_answers(config, {"region": "North", "rows": 3}) == ({"region": "North", "rows": 3}, [])
    for wrong in ({"region": "West"}, {"rows": 3}, {"region": "North", "rows": 1.5}):
        assert check_answers(config, wrong)[1] != []


def test_parameters_of_the_definition_are_defaults_and_a_declared_schema_wins() -> None:
    source = "def main(ctx, region, rows):\n    return {}\n"
    assert {f.name: f.default for f in form_fields(config_for(source, parameters={"rows": 7}))} == {
        "region": None,
        "rows": 7,
    }
    declared = config_for(source, parameters_schema={"properties": {"other": {"type": "string"}}})
    assert [field.name for field in form_fields(declared)] == ["other"]


@pytest.mark.parametrize(
    "source", ["", "def other(ctx): ...", "def main(", "def main(): ...", "def main(*a, **b): ..."]
)
def test_a_script_without_a_readable_signature_has_no_fields(source: str) -> None:
    assert form_fields(config_for(source)) == ()


def test_the_signature_is_not_part_of_the_document() -> None:
    assert "signature" not in config_for("def main(ctx, a): ...").document
