"""Expansion of short forms."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.definitions import expand
from cairn.definitions.authoring.expansion import expand_tracked
from cairn.definitions.authoring.short_forms import FORM_INSTRUCTIONS
from tests.definitions.corpus import pipeline


def full(**checkpoint: Any) -> Any:
    """The full form of one checkpoint."""
    document: Any = expand(pipeline({"key": "a", **checkpoint}))
    return document["checkpoints"][0]


DEFAULTS: Any = {
    "key": "a",
    "checkpoint_name": "A",
    "checkpoint_description": "",
    "dependencies": {"required_checkpoint_ids": []},
    "inputs": {"include_previous_version": False, "include_checkpoint_outputs": []},
    "input_mapping": {},
    "decides": False,
    "human_interaction": {
        "requires_approval_to_start": False,
        "requires_approval_to_complete": False,
        "max_revision_iterations": 3,
    },
    "output": {
        "artifacts": [],
        "validation": {
            "enabled": False,
            "schema_validation_strictness": "strict",
            "on_validation_failure": "retry",
            "max_validation_retries": 2,
        },
    },
    "instructions": {
        "examples": [],
        "injection_points": {
            "previous_version_context": "before_task_prompt",
            "checkpoint_references": "before_task_prompt",
        },
        "injection_format": {
            "include_file_paths": True,
            "include_file_contents": True,
            "content_format": "markdown",
        },
    },
}
EXECUTION: Any = {
    "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline", "retry_delay_seconds": 5},
    "timeout_config": {"enabled": False, "on_timeout": "pause_pipeline"},
}


def test_a_prompt_is_enough_for_a_checkpoint() -> None:
    agents: Any = {"creation_mode": "single", "tools": []}
    assert full(prompt="Do it") == DEFAULTS | {
        "instructions": DEFAULTS["instructions"] | {"task_prompt": "Do it"},
        "execution": EXECUTION | {"mode": "agentic", "agent_config": agents},
    }


def test_a_pipeline_has_defaults() -> None:
    assert expand({"pipeline_name": "P", "$schema": "x"}) == {
        "pipeline_name": "P",
        "pipeline_description": "",
        "actions": {},
        "config": {"auto_advance": False, "timeout_config": {"enabled": False, "on_timeout": "fail_run"}},
        "restart_policy": {"require_second_pass": False, "max_restarts": 3},
        "checkpoints": [],
    }


def test_sections_get_the_defaults_of_their_kind() -> None:
    document: Any = expand(
        pipeline(recovery={}, actions={"send": {}}, config={"timeout_config": {"timeout_minutes": 5}})
    )
    assert document["recovery"] == {
        "on_agent_failure": "retry",
        "on_session_interrupt": "resume_from_checkpoint",
        "on_external_blocker": "escalate",
        "max_recovery_attempts": 3,
    }
    assert document["actions"] == {"send": {"risk_level": "high", "description": ""}}
    assert document["config"]["timeout_config"] == {"enabled": True, "timeout_minutes": 5, "on_timeout": "fail_run"}


@pytest.mark.parametrize(
    ("agents", "filled"),
    [
        (
            {"creation_mode": "predefined", "agents": [{"name": "a"}]},
            {"discussion_mode": "sequential", "max_turns": 6, "show_conversation": True, "tools": []},
        ),
        (
            {"creation_mode": "meta_agent", "meta_agent_instructions": "x"},
            {
                "discussion_mode": "sequential",
                "max_turns": 6,
                "show_conversation": True,
                "max_agents": 5,
                "tools": [],
            },
        ),
    ],
)
def test_several_agents_have_discussion_defaults(agents: Any, filled: Any) -> None:
    checkpoint = full(execution={"mode": "agentic", "agent_config": agents}, prompt="x")
    assert checkpoint["execution"]["agent_config"] == agents | filled


def test_loops_fields_and_validation_have_defaults() -> None:
    checkpoint = full(
        script="a.py",
        loop={"until": {"kind": "check_script", "script_path": "b.py"}},
        output={"validation": {"validation_mode": "llm_custom", "custom_validation_prompt": "x"}},
        inputs={"include_checkpoint_outputs": [{"checkpoint_id": "b"}]},
    )
    until = {"kind": "check_script", "script_path": "b.py", "entry_function": "main"}
    assert checkpoint["loop"] == {"until": until, "max_iterations": 10, "on_limit": "fail"}
    assert checkpoint["output"]["validation"] == {
        "enabled": True,
        "validation_mode": "llm_custom",
        "custom_validation_prompt": "x",
        "on_validation_failure": "retry",
        "max_validation_retries": 2,
    }
    assert checkpoint["inputs"]["include_checkpoint_outputs"] == [{"checkpoint_id": "b", "use_summarization": False}]
    assert full(prompt="x", loop={"until": {"kind": "json_condition"}})["loop"]["until"] == {
        "kind": "json_condition",
        "operator": "==",
    }


@pytest.mark.parametrize(
    ("short", "execution"),
    [
        (
            {"agent": "Critic"},
            {
                "mode": "agentic",
                "agent_config": {"creation_mode": "single", "tools": [], "agent": {"library_agent": "Critic"}},
            },
        ),
        (
            {"agent": {"name": "Ann", "task_prompt": "x"}, "execution": {"agent_config": {"model": "m"}}},
            {
                "mode": "agentic",
                "agent_config": {
                    "creation_mode": "single",
                    "tools": [],
                    "model": "m",
                    "agent": {"name": "Ann", "task_prompt": "x"},
                },
            },
        ),
        (
            {"script": "lib/a.py"},
            {
                "mode": "script",
                "script_config": {
                    "script_path": "lib/a.py",
                    "entry_function": "main",
                    "requires_user_input": False,
                    "parameters": {},
                },
            },
        ),
        (
            {"function": "samples.count", "execution": {"function_config": {"parameters": {"n": 2}}}},
            {"mode": "function", "function_config": {"function": "samples.count", "parameters": {"n": 2}}},
        ),
    ],
)
def test_short_forms_set_the_mode(short: Any, execution: Any) -> None:
    assert full(**short)["execution"] == EXECUTION | execution


def test_a_form_is_filled_in_by_a_person() -> None:
    checkpoint = full(form=["goals", {"name": "weight", "type": "number", "required": False}], prompt="Think.")
    assert checkpoint["execution"]["human_only_config"] == {
        "instructions": "Think.",
        "input_fields": [
            {"name": "goals", "type": "text", "required": True, "label": "goals"},
            {"name": "weight", "type": "number", "required": False, "label": "weight"},
        ],
        "save_as_artifact": False,
        "artifact_format": "json",
    }
    assert checkpoint["execution"]["mode"] == "human_only"
    assert "task_prompt" not in checkpoint["instructions"]


def test_a_form_without_a_prompt_is_explained_by_its_description() -> None:
    path = ("execution", "human_only_config", "instructions")
    described = full(form=[], checkpoint_description="What we want")
    assert described[path[0]][path[1]][path[2]] == "What we want"
    assert full(form=[], checkpoint_description=" ")[path[0]][path[1]][path[2]] == FORM_INSTRUCTIONS
    expanded = full(prompt="So", execution={"mode": "human_only", "human_only_config": {}})
    assert expanded[path[0]][path[1]][path[2]] == "So"


def test_the_output_of_a_form_is_the_artifact_that_it_saves() -> None:
    checkpoint = full(form=["a"], outputs=["my goals.json"])
    form = checkpoint["execution"]["human_only_config"]
    assert (form["save_as_artifact"], form["artifact_name"], form["artifact_format"]) == (True, "my goals", "json")
    assert checkpoint["output"]["artifacts"] == [{"name": "my goals", "format": "json", "description": ""}]


def test_a_saved_form_declares_its_artifact() -> None:
    config = {"instructions": "x", "save_as_artifact": True, "artifact_name": "notes", "artifact_format": "md"}
    execution = {"mode": "human_only", "human_only_config": config}
    declared = {"name": "notes", "format": "md", "description": ""}
    assert full(execution=execution)["output"]["artifacts"] == [declared]
    described = declared | {"description": "Kept", "artifact_id": "x"}
    assert full(execution=execution, output={"artifacts": [described]})["output"]["artifacts"] == [described]


def test_the_artifact_of_a_form_has_the_position_of_its_name() -> None:
    config = {"instructions": "x", "save_as_artifact": True, "artifact_name": "notes", "artifact_format": "md"}
    document = pipeline({"key": "a", "execution": {"mode": "human_only", "human_only_config": config}})
    source = expand_tracked(document).origins.nearest_source("/checkpoints/0/output/artifacts/0/name", document)
    assert source == "/checkpoints/0/execution/human_only_config/artifact_name"


def test_outputs_are_file_names_with_formats() -> None:
    artifacts = full(prompt="x", outputs=["a.b.md", {"name": "c", "format": "json"}])["output"]["artifacts"]
    assert artifacts == [
        {"name": "a.b", "format": "md", "description": ""},
        {"name": "c", "format": "json", "description": ""},
    ]


@pytest.mark.parametrize(
    ("approve", "start", "complete"), [("start", True, False), ("complete", False, True), ("both", True, True)]
)
def test_approve_sets_the_approval_flags(approve: str, start: bool, complete: bool) -> None:
    assert full(prompt="x", approve=approve)["human_interaction"] == {
        "requires_approval_to_start": start,
        "requires_approval_to_complete": complete,
        "max_revision_iterations": 3,
    }


def test_needs_and_dependencies_are_merged() -> None:
    dependencies = {"required_checkpoint_ids": ["b", "c"]}
    needs = ("dependencies", "required_checkpoint_ids")
    assert full(prompt="x", needs=["c"])[needs[0]][needs[1]] == ["c"]
    assert full(prompt="x", needs=["d", "c"], dependencies=dependencies)[needs[0]][needs[1]] == ["b", "c", "d"]
