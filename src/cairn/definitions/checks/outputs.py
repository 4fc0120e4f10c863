"""The schema of a checkpoint's JSON output, and a check of the artifacts of forms."""

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
_DECISION: dict[str, JsonSchema] = {
    "decision": {"enum": ["COMPLETE", "RESTART", "ESCALATE"]},
    "reason": {"type": "string"},
}


def output_schema(outline: DefinitionOutline, checkpoint: CheckpointOutline) -> JsonSchema | None:
    """The schema of the checkpoint's JSON output: `True` if unknown, None if there is no JSON output."""
    if "output_schema" in checkpoint.document:
        declared = outline.schema(checkpoint.pointer("output_schema"), checkpoint.document["output_schema"])
        return True if declared is None else declared
    found = _form(checkpoint) if checkpoint.mode == ExecutionMode.HUMAN_ONLY else _artifacts(outline, checkpoint)
    if not checkpoint.decides:
        return found
    if not isinstance(found, dict) or "properties" not in found:
        return {"type": "object", "properties": _DECISION, "required": list(_DECISION), "additionalProperties": True}
    return found | {
        "properties": _DECISION | found["properties"],
        "required": [*_DECISION, *found.get("required", [])],
    }


def check_outputs(outline: DefinitionOutline) -> Iterator[Finding]:
    """Check that forms produce their artifacts: the answers that they save, and the uploads of their file fields."""
    for checkpoint in outline.checkpoints:
        if checkpoint.mode != ExecutionMode.HUMAN_ONLY:
            continue
        form = section(checkpoint.document, "execution", "human_only_config")
        saved = text(form, "artifact_name") if form.get("save_as_artifact") is True else None
        uploads = [text(field, "name") for _, field in objects(form, "input_fields") if field.get("type") == "file"]
        for index, artifact in objects(checkpoint.document, "output", "artifacts"):
            name, declared, expected = text(artifact, "name"), artifact.get("format"), form.get("artifact_format")
            if name == saved and declared != expected:
                message = f"the form saves {name!r} as {expected}, but this format is {declared}: use the same"
                yield Finding(checkpoint.pointer("output", "artifacts", index, "format"), message)
            elif name is not None and name != saved and name not in uploads:
                hint = f"the form saves {saved!r}" if saved else "set save_as_artifact and artifact_name"
                message = f"nothing produces the artifact {name!r}: {hint}"
                yield Finding(checkpoint.pointer("output", "artifacts", index), message)


def _form(checkpoint: CheckpointOutline) -> JsonSchema:
    fields = [field for _, field in objects(checkpoint.document, "execution", "human_only_config", "input_fields")]
    named = {name: field for field in fields if (name := text(field, "name"))}
    return {
        "type": "object",
        "properties": {name: _FIELDS.get(text(field, "type") or "", True) for name, field in named.items()},
        "required": [n for n, field in named.items() if field.get("required") or field.get("default") is not None],
        "additionalProperties": False,
    }


def _artifacts(outline: DefinitionOutline, checkpoint: CheckpointOutline) -> JsonSchema | None:
    schemas: dict[str, JsonSchema] = {}
    for index, artifact in objects(checkpoint.document, "output", "artifacts"):
        if artifact.get("format") == "json" and (name := text(artifact, "name")):
            declared = outline.schema(
                checkpoint.pointer("output", "artifacts", index, "schema"), artifact.get("schema")
            )
            schemas[name] = True if declared is None else declared
    if len(schemas) > 1:
        return {"type": "object", "properties": schemas, "required": list(schemas), "additionalProperties": False}
    if schemas:
        return next(iter(schemas.values()))
    # A script or function returns a value. The JSON output of an agent must be declared.
    return True if checkpoint.mode in (ExecutionMode.SCRIPT, ExecutionMode.FUNCTION) else None
