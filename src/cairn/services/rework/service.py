"""Work that people send back to an earlier checkpoint, and stale work that is done again."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from cairn.core.commands import RequestRework
from cairn.core.draft import created_id
from cairn.core.errors import AlreadyApplied, CommandRefused
from cairn.core.execution import Execution
from cairn.services.actors import Actor
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.services.errors import InvalidInput
from cairn.services.rework import staleness
from cairn.store import Connection, LoadedRun
from cairn.store.runs.loading import run_of_execution


@dataclass(frozen=True, slots=True)
class ReworkSpec:
    """What somebody wants done again, having looked at an execution."""

    execution_id: str  # the asker's: awaiting approval, or completed
    checkpoint: str  # key or id
    prompt: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReworkImpact:
    """What a rework would do, worked out by doing it on paper."""

    commit: Commit
    requester: Execution
    replaced: Execution  # that stands now
    created: Execution  # that is to take its place, as it would begin

    @property
    def requester_waits(self) -> bool:
        return self.commit.decision.run.executions[self.requester.id].state is not self.requester.state


@dataclass(frozen=True, slots=True)
class StartedRework:
    """The execution that does the work again, and what went wrong with its files."""

    execution_id: str
    warnings: tuple[str, ...] = ()


class ReworkService:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def preview(self, connection: Connection, request: ReworkSpec, actor: Actor) -> ReworkImpact:
        """The impact, without touching anything."""
        loaded = self._engine.load(connection, run_of_execution(connection, request.execution_id), lock=False)
        asker, command = loaded.run.executions[request.execution_id], _command(loaded, request)
        commit = self._engine.simulate(connection, loaded.facts.run_id, command, self._engine.context(actor.name))
        (made,) = [e for e in commit.decision.run.executions.values() if e.id not in commit.before.run.executions]
        replaced = commit.before.run.index.done[command.key]
        return ReworkImpact(commit, asker, replaced, made)

    async def create(self, request: ReworkSpec, *, actor: Actor, command_id: UUID | None = None) -> StartedRework:
        """Send the work back. The same command again has sent it back once."""
        loaded = await self._loaded(request.execution_id)
        return await self._send(loaded, _command(loaded, request), actor, command_id)

    async def rerun(
        self, execution_id: str, *, reason: str = "", actor: Actor, command_id: UUID | None = None
    ) -> StartedRework:
        """Do a stale execution again: a new one at its position supersedes it, asked for by no other."""
        loaded = await self._loaded(execution_id)
        if command_id is not None and (made := created_id(command_id, loaded.facts.run_id, 1)) in loaded.run.executions:
            return StartedRework(made)
        e = loaded.run.executions[execution_id]
        stands = loaded.run.latest(e.key)
        if stands is None or stands.id != e.id:
            raise CommandRefused("Only the completed execution that stands for its checkpoint can be done again.")
        if not await self._engine.database.aread(lambda c: staleness.of_executions(c, [execution_id])):
            raise CommandRefused("The execution is up to date: nothing that it read has a newer version.", ("rework",))
        command = RequestRework(e.key, None, reason or "What it read has a newer version.")
        return await self._send(loaded, command, actor, command_id)

    async def _loaded(self, execution_id: str) -> LoadedRun:
        run_id = await self._engine.database.aread(lambda c: run_of_execution(c, execution_id))
        return await self._engine.read_run(run_id)

    async def _send(
        self, loaded: LoadedRun, command: RequestRework, actor: Actor, command_id: UUID | None
    ) -> StartedRework:
        given, run_id = self._engine.context(actor.name, command_id), loaded.facts.run_id
        made = created_id(given.command_id, run_id, 1)
        try:
            commit = await self._engine.send(run_id, command, given)
        except AlreadyApplied:
            return StartedRework(made)
        return StartedRework(made, tuple(commit.warnings))


def _command(loaded: LoadedRun, request: ReworkSpec) -> RequestRework:
    for key, place in loaded.places.items():
        if request.checkpoint in (key, place.checkpoint_id):
            return RequestRework(key, request.execution_id, request.reason, request.prompt)
    known = ", ".join(loaded.places)
    raise InvalidInput([("/checkpoint", f"This run has no checkpoint '{request.checkpoint}'. It has: {known}.")])
