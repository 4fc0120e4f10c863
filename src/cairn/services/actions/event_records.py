"""Events of actions in the audit log."""

from __future__ import annotations

from typing import Any

from cairn.core.action import Action
from cairn.core.states import ActionState
from cairn.store.events.chain import EventRecord


def state_event(action: Action, **detail: Any) -> EventRecord:
    """The event of a new state, such as `action_started`."""
    metadata: dict[str, Any] = {
        "action_id": action.id,
        "operation_type": action.operation,
        "content_digest": action.content_digest,
        "generation": action.generation,
    }
    if action.reason:
        metadata["reason"] = action.reason
    match action.state:
        case ActionState.APPROVED:
            metadata |= {"approved_by": action.approved_by, "occurrence": action.occurrence}
        case ActionState.STARTED | ActionState.HANDED_OVER:
            metadata |= {"approved_by": action.approved_by, "occurrence": action.occurrence, "sends": action.sends}
        case ActionState.DONE | ActionState.FAILED | ActionState.UNKNOWN:
            metadata |= {"result": action.result, "reported_by": action.reported_by}
        case ActionState.REUSED:
            metadata |= {"reused_of": action.reused_of}
        case _:
            pass
    return EventRecord(
        f"action_{action.state.value}",
        metadata | detail,
        execution_id=action.execution,
        checkpoint_id=action.place.checkpoint,
    )
