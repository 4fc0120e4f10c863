"""Start, submit, retry and cancel single executions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from cairn.core.commands import CancelExecution, Command, RetryExecution, StartExecution
from cairn.core.errors import CommandRefused
from cairn.core.states import ApprovalKind, ExecutionState
from cairn.services.actors import Actor
from cairn.services.approvals.service import ApprovalService
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.store.errors import NotFound
from cairn.store.runs.loading import run_of_execution


class ExecutionService:
    def __init__(self, engine: Engine, approvals: ApprovalService) -> None:
        self._engine = engine
        self._approvals = approvals

    async def start(self, execution_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(execution_id, StartExecution(execution_id), actor, command_id)

    async def start_checkpoint(
        self, run_id: str, checkpoint_id: str, *, actor: Actor, command_id: UUID | None = None
    ) -> tuple[str, Commit]:
        """Start the pending execution of a checkpoint, given by id or key."""
        loaded = await self._engine.read_run(run_id)
        keys = {key for key, place in loaded.places.items() if checkpoint_id in (place.checkpoint_id, key)}
        if not keys:
            raise NotFound("checkpoint in this run", checkpoint_id)
        pending = [e.id for e in loaded.run.current if e.key in keys and e.state is ExecutionState.PENDING]
        if not pending:
            raise CommandRefused("No execution of this checkpoint is ready to start.")
        return pending[0], await self.start(pending[0], actor=actor, command_id=command_id)

    async def retry(
        self, execution_id: str, *, attempt: int | None = None, actor: Actor, command_id: UUID | None = None
    ) -> Commit:
        """Retry a failed execution. If `attempt` is given, it must be the attempt that failed."""
        if attempt is None:
            loaded = await self._engine.read_run(await self._run_of(execution_id))
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
        """Submit the form that an execution waits for."""
        return await self._approvals.decide_pending(
            execution_id,
            "answer",
            kinds=frozenset({ApprovalKind.INPUT}),
            digest=digest,
            fields=fields,
            actor=actor,
            command_id=command_id,
        )

    async def _run_of(self, execution_id: str) -> str:
        return await self._engine.database.aread(lambda c: run_of_execution(c, execution_id))

    async def _send(self, execution_id: str, command: Command, actor: Actor, command_id: UUID | None) -> Commit:
        run_id = await self._run_of(execution_id)
        return await self._engine.send(run_id, command, self._engine.context(actor.name, command_id))
