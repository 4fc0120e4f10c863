"""Change some fields of a checkpoint, in the full form or with short forms."""

from __future__ import annotations

from copy import deepcopy

from cairn.core.states import ExecutionMode
from cairn.definitions.frozen_model import Document
from cairn.definitions.raw_document import get, objects, section, text
from cairn.documents import Value

_CONFIGS = ("agent_config", "script_config", "function_config", "human_only_config")
_MODES = {
    "agent": (ExecutionMode.AGENTIC, ("agent_config", "agent")),
    "script": (ExecutionMode.SCRIPT, ("script_config", "script_path")),
    "function": (ExecutionMode.FUNCTION, ("function_config", "function")),
    "form": (ExecutionMode.HUMAN_ONLY, ("human_only_config", "input_fields")),
}
_SAVE_SETTINGS = ("save_as_artifact", "artifact_name", "artifact_format")


def apply_patch(checkpoint: Document, changes: Document) -> Document:
    """Apply the changes to the full form of the checkpoint. The result is not checked yet."""
    patched = deepcopy(checkpoint)
    for name in changes:
        _remove_replaced(patched, name, is_form=_is_form(checkpoint, changes))
    patched |= deepcopy(changes)
    if "execution" in changes and not {"output", "outputs"} & changes.keys():
        _update_form_artifact(patched, section(checkpoint, "execution", "human_only_config"))
    return patched


def _remove_replaced(patched: Document, name: str, *, is_form: bool) -> None:
    """Remove the fields that a short form replaces."""
    execution = section(patched, "execution")
    form = section(execution, "human_only_config")
    match name:
        case "agent" | "script" | "function" | "form":
            mode, (config, leaf) = _MODES[name]
            if execution.get("mode") != mode.value:
                _remove(execution, "mode", *_CONFIGS)
            _remove(section(execution, config), leaf)
        case "prompt":
            _remove(form, "instructions") if is_form else _remove(section(patched, "instructions"), "task_prompt")
        case "outputs":
            _remove(section(patched, "output"), "artifacts")
            _remove(form, *_SAVE_SETTINGS)
        case "approve":
            people = section(patched, "human_interaction")
            _remove(people, "requires_approval_to_start", "requires_approval_to_complete")
        case "needs":
            _remove(patched, "dependencies")
        case _:
            pass


def _update_form_artifact(patched: Document, before: Document) -> None:
    """If the form saves its artifact under another name, rename the declared artifact, so that it keeps its id."""
    after = section(patched, "execution", "human_only_config")
    old = text(before, "artifact_name") if before.get("save_as_artifact") is True else None
    new = text(after, "artifact_name") if after.get("save_as_artifact") is True else None
    artifacts = [artifact for _, artifact in objects(patched, "output", "artifacts")]
    for artifact in artifacts:
        if old is not None and artifact.get("name") == old:
            artifact |= {"name": new, "format": after.get("artifact_format", "json")}
    if isinstance(output := get(patched, "output"), dict):
        output["artifacts"] = [artifact for artifact in artifacts if artifact.get("name") is not None]


def _is_form(checkpoint: Document, changes: Document) -> bool:
    mode = text(changes, "execution", "mode") or text(checkpoint, "execution", "mode")
    return "form" in changes or (
        mode == ExecutionMode.HUMAN_ONLY.value and not {"agent", "script", "function"} & changes.keys()
    )


def _remove(holder: Value, *names: str) -> None:
    if isinstance(holder, dict):
        for name in names:
            holder.pop(name, None)
