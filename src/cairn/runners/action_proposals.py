"""A proposed action, as a function or a script says it: what it may say, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cairn.ports import ProducedFile, ProposesAction, RecordedCall, StoredFile

_NAMES = {"rework": "request_rework", "action": "propose_action"}


def call_of(kind: str) -> str:
    """The method of `ctx` that makes such a call."""
    return _NAMES.get(kind, kind)


def checked(
    operation_type: object,
    parameters: object,
    reasoning: object,
    confidence: object,
    risk_level: object,
    supporting_data: object,
) -> dict[str, Any]:
    """The arguments of `propose_action`; what is said in the wrong way is told to whoever wrote the call."""
    if not isinstance(operation_type, str) or not operation_type:
        raise TypeError("propose_action: operation_type is a word, such as 'send_email'")
    if not isinstance(parameters, Mapping):
        raise TypeError(f"propose_action: parameters is a dict, not {type(parameters).__name__}")
    if confidence is not None and _share(confidence) is None:
        raise ValueError("propose_action: confidence is a number from 0 to 1, or None")
    return {
        "operation_type": operation_type,
        "parameters": dict(cast("Mapping[str, Any]", parameters)),
        "reasoning": str(reasoning),
        "confidence": confidence,
        "risk_level": None if risk_level is None else str(risk_level),
        "supporting_data": supporting_data,
    }


def _share(value: object) -> float | None:
    """The value, if it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def proposal(
    said: Mapping[str, Any],
    artifacts: tuple[ProducedFile | StoredFile, ...],
    call: RecordedCall | None,
    seen: bytes | None,
) -> ProposesAction:
    """What was said, as far as it fits: a script's process is not trusted to have checked it."""
    parameters: Any = said.get("parameters")
    return ProposesAction(
        operation_type=str(said.get("operation_type", "")),
        parameters=cast("dict[str, Any]", parameters) if isinstance(parameters, dict) else {},
        reasoning=str(said.get("reasoning", "")),
        confidence=_share(said.get("confidence")),
        risk_level=str(said["risk_level"]) if said.get("risk_level") is not None else None,
        supporting_data=said.get("supporting_data"),
        artifacts=artifacts,
        call=call,
        inputs_content=seen,
    )
