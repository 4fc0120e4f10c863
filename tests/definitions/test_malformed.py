"""Short forms that contradict each other, and malformed documents."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.definitions import DefinitionError, check, expand
from cairn.definitions.authoring.expansion import expand_tracked
from tests.definitions.corpus import pipeline
from tests.mentions import mentions


@pytest.mark.parametrize(
    ("checkpoint", "path", "message"),
    [
        (
            {"agent": "x", "script": "a.py"},
            "/checkpoints/0/script",
            mentions("`script`"),
        ),
        (
            {"function": "f", "execution": {"mode": "script", "script_config": {"script_path": "a.py"}}},
            "/checkpoints/0/function",
            mentions("`function`"),
        ),
        (
            {"prompt": "x", "instructions": {"task_prompt": "y"}},
            "/checkpoints/0/prompt",
            mentions("`prompt`", "`instructions.task_prompt`"),
        ),
        (
            {"prompt": "x", "outputs": ["a.md"], "output": {"artifacts": []}},
            "/checkpoints/0/outputs",
            mentions("`outputs`", "`output.artifacts`"),
        ),
        (
            {"prompt": "x", "approve": "both", "human_interaction": {"requires_approval_to_start": False}},
            "/checkpoints/0/approve",
            mentions("`approve`", "`human_interaction.requires_approval_to_start`"),
        ),
        (
            {"prompt": "x", "approve": "never"},
            "/checkpoints/0/approve",
            mentions('"start"', '"complete"', '"both"', '"never"'),
        ),
    ],
)
def test_conflicting_short_and_full_forms_are_invalid(checkpoint: Any, path: str, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        expand(pipeline(checkpoint))
    assert [(finding.path, finding.message) for finding in caught.value.findings] == [(path, message)]
    assert (path, message) in [(finding.path, finding.message) for finding in check(pipeline(checkpoint))]


def test_writing_the_same_value_twice_is_valid() -> None:
    execution: Any = {"mode": "agentic", "agent_config": {}}
    twice = {"key": "a", "prompt": "x", "instructions": {"task_prompt": "x"}, "execution": execution}
    assert expand(pipeline(twice)) == expand(pipeline({"key": "a", "prompt": "x"}))


def test_expansion_does_not_modify_the_authors_document() -> None:
    document = pipeline(
        {"prompt": "x", "execution": {"retry_config": {}}, "needs": ["b"], "dependencies": {}}, config={}
    )
    before = repr(document)
    expand(document)
    assert repr(document) == before


ILL_FORMED: list[Any] = [
    None,
    [],
    "x",
    {},
    {"checkpoints": {}},
    {"checkpoints": [None, 1, [], "x", {}]},
    pipeline({"key": 5, "checkpoint_name": 5, "execution": None, "prompt": "x"}),
    pipeline({"prompt": "x", "execution": "x", "form": "y", "outputs": 5, "needs": "z", "dependencies": 5}),
    pipeline({"form": [None, 1, {}], "outputs": [None, 1], "output": 7, "instructions": [], "needs": [1]}),
    pipeline({"needs": ["a"], "dependencies": {"required_checkpoint_ids": "b"}, "prompt": "x"}),
    pipeline({"prompt": "x", "loop": [], "human_interaction": 1, "inputs": 1, "input_mapping": 1, "stage": 1}),
    pipeline(
        {"execution": {"mode": [], "agent_config": {"creation_mode": []}, "human_only_config": {"input_fields": 1}}}
    ),
    pipeline({"form": ["a"], "outputs": [{"format": "json"}]}, checkpoint_order=[1]),
    pipeline(
        {"prompt": "x", "inputs": {"include_checkpoint_outputs": [1, {"checkpoint_id": 1}]}}, actions=[], config=1
    ),
    pipeline({"prompt": "x", "input_schema": {"type": 5, "properties": [], "required": "x", "prefixItems": 1}}),
    pipeline(
        {"key": "a", "prompt": "x", "output_schema": {"type": 5, "properties": []}},
        {"prompt": "y", "input_mapping": {"x": "a.b"}},
    ),
    pipeline(
        {
            "execution": {
                "mode": "script",
                "script_config": {"script_path": "a", "parameters_schema": {"type": 5}, "parameters": 1},
            }
        }
    ),
]


@pytest.mark.parametrize("document", ILL_FORMED)
def test_malformed_documents_are_reported_and_never_crash(document: Any) -> None:
    expand_tracked(document)
    assert check(document) != []


def test_a_document_that_is_not_an_object_has_no_full_form() -> None:
    with pytest.raises(DefinitionError):
        expand([])
