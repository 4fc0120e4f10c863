"""Deferred tools: propose an action, request rework, ask a person.

A call ends the dispatch and is recorded. When its result arrives, the execution is dispatched again and the turn
continues with it. No worker is occupied in between, even for days.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from cairn.core.states import WaitingOn
from cairn.documents import encode_json
from cairn.ports import (
    ActionOffer,
    NeedsInput,
    NeedsRework,
    ProducedFile,
    ProposesAction,
    RecordedCall,
    ResolvedInputs,
    StoredFile,
    WorkOrder,
)
from cairn.runners.action_proposals import proposal
from cairn.runners.agents.deferred_calls import PendingToolCall
from cairn.runners.agents.toolbox import MAX_RESULT_CHARACTERS, Tool, ToolAnswer, ToolError, as_data
from cairn.runners.agents.tools.action_results import recorded_action
from cairn.runners.agents.tools.held_calls import held_answer, held_proposal

PROPOSE_ACTION, REQUEST_REWORK, ASK_HUMAN = "propose_action", "request_rework", "ask_human"
RISKS = ("low", "medium", "high", "critical")
_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 20_000}


def deferred_tools(names: Sequence[str], work: WorkOrder, inputs: ResolvedInputs) -> list[Tool]:
    """The deferred tools with these names. Test runs don't ask questions."""
    tools: list[Tool] = []
    if PROPOSE_ACTION in names:
        tools.append(_propose_action(work))
    if REQUEST_REWORK in names and inputs.completed:
        tools.append(_request_rework(inputs))
    if ASK_HUMAN in names and not work.is_test:
        tools.append(_ask_human())
    return tools


# Definitions
def _propose_action(work: WorkOrder) -> Tool:
    known = "\n\n".join(map(_describe, work.action_offers))
    description = (
        "Propose an action outside this run. Rules or people decide whether it is executed, and may change its"
        " parameters. You receive the decision, the final parameters and the outcome. Explain why you propose the"
        " action and how confident you are." + (f" Available operations:\n\n{known}" if known else "")
    )
    schema = object_schema(
        {
            "operation_type": {"type": "string", "minLength": 1, "maxLength": 200},
            "parameters": {"type": "object"},
            "reasoning": {**_TEXT, "description": "The reason, for the people who decide."},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "risk_level": {"enum": list(RISKS)},
            "supporting_data": {"description": "Any further JSON data for the people who decide."},
        },
        "operation_type",
        "parameters",
        "reasoning",
    )
    return Tool(PROPOSE_ACTION, description, schema, None, "action", lambda arguments: _check_action(work, arguments))


def _describe(offer: ActionOffer) -> str:
    """An action type with its parameters and past corrections."""
    text = f"{offer.name} ({offer.risk} risk)" + (f": {offer.description}" if offer.description else "")
    if offer.schema is not None:
        text += f"\nParameters: {encode_json(offer.schema).decode()}"
    if offer.executor == "proposer":
        text += "\nOnce it is approved, you carry it out yourself."
    for correction in offer.corrections:
        proposed, approved = (
            encode_json(cast("Any", dict(side))).decode() for side in (correction.proposed, correction.approved)
        )
        text += f"\nPast correction: {proposed} became {approved}" + (
            f", because: {correction.reason}" if correction.reason else ""
        )
    return text


def _check_action(work: WorkOrder, arguments: Mapping[str, Any]) -> None:
    """Reject an invalid proposal immediately, so that the agent can correct it."""
    if work.check_proposal is None:
        return
    if (problem := work.check_proposal(proposal(arguments, (), None, None))) is not None:
        raise ToolError(problem)


