"""Shorten the full form to the form that authors write, with short forms and without defaults."""

from __future__ import annotations

from cairn.core.states import ExecutionMode
from cairn.definitions.authoring import defaults
from cairn.definitions.authoring.short_forms import FORM_INSTRUCTIONS
from cairn.definitions.authoring.slugs import name_for
from cairn.definitions.frozen_model import Document
from cairn.definitions.raw_document import get, objects, section
from cairn.documents import Value

PIPELINE_ORDER = (
    "pipeline_name",
    "pipeline_description",
    "original_prompt",
    "config",
    "input_schema",
    "actions",
    "restart_policy",
    "recovery",
    "budget",
    "checkpoints",
    "scripts",
)
CHECKPOINT_ORDER = (
    "key",
    "checkpoint_name",
    "checkpoint_description",
    "stage",
    "needs",
    "inputs",
    "input_mapping",
    "input_schema",
    "agent",
    "script",
    "function",
    "prompt",
    "form",
    "execution",
    "instructions",
    "outputs",
    "output_schema",
    "output",
    "approve",
    "human_interaction",
    "tool_approval",
    "loop",
    "decides",
)


def shorten(pipeline: Document) -> Document:
    """A document that expands to `pipeline`, which must not contain ids. Modifies `pipeline`."""
    config = section(pipeline, "config")
    _drop_switch(config, "timeout_config", defaults.RUN_TIMEOUT)
    _drop(config, {"auto_advance": False})
    _drop(section(pipeline, "restart_policy"), defaults.RESTART_POLICY)
    _drop(section(pipeline, "recovery"), defaults.RECOVERY)
    for action in section(pipeline, "actions").values():
        _drop(action, {"risk_level": "high", "description": ""})
    _drop(
        pipeline,
        {
            "pipeline_description": "",
            "actions": {},
            "checkpoints": [],
            "config": {},
            "restart_policy": {},
            "scripts": {},
        },
    )
    if "checkpoints" in pipeline:
        pipeline["checkpoints"] = [_checkpoint(checkpoint) for _, checkpoint in objects(pipeline, "checkpoints")]
    return _ordered(pipeline, PIPELINE_ORDER)


def _checkpoint(full: Document) -> Document:
    _shorten_execution(full)
    _shorten_output(full)
    approvals, instructions = section(full, "human_interaction"), section(full, "instructions")
    _drop(approvals, {"max_revision_iterations": 3})
    to_start = approvals.pop("requires_approval_to_start", False)
    to_complete = approvals.pop("requires_approval_to_complete", False)
    if to_start or to_complete:
        full["approve"] = "both" if to_start and to_complete else "start" if to_start else "complete"
    if get(full, "dependencies", "required_checkpoint_ids"):
        full["needs"] = section(full, "dependencies")["required_checkpoint_ids"]
    _drop(instructions, {"examples": []})
    _drop_section(instructions, "injection_points", defaults.INJECTION_POINTS)
    _drop_section(instructions, "injection_format", defaults.INJECTION_FORMAT)
    for _, reference in objects(full, "inputs", "include_checkpoint_outputs"):
        _drop(reference, {"use_summarization": False})
    _drop_section(full, "inputs", defaults.INPUTS)
    until = section(full, "loop", "until")
    _drop(until, defaults.CONDITIONS.get(str(until.get("kind")), {}))
    _drop(section(full, "loop"), defaults.LOOP)
    full.pop("dependencies", None)
    empty: Document = {name: {} for name in ("human_interaction", "instructions", "output", "execution")}
    _drop(full, {"checkpoint_description": "", "input_mapping": {}, "decides": False} | empty)
    _drop(full, {"checkpoint_name": name_for(str(full["key"]), ())})
    return _ordered(full, CHECKPOINT_ORDER)


