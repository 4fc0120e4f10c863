"""Read and check library agents."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias, cast

import jsonschema_rs
from pydantic import Field

from cairn.definitions.findings import AgentError, Finding
from cairn.definitions.frozen_model import DefinitionModel, JsonSchema
from cairn.definitions.json_schema.messages import explain
from cairn.definitions.json_schema.validator import SchemaError, compile_schema, reject_fetch
from cairn.definitions.outline import unknown_server
from cairn.definitions.published_schemas import full_schema
from cairn.documents import SourceMap, Value, decode_json
from cairn.documents.pointers import child, join

_MCP = "mcp:"


class LibraryAgent(DefinitionModel):
    name: str
    title: str | None = None
    description: str = ""
    role: str | None = None
    system_prompt: str | None = None
    task_prompt: str | None = None
    tools: tuple[str, ...] | None = None
    model: str | None = None
    model_settings: dict[str, Any] = Field(default_factory=dict)
    input_schema: JsonSchema | None = None
    output_schema: JsonSchema | None = None

    @property
    def display_name(self) -> str:
        return self.title or self.name


Library: TypeAlias = Mapping[str, LibraryAgent]


@cache
def agent_schema() -> dict[str, Any]:
    """The published schema of a library agent."""
    text = files("cairn.definitions").joinpath("agents", "schema.json").read_bytes()
    return {**cast("dict[str, Any]", decode_json(text)), "$defs": full_schema()["$defs"]}


@cache
def _validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(
        agent_schema(), validate_formats=True, retriever=reject_fetch, pattern_options=jsonschema_rs.RegexOptions()
    )


def read_agent(
    document: Value, *, positions: SourceMap | None = None, servers: Collection[str] | None = None
) -> LibraryAgent:
    """Read an agent. Raises AgentError with all findings. Without `servers`, any server name is valid."""
    positions = positions or SourceMap()
    findings = list(dict.fromkeys(_check(document, positions, servers)))
    if findings or not isinstance(document, dict):
        raise AgentError(sorted(findings, key=lambda finding: (finding.line or 0, finding.column or 0)))
    return LibraryAgent.parse({key: value for key, value in document.items() if key != "$schema"})


def _check(document: Value, positions: SourceMap, servers: Collection[str] | None) -> Iterator[Finding]:
    invalid_keys = set[str]()
    for error in _validator().iter_errors(document):
        path = join(error.instance_path)
        invalid_keys.add(path.split("/")[1] if path else "")
        for text, key in explain(error, agent_schema()):
            yield _located(path, text, positions, key)
    if not isinstance(document, dict):
        return
    for name in ("input_schema", "output_schema"):
        schema = document.get(name)
        try:
            if isinstance(schema, dict | bool) and name not in invalid_keys:
                compile_schema(cast("JsonSchema", schema))
        except SchemaError as error:
            yield _located(f"/{name}{error.path}", error.message, positions)
    tools = document.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else []):
        server = tool.removeprefix(_MCP).partition("/")[0] if isinstance(tool, str) and tool.startswith(_MCP) else None
        if servers is not None and server is not None and server not in servers:
            yield _located(join(("tools", index)), unknown_server(server, servers), positions)


def _located(path: str, message: str, positions: SourceMap, key: str | None = None) -> Finding:
    position = positions.value(path) if key is None else positions.key(child(path, key))
    finding = Finding(path, message)
    return replace(finding, line=position.line, column=position.column) if position else finding
