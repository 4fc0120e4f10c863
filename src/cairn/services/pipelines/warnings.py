"""Warnings about a definition that can be saved but would not run as written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from cairn.definitions import CheckpointDefinition, DefinitionError, Finding, PipelineDefinition
from cairn.definitions.findings import errors, warning
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.roles import uses_tool
from cairn.services.agent_library.service import MAX_LISTED_PIPELINES
from cairn.store import Connection, Database, library, pipelines

WEB_SEARCH = "web_search"


def unsupported_fields(
    definition: PipelineDefinition, modes: Collection[str], agents: AgentPolicy
) -> Iterator[Finding]:
    """Warnings about parts of a definition that this server can't run or ignores."""
    for position, checkpoint in enumerate(definition.checkpoints):
        for path, message in _unsupported_in(checkpoint, modes):
            yield warning(f"/checkpoints/{position}/{path}", message)
        if agents.search.mode == "off" and uses_tool(checkpoint, WEB_SEARCH):
            path = f"/checkpoints/{position}/execution/agent_config"
            yield warning(path, "Web search is off, so the checkpoint can't start. Ask an admin to set web_search.")


def _unsupported_in(checkpoint: CheckpointDefinition, modes: Collection[str]) -> Iterator[tuple[str, str]]:
    mode = checkpoint.execution.mode.value
    if mode not in modes:
        yield "execution/mode", f"This server supports only {', '.join(sorted(modes))}. {mode} can't start."
    if checkpoint.loop is not None:
        yield "loop", "Loops are not supported yet. The checkpoint runs once."


def agent_errors(database: Database, check: Callable[[Any], object], name: str) -> list[str]:
    """The pipelines that refer to a library agent and have errors with it, each with its first error.

    `check` raises DefinitionError if a definition has errors with the current library.
    """
    messages: list[str] = []
    for pipeline, definition in database.read(lambda c: _definitions_using(c, name)):
        try:
            check(definition)
        except DefinitionError as error:
            first = errors(error.findings)[0]
            messages.append(f"{pipeline} has an error with this agent: {first.path}: {first.message}")
    return messages[:MAX_LISTED_PIPELINES]


def _definitions_using(connection: Connection, agent: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (
            use.pipeline_name,
            dict(
                pipelines.definition(
                    connection, use.pipeline_id, pipelines.newest_revision(connection, use.pipeline_id)
                )
            ),
        )
        for use in library.uses(connection)
        if use.agent == agent
    ]
