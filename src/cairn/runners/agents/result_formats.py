"""The result that is asked of an agent: files that it writes, one text, or one object with everything in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.model import CheckpointDefinition
from cairn.documents import encode_json
from cairn.runners.agents.schema_embedding import embed
from cairn.runners.expected_artifacts import RULING, DeclaredArtifact, ExpectedArtifacts, expected
from cairn.runners.mismatches import Mismatch, check
from cairn.runners.prompt_layouts import fenced
from cairn.runners.staging import Staging

STAGING = "artifacts_staging"  # as an agent names it, and as it is called on disk
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
_WRAPPED = re.compile(r"\A\s*(`{3,}|~{3,})([A-Za-z0-9_+-]*)[ \t]*\n(.*?)\n?\1\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextResult:
    """The answer is the file."""

    declared: DeclaredArtifact

    def put(self, text: str, staging: Staging) -> None:
        staging.put(self.declared.name, unwrapped(text, self.declared.format or ""))


@dataclass(frozen=True, slots=True)
class ObjectResult:
    """The answer is an object: the one JSON artifact, or a member for each artifact."""

    schema: dict[str, Any]
    members: Mapping[str, tuple[DeclaredArtifact, JsonSchema | None]]
    is_whole: bool

    def check(self, value: Any) -> list[Mismatch]:
        """What in the answer does not fit."""
        if self.is_whole:
            ((declared, _),) = self.members.values()
            return check(self.schema, value, declared.file)
        if not isinstance(value, dict):
            return [Mismatch("result", "expected an object with a member for each file")]
        found: list[Mismatch] = []
        for key, (declared, schema) in self.members.items():
            if key not in value:
                found.append(Mismatch(declared.file, f"expected its content as {key!r}, which is missing"))
            elif schema is not None:
                found += check(schema, cast("Any", value[key]), declared.file)
        for key in cast("dict[str, Any]", value):
            if key not in self.members:
                found.append(Mismatch("result", f"{key!r} is not asked for: leave it out"))
        return found

    def put(self, value: Any, staging: Staging) -> None:
        given = {next(iter(self.members)): value} if self.is_whole else value
        for key, (declared, _) in self.members.items():
            if not isinstance(given, dict) or key not in given:
                continue
            content: Any = cast("dict[str, Any]", given)[key]
            if declared.format == "json":
                staging.put_json(declared.name, encode_json(content), type(content).__name__)
            else:
                staging.put(declared.name, content)


@dataclass(frozen=True, slots=True)
class FilesResult:
    """The agent writes the files itself."""

    declared: tuple[DeclaredArtifact, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.file for one in self.declared)


Result = TextResult | ObjectResult | FilesResult


def result_of(checkpoint: CheckpointDefinition, *, writes: bool) -> Result:
    """What is asked for; `writes`: the agent has tools to write files."""
    wanted = expected(checkpoint)
    artifacts = tuple(wanted.artifacts.values())
    if writes and any(one.required for one in artifacts):
        return FilesResult(artifacts)
    if len(artifacts) == 1 and artifacts[0].format != "json":
        return TextResult(artifacts[0])
    if len(artifacts) == 1 and isinstance(schema := schema_of(wanted, artifacts[0]), dict) and _is_object(schema):
        return ObjectResult(schema, {artifacts[0].name: (artifacts[0], schema)}, is_whole=True)
    return _several(wanted, artifacts)


def schema_of(wanted: ExpectedArtifacts, one: DeclaredArtifact) -> JsonSchema | None:
    """What a JSON artifact has to fit, as far as it can be told beforehand."""
    schema, checkpoint = one.schema, wanted.checkpoint
    if len(wanted.json) != 1:
        return schema
    if schema is None:
        schema = checkpoint.output_schema
    if not checkpoint.decides or not isinstance(schema, dict):
        return RULING if checkpoint.decides and schema is None else schema
    ruling = cast("dict[str, Any]", RULING)
    return schema | {
        "properties": {**ruling["properties"], **schema.get("properties", {})},
        "required": list(dict.fromkeys((*ruling["required"], *schema.get("required", [])))),
    }


def _is_object(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "object"


def _several(wanted: ExpectedArtifacts, artifacts: Sequence[DeclaredArtifact]) -> ObjectResult:
    members: dict[str, tuple[DeclaredArtifact, JsonSchema | None]] = {}
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for one in artifacts:
        key = _key(one, members)
        schema = schema_of(wanted, one) if one.format == "json" else {"type": "string"}
        members[key] = (one, schema)
        shown, hoisted = embed(schema if isinstance(schema, dict) else {}, key)
        properties[key] = {"description": _described(wanted, one), **shown}
        definitions |= hoisted
    required = [key for key, (one, _) in members.items() if one.required] or list(members)
    whole = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return ObjectResult(whole | ({"$defs": definitions} if definitions else {}), members, is_whole=False)


def _key(one: DeclaredArtifact, taken: Mapping[str, Any]) -> str:
    """A name that every provider takes."""
    key = _NOT_IN_KEYS.sub("_", one.name)[:60] or "file"
    while key in taken:
        key += "_"
    return key


# ---- in words ------------------------------------------------------------------------------------------
def told(checkpoint: CheckpointDefinition, *, writes: bool) -> str:
    """What an agent is told about the result; nothing where its answer is kept as it comes."""
    wanted = expected(checkpoint)
    match result_of(checkpoint, writes=writes):
        case FilesResult(declared):
            lines = [f"Write these files, each whole, with the tools; in {STAGING} there is to be nothing else:"]
            lines += [_listed(wanted, one, f"{STAGING}/{one.file}", with_schema=True) for one in declared]
            return "\n".join([*lines, "When all of them are there, end with a few words on what you have done."])
        case TextResult(one) if one.required:
            about = _description(wanted, one)
            return (
                f"Your answer is the content of {one.file}, in {_format(one)}, whole and as it is: no words around it,"
                f" no fence around it." + (f" What is in it: {about}" if about else "")
            )
        case TextResult():
            return ""
        case ObjectResult(members=members):
            lines = ["Your answer is one object, in the form that is asked for. It holds:"]
            lines += [_listed(wanted, one, one.file, with_schema=False) for one, _ in members.values()]
            return "\n".join(lines)


def _listed(wanted: ExpectedArtifacts, one: DeclaredArtifact, path: str, *, with_schema: bool) -> str:
    line = f"- {path}, in {_format(one)}"
    if about := _description(wanted, one):
        line += f": {about}"
    schema = schema_of(wanted, one) if one.format == "json" and with_schema else None
    if schema is not None:
        line += f"\n  It fits this JSON Schema:\n{fenced(encode_json(cast('Any', schema)).decode(), 'json')}"
    return line


def _format(one: DeclaredArtifact) -> str:
    return _FORMATS.get(one.format or "", f"the format {one.format}")


def _described(wanted: ExpectedArtifacts, one: DeclaredArtifact) -> str:
    about = _description(wanted, one)
    return f"The content of {one.file}, in {_format(one)}." + (f" {about}" if about else "")


def _description(wanted: ExpectedArtifacts, one: DeclaredArtifact) -> str:
    for artifact in wanted.checkpoint.output.artifacts:
        if artifact.name == one.name:
            return artifact.description
    return ""


def unwrapped(text: str, format: str) -> str:
    """Without the fence that models like to put around a whole file."""
    found = _WRAPPED.match(text)
    if found is None or found[1] in found[3]:
        return text
    if format == "md" and found[2].lower() not in ("md", "markdown"):
        return text  # the document may be just that
    return f"{found[3]}\n"
