"""Approved actions are carried out: each at most once, and what nobody knows is asked."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from cairn.core.commands import ActionOutcomeUnknown
from cairn.core.execution import Execution
from cairn.core.states import AGREED, ApprovalKind
from cairn.ports.outbound import NotSent, OutboundError
from cairn.services.actions.catalogue import CARRIED_OUT
from cairn.services.actions.proposals import approved
from cairn.services.actions.transports import ActionTransports
from cairn.services.engine.engine import Engine
from cairn.store import Connection, LoadedRun
from cairn.store import tables as t
from cairn.store.events import chain

log = logging.getLogger(__name__)

WORKER = "worker"
A, P = t.actions.c, t.approvals.c


class ActionExecutor:
    def __init__(self, engine: Engine, ways: ActionTransports) -> None:
        self._engine = engine
        self._ways = ways

    async def carry_out(self, loaded: LoadedRun, e: Execution) -> ActionOutcomeUnknown | None:
        """Before an execution goes on: do what it proposed and people have allowed. The answer is what is in doubt."""
        if e.dispatch == 1:
            return None  # it has proposed nothing yet
        for row in await self._engine.database.aread(lambda c: _open(c, e)):
            doubt = await self._one(loaded, e, row)
            if doubt is not None:
                return ActionOutcomeUnknown(e.id, e.dispatch, doubt)
        return None

    async def _one(self, loaded: LoadedRun, e: Execution, row: Any) -> str | None:
        if row.operation_type not in CARRIED_OUT:
            await self._end(loaded, row, "returned", None)
            return None
        if loaded.facts.is_test:
            await self._end(loaded, row, "test", {"test": True})
            return None
        if row.outcome == "unknown":
            said = await self._engine.database.aread(lambda c: _said(c, e, row))
            if said is None:
                return _doubt(row)  # nobody has been asked yet
            if said.decision == "accept":
                await self._end(loaded, row, "done", {"confirmed_by": said.by})
                return None
        elif row.outcome == "begun":  # the process ended while it was carried out
            await self._end(loaded, row, "unknown", None)
            return _doubt(row)
        return await self._try(loaded, row)

    async def _try(self, loaded: LoadedRun, row: Any) -> str | None:
        parameters = await self._begin(row)
        if parameters is None:
            return None
        try:
            result = await self._ways.go(row.operation_type, parameters, row.idempotency_key, loaded)
        except NotSent as error:
            await self._end(loaded, row, "failed", {"error": str(error)})
            return None
        except OutboundError as error:
            await self._end(loaded, row, "unknown", {"error": str(error)})
            return _doubt(row, str(error))
        await self._end(loaded, row, "done", result)
        return None

    async def _begin(self, row: Any) -> dict[str, Any] | None:
        """Written down before it begins: whoever finds it so does not begin it again."""
        now = self._engine.clock.now()

        def body(connection: Connection) -> dict[str, Any] | None:
            begin = sa.update(t.actions).where(A.approval_id == row.approval_id, A.outcome == row.outcome)
            if connection.execute(begin.values(outcome="begun", begun_at=now)).rowcount != 1:
                return None
            return approved(connection, row.approval_id, row.parameters)

        return await self._engine.database.transact(body)

    async def _end(self, loaded: LoadedRun, row: Any, outcome: str, result: Mapping[str, Any] | None) -> None:
        """With its line in the trail."""
        now, run_id = self._engine.clock.now(), loaded.facts.run_id
        told = chain.EventRecord(
            f"action_{outcome}",
            {"operation_type": row.operation_type, "idempotency_key": row.idempotency_key, "result": result},
            execution_id=row.execution_id,
            approval_id=row.approval_id,
        )

        def body(connection: Connection) -> None:
            end = sa.update(t.actions).where(A.approval_id == row.approval_id)
            connection.execute(end.values(outcome=outcome, result=result, ended_at=now))
            if outcome != "returned":
                chain.append_run_event(connection, run_id, told, WORKER, now)

        async with self._engine.lock(run_id):
            await self._engine.database.transact(body)
            self._engine.forget(run_id)


def _open(connection: Connection, e: Execution) -> list[Any]:
    """Actions of this revision that are allowed and not over, in the order they were proposed."""
    query = (
        sa.select(t.actions)
        .join(t.approvals, P.approval_id == A.approval_id)
        .where(
            A.execution_id == e.id,
            A.revision_iteration == e.revision,
            A.outcome.in_(("proposed", "begun", "unknown")),
            P.status.in_([status.value for status in AGREED]),
        )
        .order_by(A.proposed_at, P.ordinal)
    )
    return list(connection.execute(query))


def _said(connection: Connection, e: Execution, row: Any) -> Any:
    """What people have said about an outcome that nobody knew, and who."""
    d = t.approval_decisions.c
    return connection.execute(
        sa.select(d.decision, d.by)
        .join(t.approvals, P.approval_id == d.approval_id)
        .where(P.execution_id == e.id, P.kind == ApprovalKind.ESCALATION.value, P.asked_at >= row.ended_at)
        .order_by(P.ordinal.desc(), d.position.desc())
        .limit(1)
    ).one_or_none()


def _doubt(row: Any, why: str = "the server stopped while it was carried out") -> str:
    return (
        f"It is not known whether {row.operation_type} was carried out: {why}. Look outside, then say: accept if it"
        " was, retry to carry it out again, fail to give up."
    )
