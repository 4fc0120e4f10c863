"""The reworks of a run, and the preview of a rework."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from cairn.core.execution import Execution, Rework
from cairn.core.run import Run
from cairn.core.states import ApprovalStatus, ExecutionState, RunStatus
from cairn.services.rework.staleness.queries import RESULTS
from cairn.services.rework.views import ReplacedArtifact, ReworkItem, ReworkPreview, ReworkStartMode, StaleExecution
from cairn.services.rollbacks.queries import withdrawn
from cairn.store import Connection, LoadedRun
from cairn.store import tables as t

if TYPE_CHECKING:
    from cairn.services.rework.service import ReworkImpact, ReworkSpec

_C, _A, _E, _R = t.artifact_consumption.c, t.artifacts.c, t.checkpoint_executions.c, t.pipeline_runs.c


def reworks_of(loaded: LoadedRun) -> list[ReworkItem]:
    """All reworks of a run, in order of creation."""
    return [_item(loaded, e, e.rework) for e in loaded.run.executions.values() if e.rework is not None]


def _item(loaded: LoadedRun, e: Execution, rework: Rework) -> ReworkItem:
    run, place = loaded.run, loaded.places[e.key]
    parent = run.executions.get(e.parent_execution) if e.parent_execution else None
    return ReworkItem.model_validate(
        {
            "execution_id": e.id,
            "checkpoint_id": place.checkpoint_id,
            "checkpoint_key": e.key,
            "checkpoint_name": place.name,
            "checkpoint_position": e.position,
            "status": e.status,
            "depth": run.rework_depth(e),
            "parent_execution_id": e.parent_execution,
            "parent_checkpoint_name": loaded.places[parent.key].name if parent else None,
            "requested_by": rework.requested_by,
            "prompt": rework.prompt,
            "reason": rework.reason,
            "supersedes": _replaced_execution(run, e),
            "archived_by": e.archived_by,
            "created_at": e.created_at,
            "completed_at": e.completed_at,
        }
    )


def _replaced_execution(run: Run, e: Execution) -> str | None:
    """The execution that a rework replaces."""
    earlier = [
        o.id
        for o in run.executions.values()
        if (o.key, o.pass_number, o.state) == (e.key, e.pass_number, ExecutionState.COMPLETED) and o.ordinal < e.ordinal
    ]
    return earlier[-1] if earlier else None


def superseded_by(run: Run, e: Execution) -> str | None:
    """The execution that replaced a completed one."""
    current = run.index.done.get(e.key) if e.state is ExecutionState.COMPLETED else None
    is_other = current is not None and current.id != e.id and e.id in run.index.current
    return current.id if is_other and current is not None else None


# Preview
def preview(connection: Connection, spec: ReworkSpec, impact: ReworkImpact) -> ReworkPreview:
    """The impact of a rework, as far as it is known in advance."""
    before, after, replaced = impact.commit.before, impact.commit.decision.run, impact.replaced
    place, requester = before.places[replaced.key], impact.requester
    withdrawn_ids = [a.id for a in before.run.pending if after.approvals[a.id].status is ApprovalStatus.WITHDRAWN]
    return ReworkPreview(
        run_id=before.facts.run_id,
        checkpoint_id=place.checkpoint_id,
        checkpoint_key=replaced.key,
        checkpoint_name=place.name,
        checkpoint_position=replaced.position,
        execution_id=replaced.id,
        prompt=spec.prompt,
        reason=spec.reason,
        replaced=_replaced(connection, replaced),
        requester_execution_id=requester.id,
        requester_checkpoint_name=before.places[requester.key].name,
        requester_waits=impact.requester_waits,
        withdrawn_approvals=withdrawn(connection, withdrawn_ids),
        stale_executions=_stale_executions(
            connection, before.facts.run_id, replaced, requester.id if impact.requester_waits else None
        ),
        reopens_run=before.run.status is RunStatus.COMPLETED,
        reworks=before.run.reworks,
        start_mode=_start_mode(impact.created),
    )


def _start_mode(created: Execution) -> ReworkStartMode:
    match created.state:
        case ExecutionState.AWAITING_START_APPROVAL:
            return "needs_approval"
        case ExecutionState.READY:
            return "on_resume"
        case _:
            return "immediately"


def _replaced(connection: Connection, e: Execution) -> list[ReplacedArtifact]:
    query = sa.select(_A.artifact_record_id, _A.artifact_name, _A.file_path, _A.size_bytes)
    rows = connection.execute(query.where(_A.artifact_record_id.in_(e.outputs)).order_by(_A.artifact_name))
    return [
        ReplacedArtifact(
            artifact_record_id=row.artifact_record_id,
            artifact_name=row.artifact_name,
            file_path=row.file_path,
            size_bytes=row.size_bytes,
        )
        for row in rows
    ]


def _stale_executions(
    connection: Connection, run_id: str, replaced: Execution, requester: str | None
) -> list[StaleExecution]:
    """Executions that read the artifacts to be replaced, except a waiting requester, which will read the new ones."""
    query = (
        sa.select(_E.execution_id, _E.run_id, _R.run_version, _E.checkpoint_name, _A.artifact_name)
        .select_from(t.artifact_consumption)
        .join(t.artifacts, _A.artifact_record_id == _C.artifact_record_id)
        .join(
            t.checkpoint_executions,
            (_E.execution_id == _C.execution_id) & (_E.dispatch_number == _C.dispatch_number),
        )
        .join(t.pipeline_runs, _R.run_id == _E.run_id)
        .where(
            _A.execution_id == replaced.id,
            _E.state.in_(RESULTS),
            _E.archived_by.is_(None),
            _R.archived_by.is_(None),
            sa.or_(_E.run_id != run_id, _E.checkpoint_position > replaced.position),
        )
        .order_by(_R.created_at, _E.ordinal, _A.artifact_name)
    )
    found: dict[str, StaleExecution] = {}
    for row in connection.execute(query):
        if row.execution_id == requester:
            continue
        known = found.get(row.execution_id)
        found[row.execution_id] = StaleExecution(
            execution_id=row.execution_id,
            run_id=row.run_id,
            run_version=row.run_version,
            checkpoint_name=row.checkpoint_name,
            artifacts=[*(known.artifacts if known else ()), row.artifact_name],
        )
    return list(found.values())
