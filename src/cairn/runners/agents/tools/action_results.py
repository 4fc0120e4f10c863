"""The results of proposed actions, as an agent reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cairn.documents import encode_json
from cairn.ports import HandOver, RecordedCall
from cairn.runners.agents.toolbox import ToolAnswer, as_data
from cairn.runners.processes.child.actions import has_state

REPORT_OUTCOME = "report_outcome"
OPEN, CLOSED = "open_actions", "closed_actions"  # metadata of messages: the numbers of calls
HAND_OVER = (
    "Action {number} ({operation}) is approved, and you carry it out: now, once, and with exactly these parameters."
    " {changed} Then call {report} with action {number}. Do not propose it again."
)
CHANGED, UNCHANGED = "People have changed them.", "They are as you proposed them."
SENTENCES = {
    "done": "The action {operation} was carried out with {parameters}. Do not carry it out or propose it again.",
    "reused": (
        "The action {operation} was not carried out now, because an equal action was carried out before. This is its"
        " result. Do not carry it out or propose it again."
    ),
    "test": "This is a test run, so the action {operation} was not carried out. Continue as if it had been.",
    "unknown": (
        "It is unknown whether the action {operation} was carried out, and people are finding out. Do not carry it out"
        " or propose it again."
    ),
    "failed": (
        "The action {operation} failed: it was not carried out. Do not propose the same action again unless the reason"
        " no longer applies."
    ),
    "refused": (
        "The action {operation} was refused and was not carried out. Do not propose it again. Continue without it, and"
        " say so in your result."
    ),
}
NOT_DONE = frozenset({"failed", "refused", "expired", "withdrawn"})


def recorded_action(call: RecordedCall) -> ToolAnswer:
    """The result of an action that the agent does not carry out."""
    result = dict(call.result or {})
    if not has_state(result):
        return ToolAnswer(as_data("Decision", _json(result), "json"))
    state = str(result["state"])
    is_done = state not in NOT_DONE
    parameters = _parameters(call, result)
    text = SENTENCES[state if state in SENTENCES else "refused"].format(
        operation=_operation(call),
        parameters="these parameters" if parameters is not None else "parameters that people have changed",
    )
    data: dict[str, Any] = {"state": state, "modified": result.get("decision") == "modified"}
    data |= {"parameters": parameters} if is_done else {"reason": result.get("reason")}
    data |= {"result": result.get("result")}
    return ToolAnswer(f"{text}\n\n{as_data('Action', _json(data), 'json')}", is_failed=not is_done)


def handed_over_action(call: RecordedCall, hand_over: HandOver) -> ToolAnswer:
    """An action that the agent carries out now."""
    changed = CHANGED if hand_over["modified"] else UNCHANGED
    text = HAND_OVER.format(number=call.number, operation=_operation(call), changed=changed, report=REPORT_OUTCOME)
    data = {"parameters": hand_over["parameters"], "idempotency_key": hand_over["idempotency_key"]}
    return ToolAnswer(
        f"{text}\n\n{as_data(f'Action {call.number}', _json(data), 'json')}", metadata={OPEN: [call.number]}
    )


def _parameters(call: RecordedCall, result: Mapping[str, Any]) -> Any:
    """The parameters that were executed, or None if people have changed them and they are not known."""
    if "executed" in result:
        return result["executed"]
    request = call.arguments.get("request", {})
    return None if result.get("decision") == "modified" else request.get("parameters")


def _operation(call: RecordedCall) -> str:
    return str(call.arguments.get("request", {}).get("operation_type", ""))


def _json(value: Any) -> str:
    return encode_json(value, indent=True).decode()
