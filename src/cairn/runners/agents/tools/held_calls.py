"""Calls of tools that need approval. A held call is a proposed action and occupies no worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cairn.documents import encode_json
from cairn.ports import ProducedFile, ProposesAction, RecordedCall, StoredFile, WorkOrder
from cairn.ports.tools import OfferedTool, is_tool_operation
from cairn.runners.agents.deferred_calls import PendingToolCall
from cairn.runners.agents.toolbox import Tool, ToolAnswer, as_data
from cairn.runners.agents.tools.action_results import NOT_DONE
from cairn.runners.processes.child.actions import has_state

MAX_SCHEMA_BYTES = 64 * 1024  # shown and checked with a proposal; a larger one is left to the server


def held_tool(work: WorkOrder, call_site: Mapping[str, str]) -> tuple[Tool, dict[str, Any]] | None:
    """The tool and the arguments of a call that was held before.

    It stays held until its answer arrives, whatever admins have listed or the server has changed since.
    """
    for call in work.calls:
        request: Any = call.arguments.get("request")
        if call.arguments.get("call_site") != dict(call_site) or not isinstance(request, dict):
            continue
        recorded = cast("dict[str, Any]", request)
        if is_tool_operation(str(recorded.get("operation_type"))) and "tool" in recorded:
            offered = OfferedTool(name=recorded["operation_type"], **recorded["tool"])
            return _tool(offered), dict(recorded["parameters"])
    return None


def _tool(offered: OfferedTool) -> Tool:
    return Tool(offered.name, offered.description, dict(offered.schema), waits_for="action", offered=offered)


def held_proposal(
    pending: PendingToolCall, artifacts: tuple[ProducedFile | StoredFile, ...], number: int
) -> ProposesAction:
    """Propose the call as an action whose parameters are exactly the arguments of the tool."""
    offered = pending.tool.offered
    assert offered is not None  # noqa: S101 - only calls of such tools are held
    tool = {"server": "", "server_digest": offered.server_digest, **offered.definition}
    request = {"operation_type": offered.name, "parameters": pending.arguments, "tool": tool}
    call = RecordedCall(number, "action", {"call_site": dict(pending.call_site), "request": request}, None)
    schema: dict[str, Any] = dict(pending.tool.parameters)
    return ProposesAction(
        operation_type=offered.name,
        parameters=pending.arguments,
        supporting_data={
            "tool": {
                "server_digest": offered.pin.server,
                "tool_digest": offered.pin.tool,
                "description": offered.description,
                "schema": schema if len(encode_json(schema)) <= MAX_SCHEMA_BYTES else {"type": "object"},
            }
        },
        artifacts=artifacts,
        call=call,
        tool=offered.pin,
    )


def held_answer(pending: PendingToolCall, call: RecordedCall) -> ToolAnswer:
    """The outcome of a held call, for the model: what was executed, and the tool's result."""
    name = pending.tool.full_name
    outcome: dict[str, Any] = dict(call.result or {})
    result = cast("dict[str, Any]", outcome.get("result") or {})
    executed: dict[str, Any] | None = result.get("arguments", outcome.get("parameters"))
    state = str(outcome.get("state") or outcome.get("outcome") or outcome.get("decision"))
    if state == "test":
        return ToolAnswer(test_answer(name))
    parts: list[str] = []
    if state in ("done", "reused") and executed is not None:
        by_whom = ", which people have changed" if executed != pending.arguments else ""
        parts.append(as_data(f"Executed with these arguments{by_whom}", _json(executed), "json"))
    elif state == "failed":
        parts.append("The call was approved, but it failed.")
    else:
        parts.append(as_data("Decision", _json({**outcome, "result": None}), "json"))
    if isinstance(content := result.get("content"), str):
        parts.append(as_data(f"{'Error' if result.get('is_error') else 'Result'} from {name}", content))
    elif isinstance(error := result.get("error"), str):
        parts.append(as_data(f"Error from {name}", error))
    return ToolAnswer("\n\n".join(parts), is_failed=has_state(outcome) and state in NOT_DONE)


def test_answer(tool: str) -> str:
    """The answer to a call in a test run, in which nothing leaves Cairn."""
    decision = {"decision": "test", "reason": f"This is a test run, so {tool} was not called."}
    return as_data("Decision", _json(decision), "json")


def _json(value: dict[str, Any]) -> str:
    return encode_json(value, indent=True).decode()
