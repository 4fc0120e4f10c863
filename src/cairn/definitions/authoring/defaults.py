"""Fill in defaults, so that a stored definition is complete."""

from __future__ import annotations

from copy import deepcopy

from cairn.definitions.frozen_model import Document
from cairn.definitions.raw_document import get, objects, section, text
from cairn.documents import Value

RETRY: Document = {"max_auto_retries": 0, "on_failure": "pause_pipeline", "retry_delay_seconds": 5}
TIMEOUT: Document = {"on_timeout": "pause_pipeline"}
RUN_TIMEOUT: Document = {"on_timeout": "fail_run"}
HUMAN_INTERACTION: Document = {
    "requires_approval_to_start": False,
    "requires_approval_to_complete": False,
    "max_revision_iterations": 3,
}
VALIDATION: Document = {"on_validation_failure": "retry", "max_validation_retries": 2}
STRICTNESS: Document = {"schema_validation_strictness": "strict"}
INPUTS: Document = {"include_previous_version": False, "include_checkpoint_outputs": []}
INJECTION_POINTS: Document = {
    "previous_version_context": "before_task_prompt",
    "checkpoint_references": "before_task_prompt",
}
INJECTION_FORMAT: Document = {
    "include_file_paths": True,
    "include_file_contents": True,
    "content_format": "markdown",
}
AGENTS: Document = {"creation_mode": "single", "tools": []}
DISCUSSION: Document = {"discussion_mode": "sequential", "max_turns": 6, "show_conversation": True}
META_AGENT: Document = {"max_agents": 5}
SCRIPT: Document = {"entry_function": "main", "requires_user_input": False, "parameters": {}}
FUNCTION: Document = {"parameters": {}}
FORM: Document = {"input_fields": [], "save_as_artifact": False, "artifact_format": "json"}
FIELD: Document = {"type": "text", "required": True}
LOOP: Document = {"max_iterations": 10, "on_limit": "fail"}
RESTART_POLICY: Document = {"require_second_pass": False, "max_restarts": 3}
RECOVERY: Document = {
    "on_agent_failure": "retry",
    "on_session_interrupt": "resume_from_checkpoint",
    "on_external_blocker": "escalate",
    "max_recovery_attempts": 3,
}
CONDITIONS: dict[str, Document] = {"check_script": {"entry_function": "main"}, "json_condition": {"operator": "=="}}


def fill_pipeline(pipeline: Document) -> None:
    _fill(pipeline, {"pipeline_description": "", "actions": {}, "checkpoints": []})
    config = _ensure_object(pipeline, "config")
    _fill(config, {"auto_advance": False})
    _fill_switch(config, "timeout_config", RUN_TIMEOUT)
    _fill(_ensure_object(pipeline, "restart_policy"), RESTART_POLICY)
    _fill(pipeline.get("recovery"), RECOVERY)
    for action in section(pipeline, "actions").values():
        _fill(action, {"risk_level": "high", "description": ""})


def fill_checkpoint(checkpoint: Document) -> None:
    _fill(checkpoint, {"checkpoint_description": "", "input_mapping": {}, "decides": False})
    _fill(_ensure_object(checkpoint, "dependencies"), {"required_checkpoint_ids": []})
    _fill(_ensure_object(checkpoint, "inputs"), INPUTS)
    for _, reference in objects(checkpoint, "inputs", "include_checkpoint_outputs"):
        _fill(reference, {"use_summarization": False})
    _fill(_ensure_object(checkpoint, "human_interaction"), HUMAN_INTERACTION)
    instructions = _ensure_object(checkpoint, "instructions")
    _fill(instructions, {"examples": []})
    _fill(_ensure_object(instructions, "injection_points"), INJECTION_POINTS)
    _fill(_ensure_object(instructions, "injection_format"), INJECTION_FORMAT)
    _fill(checkpoint.get("loop"), LOOP)
    until = get(checkpoint, "loop", "until")
    _fill(until, CONDITIONS.get(text(until, "kind") or "", {}))
    _fill_execution(checkpoint.get("execution"))
    _fill_output(checkpoint)


def declare_form_artifact(checkpoint: Document) -> bool:
    """Declare the artifact that a form saves, unless the checkpoint declares artifacts itself."""
    form = section(checkpoint, "execution", "human_only_config")
    name, saved_format = text(form, "artifact_name"), form.get("artifact_format", "json")
    output = _ensure_object(checkpoint, "output")
    if (
        form.get("save_as_artifact") is not True
        or name is None
        or saved_format not in ("json", "md")
        or output.get("artifacts")
    ):
        return False
    output["artifacts"] = [{"name": name, "format": saved_format}]
    return True


def _fill_execution(execution: Value) -> None:
    _fill(_ensure_object(execution, "retry_config"), RETRY)
    _fill_switch(execution, "timeout_config", TIMEOUT)
    agents = get(execution, "agent_config")
    _fill(agents, AGENTS)
    creation = get(agents, "creation_mode")
    if creation in ("predefined", "meta_agent"):
        _fill(agents, DISCUSSION)
    if creation == "meta_agent":
        _fill(agents, META_AGENT)
    _fill(get(execution, "script_config"), SCRIPT)
    _fill(get(execution, "function_config"), FUNCTION)
    _fill(get(execution, "human_only_config"), FORM)
    for _, field in objects(execution, "human_only_config", "input_fields"):
        _fill(field, FIELD)
        if name := text(field, "name"):
            _fill(field, {"label": name})


def _fill_output(checkpoint: Document) -> None:
    output = _ensure_object(checkpoint, "output")
    _fill(output, {"artifacts": []})
    for _, artifact in objects(output, "artifacts"):
        _fill(artifact, {"description": ""})
    _fill_switch(output, "validation", VALIDATION)
    validation = get(output, "validation")
    if not get(validation, "enabled") or get(validation, "validation_mode") != "llm_custom":
        _fill(validation, STRICTNESS)


def _fill(holder: Value, values: Document) -> None:
    if isinstance(holder, dict):
        for key, value in values.items():
            holder.setdefault(key, deepcopy(value))


def _fill_switch(holder: Value, key: str, values: Document) -> None:
    """Fill in a section whose presence enables it, unless it sets `enabled`."""
    is_present = isinstance(holder, dict) and key in holder
    switch = _ensure_object(holder, key)
    _fill(switch, {"enabled": is_present})
    _fill(switch, values)


def _ensure_object(holder: Value, key: str) -> Document:
    """The object under the key, which is created if missing. If the value is not an object, a detached object."""
    found = holder.setdefault(key, {}) if isinstance(holder, dict) else None
    return found if isinstance(found, dict) else {}
