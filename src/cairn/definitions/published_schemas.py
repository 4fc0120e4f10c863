"""The published schemas: one for the full form, and one for authoring."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import Any, cast

import jsonschema_rs

from cairn.definitions.json_schema.validator import reject_fetch
from cairn.documents import decode_json

MODES = ("agent", "prompt", "script", "function", "form")
_SHORT: dict[str, Any] = {
    "agent": {
        "description": "Execute with one agent: the name of a library agent, or an agent.",
        "anyOf": [{"$ref": "#/$defs/Name"}, {"$ref": "#/$defs/Agent"}],
    },
    "prompt": {"$ref": "#/$defs/Text", "description": "The task, or with a form the instructions for the person."},
    "script": {"$ref": "#/$defs/ScriptPath", "description": "Execute with a script."},
    "function": {"$ref": "#/$defs/RegisteredName", "description": "Execute with a registered Python function."},
    "form": {
        "description": "Execute by a person who fills in these fields.",
        "type": "array",
        "items": {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 100}, {"$ref": "#/$defs/InputField"}]},
    },
    "outputs": {
        "description": "The files it produces, each as name.format.",
        "type": "array",
        "items": {"anyOf": [{"type": "string", "pattern": r"^.+\.[a-z0-9]{1,16}$"}, {"$ref": "#/$defs/Artifact"}]},
    },
    "approve": {
        "enum": ["start", "complete", "both"],
        "description": "Which approvals to require.",
    },
}


@cache
def full_schema() -> dict[str, Any]:
    """The published schema of the full form."""
    return cast("dict[str, Any]", decode_json(files("cairn.definitions").joinpath("schema.json").read_bytes()))


@cache
def full_validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(
        full_schema(), validate_formats=True, retriever=reject_fetch, pattern_options=jsonschema_rs.RegexOptions()
    )


@cache
def authoring_schema() -> dict[str, Any]:
    """The published schema for editors: the full form and the short forms."""
    schema = deepcopy(full_schema())
    parts = schema["$defs"]
    schema["$id"] = "urn:cairn:schema:authoring:1.0"
    schema["title"] = "Pipeline with short forms"
    schema["description"] = "A pipeline as you write it, in YAML or JSON, in the full form or with short forms."
    schema["properties"]["checkpoints"]["items"] = {"$ref": "#/$defs/Checkpoint"}
    text = {"type": "string", "description": "Text of the script."}
    schema["properties"]["scripts"]["propertyNames"] = {"$ref": "#/$defs/ScriptPath"}
    schema["properties"]["scripts"]["additionalProperties"] = {"anyOf": [text, {"$ref": "#/$defs/ScriptFile"}]}
    checkpoint = parts["Checkpoint"]
    checkpoint["description"] = "One checkpoint. Without a key, it gets one from its name."
    checkpoint["properties"] |= _SHORT
    del checkpoint["required"]
    checkpoint["anyOf"] = [{"required": [name]} for name in ("execution", *MODES)]
    _, formats, task, tool_approval = checkpoint["allOf"]
    formats["if"] = {"anyOf": [formats["if"], {"required": ["script"]}, {"required": ["function"]}]}
    task["if"] = {"anyOf": [task["if"], {"required": ["prompt"]}, {"required": ["agent"]}]}
    tool_approval["if"]["anyOf"] += [{"required": [name]} for name in ("script", "function", "form")]
    # A short form can replace fields that the full form requires.
    del parts["Execution"]["required"], parts["FunctionConfig"]["required"], parts["HumanOnlyConfig"]["required"]
    del parts["HumanOnlyConfig"]["then"], parts["HumanOnlyConfig"]["if"]
    del parts["ScriptConfig"]["allOf"][1]["else"]
    for mode in parts["Execution"]["allOf"]:
        del mode["then"]["required"]
    return schema
