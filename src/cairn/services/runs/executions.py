"""Single executions: started by hand, filled in, tried again, cancelled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from cairn.core.commands import CancelExecution, Command, RetryExecution, StartExecution
from cairn.core.errors import CommandRefused
from cairn.core.states import ApprovalKind, ExecutionState
from cairn.services.actors import Actor
from cairn.services.approvals.service import ApprovalService
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.store import tables as t
from cairn.store.errors import NotFound

_run_of = sa.select(t.checkpoint_executions.c.run_id).where(
    t.checkpoint_executions.c.execution_id == sa.bindparam("execution")
)


class ExecutionService:
    def __init__(self, engine: Engine, approvals: ApprovalService) -> None:
        self._engine = engine
        self._approvals = approvals

    async def start(self, execution_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(execution_id, StartExecution(execution_id), actor, command_id)

    async def start_checkpoint(
        self, run_id: str, checkpoint_id: str, *, actor: Actor, command_id: UUID | None = None
    ) -> tuple[str, Commit]:
        """Start the execution of a checkpoint that waits for it."""
        loaded = await self._engine.read_run(run_id)
        keys = {key for key, place in loaded.places.items() if checkpoint_id in (place.checkpoint_id, key)}
        if not keys:
            raise NotFound("checkpoint in this run", checkpoint_id)
        waiting = [e.id for e in loaded.run.current if e.key in keys and e.state is ExecutionState.PENDING]
        if not waiting:
            raise CommandRefused("No execution of this checkpoint waits for a start.")
        return waiting[0], await self.start(waiting[0], actor=actor, command_id=command_id)

    async def retry(
        self, execution_id: str, *, attempt: int | None = None, actor: Actor, command_id: UUID | None = None
    ) -> Commit:
        """Try a failed one again; named, the attempt must be the one that failed."""
        if attempt is None:
            loaded = await self._engine.read_run(await self.run_of(execution_id))
            attempt = loaded.run.executions[execution_id].attempt
        return await self._send(execution_id, RetryExecution(execution_id, attempt), actor, command_id)

    async def cancel(self, execution_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(execution_id, CancelExecution(execution_id), actor, command_id)

    async def submit(
        self,
        execution_id: str,
        fields: Mapping[str, Any],
        *,
        digest: str | None = None,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> Commit:
        """Fill in the form that an execution waits for."""
        return await self._approvals.decide_pending(
            execution_id,
            "answer",
            kinds=frozenset({ApprovalKind.INPUT}),
            digest=digest,
            fields=fields,
            actor=actor,
            command_id=command_id,
        )

    async def run_of(self, execution_id: str) -> str:
        found = await self._engine.database.aread(
            lambda c: c.execute(_run_of, {"execution": execution_id}).scalar_one_or_none()
        )
        if found is None:
            raise NotFound("execution", execution_id)
        return found

    async def _send(self, execution_id: str, command: Command, actor: Actor, command_id: UUID | None) -> Commit:
        run_id = await self.run_of(execution_id)
        return await self._engine.send(run_id, command, self._engine.context(actor.name, command_id))
