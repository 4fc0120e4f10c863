"""Convert the arguments of `propose_action` into an outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cairn.ports import ProducedFile, ProposesAction, RecordedCall, StoredFile
from cairn.runners.processes.child.actions import MAX_INSTANCE, fraction

_NAMES = {"rework": "request_rework", "action": "propose_action"}


def method_name(kind: str) -> str:
    """The name of the `ctx` method that makes calls of this kind."""
    return _NAMES.get(kind, kind)


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
        confidence=fraction(arguments.get("confidence")),
        risk_level=str(arguments["risk_level"]) if arguments.get("risk_level") is not None else None,
        supporting_data=arguments.get("supporting_data"),
        artifacts=artifacts,
        call=call,
        inputs_content=inputs_content,
        instance=str(arguments["instance"])[:MAX_INSTANCE] if arguments.get("instance") is not None else None,
    )
