"""The agent library: agents that came with Cairn and those that people save, as they are and as they were."""

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

SHOWN = 20  # pipelines that an answer names
WHAT = "agent in the library"


@dataclass(frozen=True, slots=True)
class StoredAgent:
    """An agent as it stands now."""

    agent: LibraryAgent
    revision: int = 0  # 0: as it came with Cairn
    updated_at: datetime | None = None
    updated_by: str | None = None


class AgentLibraryService:
    def __init__(self, admin_changes: AdminChanges, servers: Collection[str]) -> None:
        """`servers`: of tools, that the settings name."""
        self._changes = admin_changes
        self._database = admin_changes.database
        self._servers = servers
        self._now: Library | None = None
        self._generation = 0
        self._changing = asyncio.Lock()
        self._of_runs = BoundedCache[tuple[str, int], PipelineDefinition]()
        admin_changes.on_change(self._forget)

    # ---- for definitions -----------------------------------------------------------------------------
    def now(self) -> Library:
        """Every agent by name: people's own stand before those that came with Cairn."""
        if (known := self._now) is not None:
            return known
        generation = self._generation
        read = self._database.read(as_it_stood)
        if generation == self._generation:
            self._now = read
        return read

    def _forget(self) -> None:
        self._generation += 1
        self._now = None

    # ---- for runs ------------------------------------------------------------------------------------
    def of_run(
        self, connection: Connection, loaded: LoadedRun, definition: PipelineDefinition, revision: int
    ) -> PipelineDefinition:
        """The definition with the agents put in as they stood when the run was made: it never sees others."""
        if not uses_library(definition):
            return definition
        at = loaded.facts.created_at
        return self._of_runs.get(
            (loaded.facts.run_id, revision), lambda: resolve(definition, as_it_stood(connection, at))
        )

    def known_of_run(
        self, loaded: LoadedRun, definition: PipelineDefinition, revision: int
    ) -> PipelineDefinition | None:
        """The same, if it takes no reading."""
        return self._of_runs.find((loaded.facts.run_id, revision)) if uses_library(definition) else definition

    # ---- changes -------------------------------------------------------------------------------------
    async def save(
        self, name: str, document: Value, *, positions: SourceMap | None, if_match: int | None = None, actor: Actor
    ) -> None:
        """The next revision; the same again changes nothing."""
        agent = read_agent(_named(name, document), positions=positions, servers=self._servers)
        if agent.name != name:
            raise AgentError([Finding("/name", f"it is saved as {name!r}: say the same, or leave the name out")])

        def write(change: AdminChange) -> None:
            row = library.find(change.connection, name)
            _expect(name, row, if_match)
            kept = cast("dict[str, Any]", agent.document)
            if row is not None and row.document == kept:
                return
            revision = row.revision + 1 if row is not None else 1
            library.add(change.connection, name, revision, kept, change.at, change.actor.name)
            change.record("library_agent_saved", agent=name, revision=revision)

        async with self._changing:
            await self._changes.apply(write, actor)

    async def remove(self, name: str, *, if_match: int | None = None, actor: Actor) -> None:
        """One that stood before an agent of Cairn's gives its place back; any other is refused while it is used."""

        def write(change: AdminChange) -> None:
            row = library.find(change.connection, name)
            is_there = row is not None and row.document is not None
            if not is_there and name in builtin_agents():
                raise CommandRefused(
                    f"{name} comes with Cairn: it cannot be removed. Save your own under its name instead."
                )
            if row is None or not is_there:
                raise NotFound(WHAT, name)
            _expect(name, row, if_match)
            users = [use for use in library.uses(change.connection) if use.agent == name]
            if users and name not in builtin_agents():
                raise CommandRefused(_used(name, [use.pipeline_name for use in users]), ("change the pipelines first",))
            library.add(change.connection, name, row.revision + 1, None, change.at, change.actor.name)
            change.record("library_agent_removed", agent=name)

        async with self._changing:
            await self._changes.apply(write, actor)


def as_it_stood(connection: Connection, at: datetime | None = None) -> Library:
    """What could be used then; without a time, now."""
    return {name: standing.agent for name, standing in standings(connection, at).items()}


def standings(connection: Connection, at: datetime | None = None) -> dict[str, StoredAgent]:
    found = {name: StoredAgent(agent) for name, agent in builtin_agents().items()}
    for row in library.newest(connection, at):
        if row.document is not None:
            agent = LibraryAgent.parse(row.document)
            found[row.name] = StoredAgent(agent, row.revision, row.updated_at, row.updated_by)
    return dict(sorted(found.items()))


def _named(name: str, document: Value) -> Value:
    """The name may be left out, where the address says it."""
    return {"name": name, **document} if isinstance(document, dict) else document


def _expect(name: str, row: Any | None, if_match: int | None) -> None:
    revision = row.revision if row is not None and row.document is not None else 0
    if if_match is not None and if_match != revision:
        raise PreconditionFailed(
            f"Somebody has changed {name} since: it is at revision {revision}, not {if_match}.", revision
        )


def _used(name: str, pipelines: list[str]) -> str:
    shown = ", ".join(pipelines[:SHOWN]) + (f" and {len(pipelines) - SHOWN} more" if len(pipelines) > SHOWN else "")
    return f"{name} is used by {shown}: it cannot be removed."
