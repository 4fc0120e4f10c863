"""What is known beforehand of the JSON under a checkpoint's key, and of the artifacts that it makes."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.core.states import ExecutionMode
from cairn.definitions.findings import Finding
from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.outline import CheckpointOutline, DefinitionOutline
from cairn.definitions.raw_document import objects, section, text

_FIELDS: dict[str, JsonSchema] = {
    "text": {"type": "string"},
    "multiline_text": {"type": "string"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
}
_RULING: dict[str, JsonSchema] = {
    "decision": {"enum": ["COMPLETE", "RESTART", "ESCALATE"]},
    "reason": {"type": "string"},
}


def output_schema(outline: DefinitionOutline, step: CheckpointOutline) -> JsonSchema | None:
    """The schema of what stands under its key: `True` if nothing is known of it, None if nothing will stand there."""
    if "output_schema" in step.document:
        declared = outline.schema(step.pointer("output_schema"), step.document["output_schema"])
        return True if declared is None else declared
    found = _form(step) if step.mode == ExecutionMode.HUMAN_ONLY else _artifacts(outline, step)
    if not step.decides:
        return found
    if not isinstance(found, dict) or "properties" not in found:
        return {"type": "object", "properties": _RULING, "required": list(_RULING), "additionalProperties": True}
    return found | {
        "properties": _RULING | found["properties"],
        "required": [*_RULING, *found.get("required", [])],
    }


def check_outputs(outline: DefinitionOutline) -> Iterator[Finding]:
    """A form makes the one artifact that it saves, and those that people upload into its file fields."""
    for step in outline.checkpoints:
        if step.mode != ExecutionMode.HUMAN_ONLY:
            continue
        form = section(step.document, "execution", "human_only_config")
        saved = text(form, "artifact_name") if form.get("save_as_artifact") is True else None
        uploads = [text(field, "name") for _, field in objects(form, "input_fields") if field.get("type") == "file"]
        for at, artifact in objects(step.document, "output", "artifacts"):
            name = text(artifact, "name")
            if name == saved and artifact.get("format") != form.get("artifact_format"):
                message = f"the form saves {name!r} as {form.get('artifact_format')}, not as {artifact.get('format')}"
                yield Finding(step.pointer("output", "artifacts", at, "format"), message)
            elif name is not None and name != saved and name not in uploads:
                has = f"saves {saved!r}" if saved else "saves none: set save_as_artifact and artifact_name"
                message = f"nobody makes the artifact {name!r}: the form {has}"
                yield Finding(step.pointer("output", "artifacts", at), message)


def _form(step: CheckpointOutline) -> JsonSchema:
    fields = [field for _, field in objects(step.document, "execution", "human_only_config", "input_fields")]
    named = {name: field for field in fields if (name := text(field, "name"))}
    return {
        "type": "object",
        "properties": {name: _FIELDS.get(text(field, "type") or "", True) for name, field in named.items()},
        "required": [n for n, field in named.items() if field.get("required") or field.get("default") is not None],
        "additionalProperties": False,
    }


def _artifacts(outline: DefinitionOutline, step: CheckpointOutline) -> JsonSchema | None:
    schemas: dict[str, JsonSchema] = {}
    for at, artifact in objects(step.document, "output", "artifacts"):
        if artifact.get("format") == "json" and (name := text(artifact, "name")):
            declared = outline.schema(step.pointer("output", "artifacts", at, "schema"), artifact.get("schema"))
            schemas[name] = True if declared is None else declared
    if len(schemas) > 1:
        return {"type": "object", "properties": schemas, "required": list(schemas), "additionalProperties": False}
    if schemas:
        return next(iter(schemas.values()))
    # A script or a function returns something; an agent's JSON has to be declared.
    return True if step.mode in (ExecutionMode.SCRIPT, ExecutionMode.FUNCTION) else None
