"""The templates that come with Cairn pass their checks."""

from __future__ import annotations

import jsonschema_rs
import pytest

from cairn.core.states import ExecutionMode
from cairn.definitions import (
    BuiltinTemplate,
    authoring_schema,
    builtin_templates,
    check,
    check_value,
    compile_plan,
    fill_defaults,
    load,
)
from tests.definitions.corpus import saved, saved_again

FUNCTIONS = [f"samples.{name}" for name in ("count_words", "find_keywords", "reading_time", "write_report")]


def named(name: str) -> BuiltinTemplate:
    return next(template for template in builtin_templates() if template.name == name)


def test_there_are_twelve_templates() -> None:
    assert [(template.name, template.title) for template in builtin_templates()] == [
        ("build-or-buy", "Build or buy"),
        ("business-analysis", "Business analysis"),
        ("develop-and-test", "Develop and test"),
        ("plan-dev-test", "Plan, develop, test, verify"),
        ("product-discovery", "Product discovery"),
        ("refund-by-agent", "Refund email by an agent"),
        ("refund-email", "Refund email"),
        ("requirements-to-design", "Requirements to design"),
        ("sales-report", "Sales report"),
        ("text-report", "Text report"),
        ("text-review", "Text review"),
        ("ticket-triage", "Ticket triage"),
    ]
    assert all(template.description and template.text.startswith("#") for template in builtin_templates())


@pytest.mark.parametrize("template", builtin_templates(), ids=lambda template: template.name)
def test_a_template_can_be_used_unchanged(template: BuiltinTemplate) -> None:
    document, positions = template.read()
    assert check(document, positions=positions, functions=FUNCTIONS) == []
    assert jsonschema_rs.validator_for(authoring_schema()).is_valid(document)
    definition = saved(document)
    assert saved_again(document, definition) == definition
    assert definition.original_prompt


def test_text_report_measures_side_by_side_and_fills_its_input() -> None:
    definition = load(named("text-report").read()[0]).definition
    plan = compile_plan(definition, definition)
    assert plan.auto_advance
    assert plan.stages == {
        "measure": ("count_words", "find_keywords", "reading_time"),
        "write_report": ("write_report",),
    }
    assert [policy.mode for policy in plan.policies.values()] == [ExecutionMode.FUNCTION] * 4
    assert plan.policy("write_report").requires_completion_approval
    assert definition.input_schema is not None
    filled = fill_defaults(definition.input_schema, {})
    assert check_value(definition.input_schema, filled) == []


def test_product_discovery_asks_people_and_builds_on_the_previous_version() -> None:
    definition = load(named("product-discovery").read()[0]).definition
    assert [checkpoint.execution.mode for checkpoint in definition.checkpoints] == [ExecutionMode.HUMAN_ONLY] * 3
    assert all(checkpoint.inputs.include_previous_version for checkpoint in definition.checkpoints)
    assert [
        [reference.checkpoint_id for reference in checkpoint.inputs.include_checkpoint_outputs]
        for checkpoint in definition.checkpoints
    ] == [[], ["business_goals"], ["business_goals", "requirements"]]
    assert all(checkpoint.human_interaction.requires_approval_to_complete for checkpoint in definition.checkpoints)
