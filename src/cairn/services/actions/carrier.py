"""Carry out actions: by email, HTTP or the tool of another program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cairn.core.action import Action
from cairn.ports import ProposesAction
from cairn.ports.tools import ToolCaller, ToolPin, is_tool_operation
from cairn.services.actions.action_type import ActionType
from cairn.services.actions.resolving import ActionResolver
from cairn.services.actions.transports import SentAction, Transports
from cairn.services.engine.plans import DefinitionCache
from cairn.store import Connection, Database, LoadedRun
from cairn.store.actions import ledger


class ActionCarrier:
    def __init__(
        self,
        database: Database,
        transports: Transports,
        tools: ToolCaller,
        resolver: ActionResolver,
        plans: DefinitionCache,
    ) -> None:
        self._database = database
        self._transports = transports
        self._tools = tools
        self._resolver = resolver
        self._plans = plans

    def refusal(self, action: ActionType, proposed: ProposesAction) -> str | None:
        """Why the action can't be carried out. None if it can."""
        if is_tool_operation(action.name):
            return self._tools.refusal(action.name, proposed.tool)
        return self._transports.refusal(action)

    def blocked(self, connection: Connection, loaded: LoadedRun, action: Action) -> str:
        """Why a resolved action is no longer allowed: its type, host, secret or tool. Empty if it is."""
        e = loaded.run.executions[action.execution]
        definition = self._plans.definition(connection, loaded.facts.pipeline_id, e.definition)
        row = ledger.details_of(connection, action.id)
        if row.content is None:
            return "The request of this action is no longer stored."
        if is_tool_operation(action.operation):
            return self._tools.refusal(action.operation, _pin(row.supporting_data)) or ""
        refusal = self._resolver.check(connection, definition, loaded, action.operation, row.content, row.facts or {})
        return refusal.message if refusal is not None else ""

    async def send(self, action: Action, content: Mapping[str, Any], key: str) -> SentAction:
        """Send a resolved action once."""
        if not is_tool_operation(action.operation):
            return await self._transports.send(action.operation, content, key)
        row = await self._database.aread(lambda c: ledger.details_of(c, action.id))
        called = await self._tools.call(action.operation, dict(content), key, _pin(row.supporting_data))
        return SentAction(called.state.value, called.result)


def _pin(supporting_data: Any) -> ToolPin | None:
    """The version of the tool that the call was proposed for."""
    data = cast("dict[str, Any]", supporting_data) if isinstance(supporting_data, dict) else {}
    tool = cast("dict[str, Any]", data["tool"]) if isinstance(data.get("tool"), dict) else {}
    if not {"server_digest", "tool_digest"} <= tool.keys():
        return None
    return ToolPin(str(tool["server_digest"]), str(tool["tool_digest"]))
