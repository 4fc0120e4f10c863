"""The agent library: built-in agents, and saved agents with all their revisions."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from cairn.core.errors import CommandRefused
from cairn.definitions import (
    AgentError,
    Finding,
    Library,
    LibraryAgent,
    PipelineDefinition,
    builtin_agents,
    read_agent,
    resolve,
    uses_library,
)
from cairn.documents import SourceMap, Value
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import PreconditionFailed
from cairn.store import BoundedCache, Connection, LoadedRun, library
from cairn.store.errors import NotFound

MAX_LISTED_PIPELINES = 20
RESOURCE = "agent in the library"


@dataclass(frozen=True, slots=True)
class StoredAgent:
    """The current revision of an agent."""

    agent: LibraryAgent
    revision: int = 0  # 0: built in
    updated_at: datetime | None = None
    updated_by: str | None = None


class AgentLibraryService:
    def __init__(self, admin_changes: AdminChanges, servers: Collection[str]) -> None:
        """`servers` are the MCP servers in the settings."""
        self._changes = admin_changes
        self._database = admin_changes.database
        self._servers = servers
        self._current: Library | None = None
        self._generation = 0
        self._change_lock = asyncio.Lock()
        self._resolved = BoundedCache[tuple[str, int], PipelineDefinition]()
        admin_changes.on_change(self._forget)

    # Definitions
    def current_agents(self) -> Library:
        """All current agents by name. Saved agents override built-in ones."""
        if (cached := self._current) is not None:
            return cached
        generation = self._generation
        current = self._database.read(agents_at)
        if generation == self._generation:
            self._current = current
        return current

    def _forget(self) -> None:
        self._generation += 1
        self._current = None

    # Runs
    def resolve_for_run(
        self, connection: Connection, loaded: LoadedRun, definition: PipelineDefinition, revision: int
    ) -> PipelineDefinition:
        """Resolve the library agents of a definition, in the revisions from when the run was created."""
        if not uses_library(definition):
            return definition
        at = loaded.facts.created_at
        return self._resolved.get(
            (loaded.facts.run_id, revision), lambda: resolve(definition, agents_at(connection, at))
        )

    def cached_for_run(
        self, loaded: LoadedRun, definition: PipelineDefinition, revision: int
    ) -> PipelineDefinition | None:
        """The resolved definition, if it is cached or refers to no library agent."""
        return self._resolved.find((loaded.facts.run_id, revision)) if uses_library(definition) else definition

    # Changes
    async def save(
        self, name: str, document: Value, *, positions: SourceMap | None, if_match: int | None = None, actor: Actor
    ) -> None:
        """Save the next revision. Saving an equal document changes nothing."""
        agent = read_agent(_with_name(name, document), positions=positions, servers=self._servers)
        if agent.name != name:
            raise AgentError([Finding("/name", f"must be {name!r}, or left out")])

        def write(change: AdminChange) -> None:
            row = library.find(change.connection, name)
            _check_revision(name, row, if_match)
            stored = cast("dict[str, Any]", agent.document)
            if row is not None and row.document == stored:
                return
            revision = row.revision + 1 if row is not None else 1
            library.add(change.connection, name, revision, stored, change.at, change.actor.name)
            change.record("library_agent_saved", agent=name, revision=revision)

        async with self._change_lock:
            await self._changes.apply(write, actor)

    async def remove(self, name: str, *, if_match: int | None = None, actor: Actor) -> None:
        """Delete an agent that is not in use, or one that overrides a built-in agent, which is then restored."""

        def write(change: AdminChange) -> None:
            row = library.find(change.connection, name)
            is_stored = row is not None and row.document is not None
            if not is_stored and name in builtin_agents():
                raise CommandRefused(
                    f"{name} is a built-in agent. You can't delete it. To override it, save an agent with this name."
                )
            if row is None or not is_stored:
                raise NotFound(RESOURCE, name)
            _check_revision(name, row, if_match)
            users = [use for use in library.uses(change.connection) if use.agent == name]
            if users and name not in builtin_agents():
                raise CommandRefused(
                    _in_use(name, [use.pipeline_name for use in users]), ("change the pipelines first",)
                )
            library.add(change.connection, name, row.revision + 1, None, change.at, change.actor.name)
            change.record("library_agent_deleted", agent=name)

        async with self._change_lock:
            await self._changes.apply(write, actor)


def agents_at(connection: Connection, at: datetime | None = None) -> Library:
    """The agents at a time, by default now."""
    return {name: stored.agent for name, stored in stored_agents(connection, at).items()}


def stored_agents(connection: Connection, at: datetime | None = None) -> dict[str, StoredAgent]:
    agents = {name: StoredAgent(agent) for name, agent in builtin_agents().items()}
    for row in library.newest(connection, at):
        if row.document is not None:
            agent = LibraryAgent.parse(row.document)
            agents[row.name] = StoredAgent(agent, row.revision, row.updated_at, row.updated_by)
    return dict(sorted(agents.items()))


def _with_name(name: str, document: Value) -> Value:
    """The document may leave out the name."""
    return {"name": name, **document} if isinstance(document, dict) else document


def _check_revision(name: str, row: Any | None, if_match: int | None) -> None:
    revision = row.revision if row is not None and row.document is not None else 0
    if if_match is not None and if_match != revision:
        raise PreconditionFailed(
            f"{name} has changed: it is at revision {revision}, not {if_match}. Reload it and try again.", revision
        )


def _in_use(name: str, pipelines: list[str]) -> str:
    shown = ", ".join(pipelines[:MAX_LISTED_PIPELINES]) + (
        f" and {len(pipelines) - MAX_LISTED_PIPELINES} more" if len(pipelines) > MAX_LISTED_PIPELINES else ""
    )
    return f"{name} is used by {shown}. You can't delete it."
