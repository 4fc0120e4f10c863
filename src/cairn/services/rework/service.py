"""Send work back to an earlier checkpoint, and rerun stale executions."""

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
from cairn.services.rework.staleness import queries as staleness
from cairn.store import Connection, LoadedRun
from cairn.store.runs.loading import run_of_execution


@dataclass(frozen=True, slots=True)
class ReworkSpec:
    """A rework that a user requests from an execution."""

    execution_id: str  # the requester: awaiting approval or completed
    checkpoint: str  # key or id
    prompt: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReworkImpact:
    """The simulated result of a rework."""

    commit: Commit
    requester: Execution
    replaced: Execution
    created: Execution  # replaces it

    @property
    def requester_waits(self) -> bool:
        return self.commit.decision.run.executions[self.requester.id].state is not self.requester.state


@dataclass(frozen=True, slots=True)
class StartedRework:
    """The new execution, and warnings about its files."""

    execution_id: str
    warnings: tuple[str, ...] = ()


class ReworkService:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def preview(self, connection: Connection, spec: ReworkSpec, actor: Actor) -> ReworkImpact:
        """Simulate the rework."""
        loaded = self._engine.load(connection, run_of_execution(connection, spec.execution_id), lock=False)
        requester, command = loaded.run.executions[spec.execution_id], _command(loaded, spec)
        commit = self._engine.simulate(connection, loaded.facts.run_id, command, self._engine.context(actor.name))
        (created,) = [e for e in commit.decision.run.executions.values() if e.id not in commit.before.run.executions]
        replaced = commit.before.run.index.done[command.key]
        return ReworkImpact(commit, requester, replaced, created)

    async def create(self, spec: ReworkSpec, *, actor: Actor, command_id: UUID | None = None) -> StartedRework:
        """Send the work back. Repeating the command has no effect."""
        loaded = await self._loaded(spec.execution_id)
        return await self._send(loaded, _command(loaded, spec), actor, command_id)

    async def rerun(
        self, execution_id: str, *, reason: str = "", actor: Actor, command_id: UUID | None = None
    ) -> StartedRework:
        """Replace a stale execution with a new one, without a requester."""
        loaded = await self._loaded(execution_id)
        if (
            command_id is not None
            and (new_id := created_id(command_id, loaded.facts.run_id, 1)) in loaded.run.executions
        ):
            return StartedRework(new_id)
        e = loaded.run.executions[execution_id]
        latest = loaded.run.latest(e.key)
        if latest is None or latest.id != e.id:
            raise CommandRefused("Only the current completed execution of a checkpoint can be rerun.")
        if not await self._engine.database.aread(lambda c: staleness.of_executions(c, [execution_id])):
            raise CommandRefused("The execution is up to date. To change it, request a rework.", ("rework",))
        command = RequestRework(e.key, None, reason or "An artifact that it read has a newer version.")
        return await self._send(loaded, command, actor, command_id)

    async def _loaded(self, execution_id: str) -> LoadedRun:
        run_id = await self._engine.database.aread(lambda c: run_of_execution(c, execution_id))
        return await self._engine.read_run(run_id)

    async def _send(
        self, loaded: LoadedRun, command: RequestRework, actor: Actor, command_id: UUID | None
    ) -> StartedRework:
        context, run_id = self._engine.context(actor.name, command_id), loaded.facts.run_id
        new_id = created_id(context.command_id, run_id, 1)
        try:
            commit = await self._engine.send(run_id, command, context)
        except AlreadyApplied:
            return StartedRework(new_id)
        return StartedRework(new_id, tuple(commit.warnings))


def _command(loaded: LoadedRun, spec: ReworkSpec) -> RequestRework:
    for key, place in loaded.places.items():
        if spec.checkpoint in (key, place.checkpoint_id):
            return RequestRework(key, spec.execution_id, spec.reason, spec.prompt)
    keys = ", ".join(loaded.places)
    raise InvalidInput([("/checkpoint", f"This run has no checkpoint '{spec.checkpoint}'. Its checkpoints: {keys}.")])
