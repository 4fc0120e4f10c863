"""Tools that wait for others: an action outside, work sent back, a question to people.

A call of these ends the dispatch. It is recorded, and when others have answered, the turn goes on with what they said:
no worker is held meanwhile, for days if need be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from cairn.runners.agents.toolbox import LONGEST, Tool, ToolError, as_data
from cairn.runners.agents.turns import PendingToolCall

PROPOSE_ACTION, REQUEST_REWORK, ASK_HUMAN = "propose_action", "request_rework", "ask_human"
RISKS = ("low", "medium", "high", "critical")
_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 20_000}


def pausing_tools(names: Sequence[str], work: WorkOrder, found: ResolvedInputs) -> list[Tool]:
    """Those of them that are named. In a test run nobody is asked."""
    tools: list[Tool] = []
    if PROPOSE_ACTION in names:
        tools.append(_propose_action(work))
    if REQUEST_REWORK in names and found.completed:
        tools.append(_request_rework(found))
    if ASK_HUMAN in names and not work.is_test:
        tools.append(_ask_human())
    return tools


# ---- as models see them --------------------------------------------------------------------------------------
def _propose_action(work: WorkOrder) -> Tool:
    known = "\n\n".join(map(_offered, work.action_offers))
    description = (
        "Have something done outside of this work. People or rules decide whether it is done, and may change its"
        " parameters; you are told what was decided, with the parameters that count and what came of it. Say why you"
        " propose it and how sure you are." + (f" Known operations:\n\n{known}" if known else "")
    )
    schema = _object(
        {
            "operation_type": {"type": "string", "minLength": 1, "maxLength": 200},
            "parameters": {"type": "object"},
            "reasoning": {**_TEXT, "description": "Why, for whoever decides."},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "risk_level": {"enum": list(RISKS)},
            "supporting_data": {"description": "What whoever decides should see beside it; any JSON."},
        },
        "operation_type",
        "parameters",
        "reasoning",
    )
    return Tool(PROPOSE_ACTION, description, schema, None, "action", lambda given: _check_action(work, given))


def _offered(operation: ActionOffer) -> str:
    told = f"{operation.name} ({operation.risk} risk)" + (f": {operation.description}" if operation.description else "")
    if operation.schema is not None:
        told += f"\nParameters: {encode_json(operation.schema).decode()}"
    for one in operation.corrections:
        before, after = (encode_json(cast("Any", dict(side))).decode() for side in (one.proposed, one.approved))
        told += f"\nPeople have changed {before} to {after}" + (f", because: {one.reason}" if one.reason else "")
    return told


def _check_action(work: WorkOrder, given: Mapping[str, Any]) -> None:
    """What cannot be decided about is told to whoever proposes it, at once."""
    if work.check_proposal is not None and (told := work.check_proposal(proposal(given, (), None, None))) is not None:
        raise ToolError(told)


def _request_rework(found: ResolvedInputs) -> Tool:
    listed = ", ".join(f"{key} ({source.checkpoint_name})" for key, source in found.completed.items())
    description = (
        "Send work back to an earlier checkpoint of this run and wait until it is done again. Do so only if your own"
        f" task cannot be done well with what you were given. Checkpoints: {listed}."
    )
    schema = _object(
        {
            "checkpoint": {"enum": list(found.completed)},
            "prompt": {**_TEXT, "description": "What is to be done now, in full: it knows nothing of your work."},
            "reason": {**_TEXT, "description": "What is wrong with what is there."},
        },
        "checkpoint",
        "prompt",
        "reason",
    )
    return Tool(REQUEST_REWORK, description, schema, None, "rework")


def _ask_human() -> Tool:
    description = (
        "Ask the people who look after this run, and wait for their answer, which may take hours. Ask only what you"
        " cannot find out or decide yourself, everything at once."
    )
    schema = _object(
        {
            "question": _TEXT,
            "options": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 200},
                "minItems": 2,
                "maxItems": 20,
                "uniqueItems": True,
                "description": "If one of these is to be chosen.",
            },
        },
        "question",
    )
    return Tool(ASK_HUMAN, description, schema, None, "question")


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


# ---- what others have answered -------------------------------------------------------------------------------
def answer_of(waiting: PendingToolCall, work: WorkOrder) -> str | None:
    """What came of a call, for the model; None while nobody has answered it."""
    call = _recorded(waiting, work)
    if call is None or call.result is None:
        return None
    match waiting.tool.waits_for:
        case "action":
            return as_data(
                "What was decided", encode_json(cast("Any", dict(call.result)), indent=True).decode(), "json"
            )
        case "rework":
            return _reworked(call, work)
        case _:
            if call.result.get("declined"):
                return as_data("Nobody answers this", str(call.result.get("reason") or "No reason was given."))
            return as_data(f"{call.result.get('by') or 'A person'} answers", str(call.result.get("answer", "")))


def _reworked(call: RecordedCall, work: WorkOrder) -> str:
    """How it ended, with what there is now."""
    answer, key = dict(call.result or {}), str(call.arguments.get("said", {}).get("checkpoint", ""))
    parts = [as_data(f"The rework of {key}", encode_json(cast("Any", answer), indent=True).decode(), "json")]
    source = work.material.resolved_inputs.completed.get(key)
    left = LONGEST
    for one in source.artifacts if source is not None and answer.get("status") == "completed" else ():
        try:
            text = one.read().decode() if one.size <= left else None
        except UnicodeDecodeError:
            text = None
        if text is not None:
            left -= one.size
            parts.append(as_data(f"{one.name}.{one.format} as it is now", text))
    return "\n\n".join(parts)


def _recorded(waiting: PendingToolCall, work: WorkOrder) -> RecordedCall | None:
    return next((call for call in work.calls if call.arguments.get("place") == dict(waiting.place)), None)


# ---- what the dispatch ends with -----------------------------------------------------------------------------
def outcome_of(
    waiting: PendingToolCall, work: WorkOrder, artifacts: tuple[ProducedFile | StoredFile, ...]
) -> ProposesAction | NeedsRework | NeedsInput:
    said = waiting.arguments
    recorded = _recorded(waiting, work)
    number = recorded.number if recorded is not None else len(work.calls) + 1
    kind = waiting.tool.waits_for
    call = RecordedCall(number, kind, {"place": dict(waiting.place), "said": said}, None)
    match kind:
        case "action":
            return proposal(said, artifacts, call, None)
        case "rework":
            return NeedsRework(said["checkpoint"], said["prompt"], said["reason"], artifacts, call)
        case _:
            return NeedsInput(WaitingOn.QUESTION, dict(call.arguments), call)