def _shorten_execution(full: Document) -> None:
    execution = section(full, "execution")
    _drop_section(execution, "retry_config", defaults.RETRY)
    _drop_switch(execution, "timeout_config", defaults.TIMEOUT)
    task = section(full, "instructions").pop("task_prompt", None)
    match execution["mode"]:
        case ExecutionMode.AGENTIC.value:
            _shorten_agents(full, execution, task is not None)
        case ExecutionMode.SCRIPT.value:
            script = section(execution, "script_config")
            _drop(script, defaults.SCRIPT)
            _shorten_mode(full, execution, "script_config", "script_path", "script")
        case ExecutionMode.FUNCTION.value:
            _drop(section(execution, "function_config"), defaults.FUNCTION)
            _shorten_mode(full, execution, "function_config", "function", "function")
        case _:
            _shorten_form(full, execution)
            if task is not None:
                section(full, "instructions")["task_prompt"] = task
            return
    if task is not None:
        full["prompt"] = task


def _shorten_agents(full: Document, execution: Document, has_task: bool) -> None:
    agents = section(execution, "agent_config")
    if agents.get("creation_mode") == "single":
        agent = agents.pop("agent", None)
        if isinstance(agent, dict):
            full["agent"] = agent["library_agent"] if list(agent) == ["library_agent"] else agent
        if isinstance(agent, dict) or has_task:
            del execution["mode"]
    _drop(agents, defaults.DISCUSSION | defaults.META_AGENT | defaults.AGENTS)
    if "mode" not in execution:
        _drop(execution, {"agent_config": {}})


def _shorten_mode(full: Document, execution: Document, config: str, name: str, short: str) -> None:
    """Use `script: PATH` or `function: NAME`, which imply the mode."""
    if name in section(execution, config):
        full[short] = section(execution, config).pop(name)
        del execution["mode"]
        _drop(execution, {config: {}})


def _shorten_form(full: Document, execution: Document) -> None:
    form = section(execution, "human_only_config")
    fields = [_field(field) for _, field in objects(form, "input_fields")]
    form.pop("input_fields", None)
    full["form"] = fields
    instructions, description = form.pop("instructions", None), full.get("checkpoint_description")
    has_description = isinstance(description, str) and description.strip()
    if instructions != (description if has_description else FORM_INSTRUCTIONS):
        full["prompt"] = instructions
    if form.get("save_as_artifact") is True:
        for name in ("save_as_artifact", "artifact_name", "artifact_format"):
            form.pop(name, None)  # `outputs` implies it
    _drop(form, defaults.FORM)
    del execution["mode"]
    _drop(execution, {"human_only_config": {}})


def _field(field: Document) -> Value:
    _drop(field, defaults.FIELD | {"label": field["name"]})
    return field["name"] if list(field) == ["name"] else field


def _shorten_output(full: Document) -> None:
    output = section(full, "output")
    artifacts = [_artifact(artifact) for _, artifact in objects(output, "artifacts")]
    output.pop("artifacts", None)
    if artifacts:
        full["outputs"] = artifacts
    _drop_switch(output, "validation", defaults.VALIDATION | defaults.STRICTNESS)


def _artifact(artifact: Document) -> Value:
    _drop(artifact, {"description": ""})
    return f"{artifact['name']}.{artifact['format']}" if artifact.keys() == {"name", "format"} else artifact


def _drop(holder: Value, values: Document) -> None:
    """Remove keys that have their default value."""
    if isinstance(holder, dict):
        for key, value in values.items():
            if key in holder and holder[key] == value and isinstance(holder[key], type(value)):
                del holder[key]


def _drop_section(holder: Document, key: str, values: Document) -> None:
    _drop(holder.get(key), values)
    _drop(holder, {key: {}})


def _drop_switch(holder: Document, key: str, values: Document) -> None:
    """Shorten a section whose presence enables it."""
    switch = section(holder, key)
    _drop(switch, values)
    if switch == {"enabled": False}:
        del holder[key]
    elif switch.get("enabled") is True and len(switch) > 1:
        del switch["enabled"]


def _ordered(document: Document, order: tuple[str, ...]) -> Document:
    known = {name: document[name] for name in order if name in document}
    return known | document
