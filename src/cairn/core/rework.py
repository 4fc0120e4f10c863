"""Sending work back to an earlier checkpoint."""

from __future__ import annotations

from typing import Any

from cairn.core.commands import ArtifactRef
from cairn.core.draft import Draft
from cairn.core.errors import CommandRefused
from cairn.core.events import EventType
from cairn.core.execution import Execution, Rework
from cairn.core.run import Run
from cairn.core.settle import begin
from cairn.core.states import LIVE, WaitingOn


def check(run: Run, key: str, asker: Execution | None) -> None:
    if key not in run.plan.by_key:
        raise CommandRefused(f"This run has no checkpoint '{key}'.")
    if run.latest(key) is None:
        raise CommandRefused(f"The checkpoint '{key}' is not completed in this pass, so there is nothing to rework.")
    if key in run.active_keys:
        raise CommandRefused(f"The checkpoint '{key}' is being reworked already.")
    if asker is not None and asker.position <= run.plan[key].position:
        raise CommandRefused("Only an earlier checkpoint can be sent back.")


def over_limit(run: Run, asker: Execution) -> str | None:
    """Which limit a further rework would pass, in words."""
    if run.reworks >= run.plan.max_reworks:
        return f"This run has had {run.reworks} reworks, and no more are allowed."
    if run.rework_depth(asker) >= run.plan.max_rework_depth:
        return f"Reworks already stand {run.rework_depth(asker)} deep, and no deeper is allowed."
    return None


def create_rework(d: Draft, key: str, asker: Execution | None, why: Rework) -> None:
    d.run = d.run.replace(reworks=d.run.reworks + 1)
    d.record(
        EventType.REWORK_REQUESTED,
        asker,
        checkpoint=key,
        reason=why.reason,
        prompt=why.prompt,
        requested_by=why.requested_by,
    )
    e = d.create(key, rework=why, parent_execution=asker.id if asker else None, requires_new_approval=True)
    begin(d, e, by_itself=True)


def notify_requester(d: Draft, e: Execution, ended: str, reason: str = "") -> None:
    """The rework is over, well or not: who asked for it goes on, unless it is done again."""
    asker = d.run.executions.get(e.parent_execution) if e.parent_execution else None
    if asker is None or e.rework is None or asker.waiting_on is not WaitingOn.REWORK:
        return
    if not any(o.is_rework and o.parent_execution == asker.id and o.state in LIVE for o in d.run.current):
        made = e.outputs if ended == "completed" else ()
        _tell(d, asker, e.key, ended, reason, e.rework.requested_by, e.id, made)
        d.make_ready(asker)


def refuse(d: Draft, asker: Execution, key: str, reason: str) -> None:
    """What was asked for is not done: the asker is told, and goes on without."""
    _tell(d, asker, key, "refused", reason, asker.key)
    d.make_ready(asker)


def _tell(
    d: Draft,
    asker: Execution,
    key: str,
    ended: str,
    reason: str,
    requested_by: str,
    execution: str | None = None,
    made: tuple[str, ...] = (),
) -> None:
    d.record(
        EventType.REWORK_ENDED,
        asker,
        checkpoint=key,
        status=ended,
        reason=reason,
        requested_by=requested_by,
        execution_id=execution,
        artifacts=[_artifact(one) for one in d.context.artifacts(made)] if made else [],
    )


def _artifact(of: ArtifactRef) -> dict[str, Any]:
    return {
        "artifact_record_id": of.id,
        "name": of.name,
        "format": of.format,
        "checksum": of.checksum,
        "size_bytes": of.size,
    }


def cancel_with_reworks(d: Draft, e: Execution, why: str) -> None:
    """Open reworks go with the one that asked for them."""
    for child in d.run.current:
        if child.is_rework and child.parent_execution == e.id and child.state in LIVE:
            cancel_with_reworks(d, child, why)
    d.cancel(e, why)
