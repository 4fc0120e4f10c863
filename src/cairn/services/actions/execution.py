"""Execute approved actions, each at most once. People resolve an unknown outcome."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, cast

from cairn.core.commands import ActionOutcomeUnknown
from cairn.core.execution import Execution
from cairn.ports.outbound import NotSent, OutboundError
from cairn.ports.tools import CallState, ToolCaller, ToolPin, is_tool_operation
from cairn.services.actions import queries, records
from cairn.services.actions.artifact_transports import ActionTransports
from cairn.services.actions.declared_types import EXECUTED_BY_CAIRN
from cairn.services.engine.engine import Engine
from cairn.store import Connection, LoadedRun
from cairn.store.events import chain

log = logging.getLogger(__name__)

WORKER = "worker"


class ActionExecutor:
    def __init__(
        self,
        engine: Engine,
        transports: ActionTransports,
        tools: ToolCaller,
        on_outcome: Callable[[Connection, str], object],
    ) -> None:
        """`on_outcome` is called with the approval in the transaction that saves the outcome of its action."""
        self._engine = engine
        self._transports = transports
        self._tools = tools
        self._on_outcome = on_outcome

    async def execute(self, loaded: LoadedRun, e: Execution) -> ActionOutcomeUnknown | None:
        """Execute the approved actions of an execution before it continues. Stop at the first unknown outcome."""
        if e.dispatch == 1:
            return None  # nothing proposed yet
        for row in await self._engine.database.aread(lambda c: queries.open_actions(c, e)):
            question = await self._execute_action(loaded, e, row)
            if question is not None:
                return ActionOutcomeUnknown(e.id, e.dispatch, question)
        return None

    async def _execute_action(self, loaded: LoadedRun, e: Execution, row: Any) -> str | None:
        """Execute an action. Return a question for people if its outcome is unknown."""
        if row.operation_type not in EXECUTED_BY_CAIRN and not is_tool_operation(row.operation_type):
            await self._save_outcome(loaded, row, "returned", None)
            return None
        if loaded.facts.is_test:
            await self._save_outcome(loaded, row, "test", {"test": True})
            return None
        if row.outcome == "unknown":
            decided = await self._engine.database.aread(lambda c: queries.escalation_decision(c, e, row.ended_at))
            if decided is None:
                return _outcome_question(row)
            if decided.decision == "accept":
                await self._save_outcome(loaded, row, "done", {"confirmed_by": decided.by})
                return None
        elif row.outcome == "started":  # the process ended during its execution
            await self._save_outcome(loaded, row, "unknown", None)
            return _outcome_question(row)
        return await self._send(loaded, row)

    async def _send(self, loaded: LoadedRun, row: Any) -> str | None:
        parameters = await self._mark_started(row)
        if parameters is None:
            return None
        if is_tool_operation(row.operation_type):
            return await self._call_tool(loaded, row, parameters)
        try:
            result = await self._transports.send(row.operation_type, parameters, row.idempotency_key, loaded)
        except NotSent as error:
            await self._save_outcome(loaded, row, "failed", {"error": str(error)})
            return None
        except OutboundError as error:
            await self._save_outcome(loaded, row, "unknown", {"error": str(error)})
            return _outcome_question(row, str(error))
        await self._save_outcome(loaded, row, "done", result)
        return None

    async def _call_tool(self, loaded: LoadedRun, row: Any, arguments: dict[str, Any]) -> str | None:
        called = await self._tools.call(row.operation_type, arguments, row.idempotency_key, tool_pin(row))
        await self._save_outcome(loaded, row, called.state.value, called.result)
        if called.state is not CallState.UNKNOWN:
            return None
        return _outcome_question(row, str(called.result.get("error") or called.result.get("content") or "no answer"))

    async def _mark_started(self, row: Any) -> dict[str, Any] | None:
        """Record the start first, so that an action is never executed twice. None if another worker was faster."""
        now = self._engine.clock.now()

        def body(connection: Connection) -> dict[str, Any] | None:
            if not records.mark_started(connection, row.approval_id, row.outcome, now):
                return None
            return queries.approved_parameters(connection, row.approval_id, row.parameters)

        return await self._engine.database.transact(body)

    async def _save_outcome(self, loaded: LoadedRun, row: Any, outcome: str, result: Mapping[str, Any] | None) -> None:
        now, run_id = self._engine.clock.now(), loaded.facts.run_id
        event = chain.EventRecord(
            f"action_{outcome}",
            {"operation_type": row.operation_type, "idempotency_key": row.idempotency_key, "result": result},
            execution_id=row.execution_id,
            approval_id=row.approval_id,
        )

        def body(connection: Connection) -> None:
            records.save_outcome(connection, row.approval_id, outcome, result, now)
            if outcome != "returned":
                chain.append_run_event(connection, run_id, event, WORKER, now)
            self._on_outcome(connection, row.approval_id)

        async with self._engine.lock(run_id):
            await self._engine.database.transact(body)
            self._engine.forget(run_id)


def tool_pin(row: Any) -> ToolPin | None:
    """The version of the tool that the call was proposed for."""
    data: Any = row.supporting_data
    tool: dict[str, str] | None = cast("dict[str, Any]", data).get("tool") if isinstance(data, dict) else None
    return None if tool is None else ToolPin(tool["server_digest"], tool["tool_digest"])


def _outcome_question(row: Any, reason: str = "the server stopped during its execution") -> str:
    return (
        f"The outcome of {row.operation_type} is unknown: {reason}. Check whether it happened, then decide: accept if"
        " it did, retry to execute it again, or fail to give up."
    )
