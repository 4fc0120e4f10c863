"""Agents of the library that checkpoints name: each is there, and what it says fits."""

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
    for step in outline.checkpoints:
        said = text(step.document, "instructions", "task_prompt")
        first: dict[str, str] = {}
        for way, agent in _agents(step):
            name, called = text(agent, "library_agent"), text(agent, "name")
            found = library.get(name) if name is not None else None
            if name is not None and found is None:
                yield Finding(
                    step.pointer(*way, "library_agent"), unknown_name("agent in the library", name, sorted(library))
                )
            if found is not None and not (said or text(agent, "task_prompt") or found.task_prompt):
                message = f"{name!r} has no task of its own: add `prompt` to the checkpoint, or `task_prompt` here"
                yield Finding(step.pointer(*way), message)
            if found is not None and called is None:
                called = found.display_name
                if called in first:
                    message = f"two agents are called {called!r}: this one and {first[called]}; add `name` to one"
                    yield Finding(step.pointer(*way, "library_agent"), message)
            if called is not None:
                first.setdefault(called, step.pointer(*way))


def with_schemas(document: Value, library: Library) -> Value:
    """With the schemas of agents that work alone, where the checkpoint has none of its own."""
    if not isinstance(document, dict):
        return document
    checkpoints = document.get("checkpoints")
    if not isinstance(checkpoints, list):
        return document
    return {**document, "checkpoints": [_filled(one, library) for one in checkpoints]}


def _filled(checkpoint: Value, library: Library) -> Value:
    if not isinstance(checkpoint, dict):
        return checkpoint
    agent = _single_library_agent(checkpoint, library)
    if agent is None:
        return checkpoint
    filled = dict(checkpoint)
    if agent.input_schema is not None:
        filled.setdefault("input_schema", agent.input_schema)
    made = [one for _, one in objects(checkpoint, "output", "artifacts") if one.get("format") == "json"]
    if agent.output_schema is not None and len(made) == 1 and made[0].get("schema") is None:
        filled.setdefault("output_schema", agent.output_schema)
    return filled


def _single_library_agent(checkpoint: Document, library: Library) -> LibraryAgent | None:
    if text(checkpoint, *_AGENTS, "creation_mode") not in (None, "single"):
        return None
    return library.get(text(checkpoint, *_AGENTS, "agent", "library_agent") or "")


def _agents(step: CheckpointOutline) -> Iterator[tuple[PathParts, Document]]:
    if isinstance(get(step.document, *_AGENTS, "agent"), dict):
        yield (*_AGENTS, "agent"), section(step.document, *_AGENTS, "agent")
    for number, agent in objects(step.document, *_AGENTS, "agents"):
        yield (*_AGENTS, "agents", number), agent
