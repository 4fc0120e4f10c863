"""Send work back to an earlier checkpoint."""

from __future__ import annotations

from typing import Any

from cairn.core.commands import ArtifactRef
from cairn.core.draft import Draft
from cairn.core.errors import CommandRefused
from cairn.core.events import EventType
from cairn.core.execution import Execution, Rework
from cairn.core.run import Run
from cairn.core.settle import start
from cairn.core.states import LIVE, WaitingOn


def check(run: Run, key: str, requester: Execution | None) -> None:
    if key not in run.plan.by_key:
        raise CommandRefused(f"This run has no checkpoint '{key}'.")
    if run.latest(key) is None:
        raise CommandRefused(f"Checkpoint '{key}' is not completed in this pass. There is nothing to rework.")
    if key in run.active_keys:
        raise CommandRefused(f"Checkpoint '{key}' is already being reworked.")
    if requester is not None and requester.position <= run.plan[key].position:
        raise CommandRefused("You can only send an earlier checkpoint back.")


def over_limit(run: Run, requester: Execution) -> str | None:
    """The limit that another rework would exceed, as text for people."""
    if run.reworks >= run.plan.max_reworks:
        return f"The run has reached its limit of reworks ({run.plan.max_reworks})."
    if run.rework_depth(requester) >= run.plan.max_rework_depth:
        return f"The run has reached its limit of nested reworks ({run.plan.max_rework_depth})."
    return None


def create_rework(d: Draft, key: str, requester: Execution | None, rework: Rework) -> None:
    d.run = d.run.replace(reworks=d.run.reworks + 1)
    d.record(
        EventType.REWORK_REQUESTED,
        requester,
        checkpoint=key,
        reason=rework.reason,
        prompt=rework.prompt,
        requested_by=rework.requested_by,
    )
    e = d.create(key, rework=rework, parent_execution=requester.id if requester else None, requires_new_approval=True)
    start(d, e, automatic=True)


def notify_requester(d: Draft, e: Execution, status: str, reason: str = "") -> None:
    """Let the requester continue now that its rework has ended, unless another rework of it is open."""
    requester = d.run.executions.get(e.parent_execution) if e.parent_execution else None
    if requester is None or e.rework is None or requester.waiting_on is not WaitingOn.REWORK:
        return
    if not any(o.is_rework and o.parent_execution == requester.id and o.state in LIVE for o in d.run.current):
        outputs = e.outputs if status == "completed" else ()
        _record_end(d, requester, e.key, status, reason, e.rework.requested_by, e.id, outputs)
        d.make_ready(requester)


def refuse(d: Draft, requester: Execution, key: str, reason: str) -> None:
    """Let the requester continue without the rework."""
    _record_end(d, requester, key, "refused", reason, requester.key)
    d.make_ready(requester)


def _record_end(
    d: Draft,
    requester: Execution,
    key: str,
    status: str,
    reason: str,
    requested_by: str,
    execution: str | None = None,
    outputs: tuple[str, ...] = (),
) -> None:
    d.record(
        EventType.REWORK_ENDED,
        requester,
        checkpoint=key,
        status=status,
        reason=reason,
        requested_by=requested_by,
        execution_id=execution,
        artifacts=[_artifact(artifact) for artifact in d.context.artifacts(outputs)] if outputs else [],
    )


def _artifact(artifact: ArtifactRef) -> dict[str, Any]:
    return {
        "artifact_record_id": artifact.id,
        "name": artifact.name,
        "format": artifact.format,
        "checksum": artifact.checksum,
        "size_bytes": artifact.size,
    }


def cancel_with_reworks(d: Draft, e: Execution, reason: str) -> None:
    """Cancel an execution and the open reworks that it requested."""
    for child in d.run.current:
        if child.is_rework and child.parent_execution == e.id and child.state in LIVE:
            cancel_with_reworks(d, child, reason)
    d.cancel(e, reason)
