"""Agents of the library that checkpoints name: each is there, and what it says fits."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.definitions.findings import Finding
from cairn.definitions.frozen_model import Document
from cairn.definitions.library_agents import Library, LibraryAgent
from cairn.definitions.outline import CheckpointOutline, DefinitionOutline, no_such
from cairn.definitions.raw_document import look, objects, section, text
from cairn.documents import Value

_AGENTS = ("execution", "agent_config")
Way = tuple[str | int, ...]


def check_library(outline: DefinitionOutline, library: Library) -> Iterator[Finding]:
    for step in outline.steps:
        said = text(step.document, "instructions", "task_prompt")
        first: dict[str, str] = {}
        for way, agent in _agents(step):
            name, called = text(agent, "library_agent"), text(agent, "name")
            found = library.get(name) if name is not None else None
            if name is not None and found is None:
                yield Finding(step.at(*way, "library_agent"), no_such("agent in the library", name, sorted(library)))
            if found is not None and not (said or text(agent, "task_prompt") or found.task_prompt):
                message = f"{name!r} has no task of its own: add `prompt` to the checkpoint, or `task_prompt` here"
                yield Finding(step.at(*way), message)
            if found is not None and called is None:
                called = found.called
                if called in first:
                    message = f"two agents are called {called!r}: this one and {first[called]}; add `name` to one"
                    yield Finding(step.at(*way, "library_agent"), message)
            if called is not None:
                first.setdefault(called, step.at(*way))


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
    agent = _alone(checkpoint, library)
    if agent is None:
        return checkpoint
    filled = dict(checkpoint)
    if agent.input_schema is not None:
        filled.setdefault("input_schema", agent.input_schema)
    made = [one for _, one in objects(checkpoint, "output", "artifacts") if one.get("format") == "json"]
    if agent.output_schema is not None and len(made) == 1 and made[0].get("schema") is None:
        filled.setdefault("output_schema", agent.output_schema)
    return filled


def _alone(checkpoint: Document, library: Library) -> LibraryAgent | None:
    if text(checkpoint, *_AGENTS, "creation_mode") not in (None, "single"):
        return None
    return library.get(text(checkpoint, *_AGENTS, "agent", "library_agent") or "")


def _agents(step: CheckpointOutline) -> Iterator[tuple[Way, Document]]:
    if isinstance(look(step.document, *_AGENTS, "agent"), dict):
        yield (*_AGENTS, "agent"), section(step.document, *_AGENTS, "agent")
    for number, agent in objects(step.document, *_AGENTS, "agents"):
        yield (*_AGENTS, "agents", number), agent
