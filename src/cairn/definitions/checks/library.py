"""Check the library agents that checkpoints use."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.definitions.findings import Finding
from cairn.definitions.frozen_model import Document
from cairn.definitions.library_agents import Library, LibraryAgent
from cairn.definitions.outline import CheckpointOutline, DefinitionOutline, unknown_name
from cairn.definitions.raw_document import get, objects, section, text
from cairn.documents import Value

_AGENTS = ("execution", "agent_config")
PathParts = tuple[str | int, ...]


def check_library(outline: DefinitionOutline, library: Library) -> Iterator[Finding]:
    for checkpoint in outline.checkpoints:
        task = text(checkpoint.document, "instructions", "task_prompt")
        first: dict[str, str] = {}  # the pointer of the first agent of each name
        for path, agent in _agents(checkpoint):
            name, display_name = text(agent, "library_agent"), text(agent, "name")
            found = library.get(name) if name is not None else None
            if name is not None and found is None:
                yield Finding(
                    checkpoint.pointer(*path, "library_agent"), unknown_name("library agent", name, sorted(library))
                )
            if found is not None and not (task or text(agent, "task_prompt") or found.task_prompt):
                message = f"{name!r} has no task: add `prompt` to the checkpoint or `task_prompt` here"
                yield Finding(checkpoint.pointer(*path), message)
            if found is not None and display_name is None:
                display_name = found.display_name
                if display_name in first:
                    message = f"duplicate agent name {display_name!r}, also used by {first[display_name]}: add `name`"
                    yield Finding(checkpoint.pointer(*path, "library_agent"), message)
            if display_name is not None:
                first.setdefault(display_name, checkpoint.pointer(*path))


def with_schemas(document: Value, library: Library) -> Value:
    """Give checkpoints without schemas the schemas of their library agent, if it is their only agent."""
    if not isinstance(document, dict):
        return document
    checkpoints = document.get("checkpoints")
    if not isinstance(checkpoints, list):
        return document
    return {**document, "checkpoints": [_with_schemas(checkpoint, library) for checkpoint in checkpoints]}


def _with_schemas(checkpoint: Value, library: Library) -> Value:
    if not isinstance(checkpoint, dict):
        return checkpoint
    agent = _single_library_agent(checkpoint, library)
    if agent is None:
        return checkpoint
    filled = dict(checkpoint)
    if agent.input_schema is not None:
        filled.setdefault("input_schema", agent.input_schema)
    artifacts = [artifact for _, artifact in objects(checkpoint, "output", "artifacts")]
    json_artifacts = [artifact for artifact in artifacts if artifact.get("format") == "json"]
    if agent.output_schema is not None and len(json_artifacts) == 1 and json_artifacts[0].get("schema") is None:
        filled.setdefault("output_schema", agent.output_schema)
    return filled


def _single_library_agent(checkpoint: Document, library: Library) -> LibraryAgent | None:
    if text(checkpoint, *_AGENTS, "creation_mode") not in (None, "single"):
        return None
    return library.get(text(checkpoint, *_AGENTS, "agent", "library_agent") or "")


def _agents(checkpoint: CheckpointOutline) -> Iterator[tuple[PathParts, Document]]:
    if isinstance(get(checkpoint.document, *_AGENTS, "agent"), dict):
        yield (*_AGENTS, "agent"), section(checkpoint.document, *_AGENTS, "agent")
    for number, agent in objects(checkpoint.document, *_AGENTS, "agents"):
        yield (*_AGENTS, "agents", number), agent
