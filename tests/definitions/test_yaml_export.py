"""A definition exported as YAML changes nothing when it is applied again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings

from cairn.definitions import authoring_schema, expand, parse, text_diff, to_yaml
from cairn.documents import canonical, decode_yaml
from tests.definitions.corpus import VALID, pipeline, read, saved, saved_again
from tests.definitions.drafts import pipelines
from tests.effort import examples

authoring = jsonschema_rs.validator_for(
    authoring_schema(), validate_formats=True, pattern_options=jsonschema_rs.RegexOptions()
)


def apply_again(document: Any) -> str:
    definition = saved(document)
    text = to_yaml(definition)
    applied, _ = decode_yaml(text)
    assert canonical(saved_again(applied, definition).document) == canonical(definition.document)
    assert to_yaml(saved(applied)) == text
    assert list(authoring.iter_errors(applied)) == []
    assert text_diff(definition, saved(applied)) == ""
    return text


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_applying_the_corpus_again_changes_nothing(path: Path) -> None:
    apply_again(read(path)[0])


@settings(max_examples=examples(60))
@given(pipelines)
def test_applying_any_definition_again_changes_nothing(document: Any) -> None:
    apply_again(document)


def test_the_export_uses_short_forms_and_omits_defaults() -> None:
    document = pipeline(
        {
            "key": "goals",
            "form": ["goals", {"name": "n", "type": "number"}],
            "outputs": ["goals.json"],
            "prompt": "Think.",
        },
        {
            "key": "draft",
            "checkpoint_name": "First draft",
            "checkpoint_description": "Two lines.",
            "needs": ["goals"],
            "agent": "Writer",
            "prompt": "Write it.\n\nShort.\n",
            "outputs": ["draft.md", {"name": "data", "format": "json", "description": "What it rests on"}],
            "approve": "complete",
            "execution": {"timeout_config": {"timeout_minutes": 30}},
        },
        {"key": "count", "function": "samples.count", "approve": "start"},
        {"key": "tidy", "script": "tidy.py", "stage": "end"},
        {
            "key": "inline",
            "execution": {"mode": "script", "script_config": {"script_source": "def main(ctx):\n  pass\n"}},
        },
        config={"auto_advance": True},
    )
    assert (
        apply_again(document)
        == """\
pipeline_name: P
config: { auto_advance: true }
checkpoints:
  - key: goals
    prompt: Think.
    form:
      - goals
      - { name: n, type: number }
    outputs: [goals.json]
  - key: draft
    checkpoint_name: First draft
    checkpoint_description: Two lines.
    needs: [goals]
    agent: Writer
    prompt: |
      Write it.

      Short.
    execution:
      timeout_config: { timeout_minutes: 30 }
    outputs:
      - draft.md
      - { name: data, format: json, description: What it rests on }
    approve: complete
  - key: count
    function: samples.count
    approve: start
  - key: tidy
    stage: end
    script: tidy.py
  - key: inline
    execution:
      mode: script
      script_config:
        script_source: |
          def main(ctx):
            pass
"""
    )


def test_a_definition_without_matching_short_forms_is_exported_in_full() -> None:
    form = {"key": "a", "form": [{"name": "proof", "type": "file"}], "outputs": ["goals.json"]}
    document: Any = expand(pipeline(form))
    document["checkpoints"][0]["output"]["artifacts"].append({"name": "proof", "format": "csv", "description": ""})
    text = apply_again(document)
    assert "human_only_config:" in text
    assert canonical(expand(decode_yaml(text)[0])) == canonical(document)


def test_a_form_checkpoint_keeps_its_task_prompt() -> None:
    text = apply_again(pipeline({"key": "a", "form": [], "instructions": {"task_prompt": "x"}}))
    assert "    instructions: { task_prompt: x }\n" in text


def test_whole_numbers_may_be_floats() -> None:
    document: Any = expand(
        pipeline({"key": "a", "prompt": "x", "execution": {"retry_config": {"max_auto_retries": 3.0}}})
    )
    assert parse(document).checkpoints[0].execution.retry_config.max_auto_retries == 3
    assert "max_auto_retries: 3 " in apply_again(document)
