"""The format of an agent's result: files that it writes, one text, or one object with the content of all files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.model import CheckpointDefinition
from cairn.documents import encode_json
from cairn.runners.agents.schema_embedding import embed
from cairn.runners.expected_artifacts import PASS_DECISION_SCHEMA, DeclaredArtifact, ExpectedArtifacts, expected
from cairn.runners.mismatches import Mismatch, check
from cairn.runners.prompt_layouts import fenced
from cairn.runners.staging import Staging

STAGING = "artifacts_staging"  # the name on disk and in prompts
_FORMATS = {
    "json": "JSON",
    "md": "Markdown",
    "mmd": "a Mermaid diagram",
    "txt": "plain text",
    "py": "Python",
    "html": "HTML",
    "csv": "CSV",
}
_NOT_IN_KEYS = re.compile(r"[^A-Za-z0-9_-]")
_FENCED = re.compile(r"\A\s*(`{3,}|~{3,})([A-Za-z0-9_+-]*)[ \t]*\n(.*?)\n?\1\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextResult:
    """The answer is the content of one file."""

    declared: DeclaredArtifact

    def stage(self, text: str, staging: Staging) -> None:
        staging.stage(self.declared.name, strip_fence(text, self.declared.format or ""))


@dataclass(frozen=True, slots=True)
class ObjectResult:
    """The answer is an object: the only JSON artifact, or one with a member for each artifact."""

    schema: dict[str, Any]
    members: Mapping[str, tuple[DeclaredArtifact, JsonSchema | None]]
    is_artifact: bool

    def check(self, value: Any) -> list[Mismatch]:
        if self.is_artifact:
            ((declared, _),) = self.members.values()
            return check(self.schema, value, declared.file)
        if not isinstance(value, dict):
            return [Mismatch("result", "expected an object with a property for each file")]
        mismatches: list[Mismatch] = []
        for key, (declared, schema) in self.members.items():
            if key not in value:
                mismatches.append(Mismatch(declared.file, f"missing: add its content as property {key!r}"))
            elif schema is not None:
                mismatches += check(schema, cast("Any", value[key]), declared.file)
        for key in cast("dict[str, Any]", value):
            if key not in self.members:
                mismatches.append(Mismatch("result", f"unknown property {key!r}: remove it"))
        return mismatches

    def stage(self, value: Any, staging: Staging) -> None:
        contents = {next(iter(self.members)): value} if self.is_artifact else value
        for key, (declared, _) in self.members.items():
            if not isinstance(contents, dict) or key not in contents:
                continue
            content: Any = cast("dict[str, Any]", contents)[key]
            if declared.format == "json":
                staging.stage_json(declared.name, encode_json(content), type(content).__name__)
            else:
                staging.stage(declared.name, content)


@dataclass(frozen=True, slots=True)
class FilesResult:
    """The agent writes the files itself."""

    declared: tuple[DeclaredArtifact, ...]


Result = TextResult | ObjectResult | FilesResult


def result_format(checkpoint: CheckpointDefinition, *, writes: bool) -> Result:
    """The format of the result. `writes`: whether the agent has tools to write files."""
    outputs = expected(checkpoint)
    artifacts = tuple(outputs.artifacts.values())
    if writes and any(artifact.required for artifact in artifacts):
        return FilesResult(artifacts)
    if len(artifacts) == 1 and artifacts[0].format != "json":
        return TextResult(artifacts[0])
    if len(artifacts) == 1 and isinstance(schema := schema_of(outputs, artifacts[0]), dict) and _is_object(schema):
        return ObjectResult(schema, {artifacts[0].name: (artifacts[0], schema)}, is_artifact=True)
    return _object_of(outputs, artifacts)


def schema_of(outputs: ExpectedArtifacts, artifact: DeclaredArtifact) -> JsonSchema | None:
    """The schema of a JSON artifact, including the pass decision if the checkpoint makes one."""
    schema, checkpoint = artifact.schema, outputs.checkpoint
    if len(outputs.json) != 1:
        return schema
    if schema is None:
        schema = checkpoint.output_schema
    if not checkpoint.decides or not isinstance(schema, dict):
        return PASS_DECISION_SCHEMA if checkpoint.decides and schema is None else schema
    decision = cast("dict[str, Any]", PASS_DECISION_SCHEMA)
    return schema | {
        "properties": {**decision["properties"], **schema.get("properties", {})},
        "required": list(dict.fromkeys((*decision["required"], *schema.get("required", [])))),
    }


def _is_object(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "object"


def _object_of(outputs: ExpectedArtifacts, artifacts: Sequence[DeclaredArtifact]) -> ObjectResult:
    """An object with a member for each artifact."""
    members: dict[str, tuple[DeclaredArtifact, JsonSchema | None]] = {}
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for artifact in artifacts:
        key = _key(artifact, members)
        schema = schema_of(outputs, artifact) if artifact.format == "json" else {"type": "string"}
        members[key] = (artifact, schema)
        embedded, inner_definitions = embed(schema if isinstance(schema, dict) else {}, key)
        properties[key] = {"description": _member_description(outputs, artifact), **embedded}
        definitions |= inner_definitions
    required = [key for key, (artifact, _) in members.items() if artifact.required] or list(members)
    combined = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return ObjectResult(combined | ({"$defs": definitions} if definitions else {}), members, is_artifact=False)


def _key(artifact: DeclaredArtifact, members: Mapping[str, Any]) -> str:
    """A property name that every provider accepts."""
    key = _NOT_IN_KEYS.sub("_", artifact.name)[:60] or "file"
    while key in members:
        key += "_"
    return key


# Prompts
def result_instructions(checkpoint: CheckpointDefinition, *, writes: bool) -> str:
    """The RESULT section of a prompt. Empty if any text is a valid answer."""
    outputs = expected(checkpoint)
    match result_format(checkpoint, writes=writes):
        case FilesResult(declared):
            lines = [
                f"Write these files with the tools. Each must be complete, and {STAGING} must not contain other files:"
            ]
            lines += [
                _list_item(outputs, artifact, f"{STAGING}/{artifact.file}", with_schema=True) for artifact in declared
            ]
            return "\n".join([*lines, "When all files are written, reply with a short summary of what you did."])
        case TextResult(artifact) if artifact.required:
            description = _description(outputs, artifact)
            return (
                f"Reply with the complete content of {artifact.file}, in {_format(artifact)}, and nothing else: no"
                " introduction and no code fence around it." + (f" Description: {description}" if description else "")
            )
        case TextResult():
            return ""
        case ObjectResult(members=members):
            lines = ["Return one object in the requested format. It contains:"]
            lines += [
                _list_item(outputs, artifact, artifact.file, with_schema=False) for artifact, _ in members.values()
            ]
            return "\n".join(lines)


def _list_item(outputs: ExpectedArtifacts, artifact: DeclaredArtifact, path: str, *, with_schema: bool) -> str:
    line = f"- {path}, in {_format(artifact)}"
    if description := _description(outputs, artifact):
        line += f": {description}"
    schema = schema_of(outputs, artifact) if artifact.format == "json" and with_schema else None
    if schema is not None:
        line += f"\n  It must match this JSON Schema:\n{fenced(encode_json(cast('Any', schema)).decode(), 'json')}"
    return line


def _format(artifact: DeclaredArtifact) -> str:
    return _FORMATS.get(artifact.format or "", f"the format {artifact.format}")


def _member_description(outputs: ExpectedArtifacts, artifact: DeclaredArtifact) -> str:
    description = _description(outputs, artifact)
    return f"The content of {artifact.file}, in {_format(artifact)}." + (f" {description}" if description else "")


def _description(outputs: ExpectedArtifacts, artifact: DeclaredArtifact) -> str:
    for definition in outputs.checkpoint.output.artifacts:
        if definition.name == artifact.name:
            return definition.description
    return ""


def strip_fence(text: str, format: str) -> str:
    """Remove the code fence that models often add around a whole file."""
    found = _FENCED.match(text)
    if found is None or found[1] in found[3]:
        return text
    if format == "md" and found[2].lower() not in ("md", "markdown"):
        return text  # a Markdown file can consist of one code block
    return f"{found[3]}\n"