def _request_rework(inputs: ResolvedInputs) -> Tool:
    listed = ", ".join(f"{key} ({source.checkpoint_name})" for key, source in inputs.completed.items())
    description = (
        "Send work back to an earlier checkpoint of this run and wait for the new result. Use this only if you can't do"
        f" your own task well with the inputs you have. Checkpoints: {listed}."
    )
    schema = object_schema(
        {
            "checkpoint": {"enum": list(inputs.completed)},
            "prompt": {**_TEXT, "description": "Complete instructions. The checkpoint does not see your work."},
            "reason": {**_TEXT, "description": "What is wrong with the current result."},
        },
        "checkpoint",
        "prompt",
        "reason",
    )
    return Tool(REQUEST_REWORK, description, schema, None, "rework")


def _ask_human() -> Tool:
    description = (
        "Ask the people in charge of this run and wait for their answer, which may take hours. Ask only what you can't"
        " find out or decide yourself, and ask everything at once."
    )
    schema = object_schema(
        {
            "question": _TEXT,
            "options": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 200},
                "minItems": 2,
                "maxItems": 20,
                "uniqueItems": True,
                "description": "The possible answers, if there is a fixed choice.",
            },
        },
        "question",
    )
    return Tool(ASK_HUMAN, description, schema, None, "question")


def object_schema(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


# Results
def recorded_answer(pending: PendingToolCall, work: WorkOrder) -> ToolAnswer:
    """The recorded result of a call, for the model."""
    call = recorded_call(pending, work)
    if call is None or call.result is None:
        raise LookupError(f"{pending.tool.name} has no result")
    match pending.tool.waits_for:
        case "action" if pending.tool.offered is not None:
            return held_answer(pending, call)
        case "action":
            return recorded_action(call)
        case "rework":
            return ToolAnswer(_rework_result(call, work))
        case _:
            if call.result.get("declined"):
                return ToolAnswer(
                    as_data("Question declined", str(call.result.get("reason") or "No reason was given."))
                )
            by, answer = call.result.get("by") or "a person", str(call.result.get("answer", ""))
            return ToolAnswer(as_data(f"Answer from {by}", answer))


def _rework_result(call: RecordedCall, work: WorkOrder) -> str:
    """The outcome of the rework, with as many of the new artifacts as fit."""
    result, key = dict(call.result or {}), str(call.arguments.get("request", {}).get("checkpoint", ""))
    parts = [as_data(f"Rework of {key}", encode_json(cast("Any", result), indent=True).decode(), "json")]
    source = work.material.resolved_inputs.completed.get(key)
    left = MAX_RESULT_CHARACTERS
    for artifact in source.artifacts if source is not None and result.get("status") == "completed" else ():
        try:
            text = artifact.read().decode() if artifact.size <= left else None
        except UnicodeDecodeError:
            text = None
        if text is not None:
            left -= artifact.size
            parts.append(as_data(f"New version of {artifact.name}.{artifact.format}", text))
    return "\n\n".join(parts)


def recorded_call(pending: PendingToolCall, work: WorkOrder) -> RecordedCall | None:
    return next((call for call in work.calls if call.arguments.get("call_site") == dict(pending.call_site)), None)


# Outcomes
def outcome_of(
    pending: PendingToolCall,
    work: WorkOrder,
    artifacts: tuple[ProducedFile | StoredFile, ...],
    *,
    is_held: bool = False,
) -> ProposesAction | NeedsRework | NeedsInput:
    """The outcome of a dispatch that ends with this call."""
    request = pending.arguments
    recorded = recorded_call(pending, work)
    number = recorded.number if recorded is not None else len(work.calls) + 1
    kind = pending.tool.waits_for
    call = RecordedCall(number, kind, {"call_site": dict(pending.call_site), "request": request}, None)
    if pending.tool.offered is not None:
        return replace(held_proposal(pending, artifacts, number), is_held=is_held)
    match kind:
        case "action":
            return replace(proposal(request, artifacts, call, None), is_held=is_held)
        case "rework":
            return NeedsRework(request["checkpoint"], request["prompt"], request["reason"], artifacts, call)
        case _:
            return NeedsInput(WaitingOn.QUESTION, request, call)
