"""What a definition may say and this server does not carry out: kept, and told as a warning rather than passed over."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from cairn.definitions import CheckpointDefinition, DefinitionError, Finding, PipelineDefinition
from cairn.definitions.findings import errors, warning
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.roles import uses_tool
from cairn.services.agent_library.service import SHOWN
from cairn.store import Connection, Database, library
from cairn.store import pipelines as rows

SEARCH = "web_search"


def not_carried_out(definition: PipelineDefinition, modes: Collection[str], agents: AgentPolicy) -> Iterator[Finding]:
    for position, checkpoint in enumerate(definition.checkpoints):
        for path, message in _of_checkpoint(checkpoint, modes):
            yield warning(f"/checkpoints/{position}/{path}", message)
        if agents.search.mode == "off" and uses_tool(checkpoint, SEARCH):
            path = f"/checkpoints/{position}/execution/agent_config"
            yield warning(path, "The setting web_search is off: the checkpoint cannot start before an admin sets it.")


def _of_checkpoint(checkpoint: CheckpointDefinition, modes: Collection[str]) -> Iterator[tuple[str, str]]:
    mode = checkpoint.execution.mode.value
    if mode not in modes:
        yield "execution/mode", f"This server carries out {', '.join(sorted(modes))}: a run with {mode} cannot start."
    if checkpoint.loop is not None:
        yield "loop", "The loop is kept, and the checkpoint is carried out once."


def unfit(database: Database, check: Callable[[Any], object], name: str) -> list[str]:
    """Pipelines that name the agent and could not be saved now, each with its first fault; at most so many.

    `check`: of a definition, with the library as it is now; DefinitionError if it cannot work.
    """
    told: list[str] = []
    for pipeline, definition in database.read(lambda c: _definitions(c, name)):
        try:
            check(definition)
        except DefinitionError as error:
            first = errors(error.findings)[0]
            told.append(f"{pipeline} does not fit it any more: {first.path}: {first.message}")
    return told[:SHOWN]


def _definitions(connection: Connection, name: str) -> list[tuple[str, dict[str, Any]]]:
    named = [use for use in library.uses(connection) if use.agent == name]
    newest = rows.newest_revision
    return [
        (use.pipeline_name, dict(rows.definition(connection, use.pipeline_id, newest(connection, use.pipeline_id))))
        for use in named
    ]
