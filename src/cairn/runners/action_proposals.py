"""Check the arguments of `propose_action` and convert them into an outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cairn.ports import ProducedFile, ProposesAction, RecordedCall, StoredFile

_NAMES = {"rework": "request_rework", "action": "propose_action"}


def method_name(kind: str) -> str:
    """The name of the `ctx` method that makes calls of this kind."""
    return _NAMES.get(kind, kind)


def check_arguments(
    operation_type: object,
    parameters: object,
    reasoning: object,
    confidence: object,
    risk_level: object,
    supporting_data: object,
) -> dict[str, Any]:
    """The arguments as a dict. Raises TypeError or ValueError if one is invalid."""
    if not isinstance(operation_type, str) or not operation_type:
        raise TypeError("propose_action: operation_type must be a non-empty string, such as 'send_email'")
    if not isinstance(parameters, Mapping):
        raise TypeError(f"propose_action: parameters must be a dict, not {type(parameters).__name__}")
    if confidence is not None and _fraction(confidence) is None:
        raise ValueError("propose_action: confidence must be a number from 0 to 1, or None")
    return {
        "operation_type": operation_type,
        "parameters": dict(cast("Mapping[str, Any]", parameters)),
        "reasoning": str(reasoning),
        "confidence": confidence,
        "risk_level": None if risk_level is None else str(risk_level),
        "supporting_data": supporting_data,
    }


def _fraction(value: object) -> float | None:
    """The value, if it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def proposal(
    arguments: Mapping[str, Any],
    artifacts: tuple[ProducedFile | StoredFile, ...],
    call: RecordedCall | None,
    inputs_content: bytes | None,
) -> ProposesAction:
    """Build the outcome. Invalid arguments are replaced by defaults, because a script's process is not trusted."""
    parameters: Any = arguments.get("parameters")
    return ProposesAction(
        operation_type=str(arguments.get("operation_type", "")),
        parameters=cast("dict[str, Any]", parameters) if isinstance(parameters, dict) else {},
        reasoning=str(arguments.get("reasoning", "")),
        confidence=_fraction(arguments.get("confidence")),
        risk_level=str(arguments["risk_level"]) if arguments.get("risk_level") is not None else None,
        supporting_data=arguments.get("supporting_data"),
        artifacts=artifacts,
        call=call,
        inputs_content=inputs_content,
    )
