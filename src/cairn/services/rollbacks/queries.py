"""Rollbacks and their previews."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.core.rollback import check_undo
from cairn.core.settle import ready_checkpoints
from cairn.core.states import ExecutionState, RollbackTrigger, RunStatus
from cairn.services.actions.action_views import summaries
from cairn.services.actors import Actor
from cairn.services.engine.engine import Engine
from cairn.services.paging import Row, SortOrder, page
from cairn.services.rollbacks.service import RollbackImpact, RollbackService, RollbackSpec
from cairn.services.rollbacks.views import (
    ResumePoint,
    RollbackPage,
    RollbackPreview,
    RolledBackItems,
    StoppedExecution,
    UnaffectedItems,
    WithdrawnApproval,
)
from cairn.services.rollbacks.views import Rollback as RollbackView
from cairn.store import Connection, LoadedRun
from cairn.store import tables as t
from cairn.store.errors import NotFound

B, G, R, E = t.rollback_events.c, t.archived_items.c, t.pipeline_runs.c, t.checkpoint_executions.c
_NEWEST = SortOrder((B.created_at, B.rollback_id), newest_first=True)
Load = Callable[[str], LoadedRun]


def list_rollbacks(
    connection: Connection, load: Load, pipeline_id: str | None, run_id: str | None, limit: int, cursor: str | None
) -> RollbackPage:
    query = sa.select(t.rollback_events)
    if pipeline_id is not None:
        query = query.where(B.pipeline_id == pipeline_id)
    if run_id is not None:
        archived = sa.select(G.rollback_id).where(G.item_type == "run", G.item_id == run_id)
        query = query.where(sa.or_(B.source_run_id == run_id, B.target_run_id == run_id, B.rollback_id.in_(archived)))
    found = page(connection, query, _NEWEST, limit, cursor)
    return RollbackPage(items=[_view(connection, load, row) for row in found.rows], next_cursor=found.next_cursor)


def get_rollback(connection: Connection, load: Load, rollback_id: str) -> RollbackView:
    row = connection.execute(sa.select(t.rollback_events).where(B.rollback_id == rollback_id)).one_or_none()
    if row is None:
        raise NotFound("rollback", rollback_id)
    return _view(connection, load, row)


def _view(connection: Connection, load: Load, row: Row) -> RollbackView:
    return RollbackView(
        rollback_id=row.rollback_id,
        rollback_type=row.rollback_type,
        source_run_id=row.source_run_id,
        source_run_version=row.source_run_version,
        target_run_id=row.target_run_id,
        target_run_version=row.target_run_version,
        target_checkpoint_id=row.target_checkpoint_id,
        target_checkpoint_position=-1 if row.target_checkpoint_position is None else row.target_checkpoint_position,
        rolled_back_items=RolledBackItems.model_validate(row.rolled_back_items),
        archive_location=row.archive_location,
        triggered_by=row.triggered_by,
        user_reason=row.user_reason or None,
        created_at=row.created_at,
        created_by=row.created_by,
        undone_at=row.undone_at,
        can_undo=_can_undo(connection, load, row),
        warnings=[],
    )


# Undo
def _can_undo(connection: Connection, load: Load, row: Row) -> bool:
    """Whether the rollback can be undone. Check cheap conditions first, so that most runs are not loaded."""
    if row.undone_at is not None or not row.archive_location:
        return False
    target = row.target_run_id or row.source_run_id
    if not _is_last_user_rollback(connection, target, row.rollback_id):
        return False
    archived_runs = [run["run_id"] for run in row.rolled_back_items["deleted_runs"]]
    try:
        for run_id in (target, *archived_runs):
            check_undo(load(run_id).run, row.rollback_id)
    except CommandRefused:
        return False
    return row.rollback_type != "run_level" or not _has_newer_work(connection, row, [target, *archived_runs])


def _is_last_user_rollback(connection: Connection, run_id: str, rollback_id: str) -> bool:
    """Whether no later rollback of the run was requested by a user. Those made by failures are undone with it."""
    rollbacks = connection.execute(sa.select(R.rollbacks).where(R.run_id == run_id)).scalar_one()
    active = [rollback for rollback in rollbacks if not rollback["undone"]]
    positions = [position for position, rollback in enumerate(active) if rollback["id"] == rollback_id]
    later = active[positions[0] + 1 :] if positions else []
    user_request = RollbackTrigger.USER_REQUEST.value
    return bool(positions) and all(rollback["triggered_by"] != user_request for rollback in later)


def _has_newer_work(connection: Connection, row: Row, own: Sequence[str]) -> bool:
    """Whether a run created after the rollback has completed an execution."""
    query = (
        sa.select(E.execution_id)
        .join_from(t.checkpoint_executions, t.pipeline_runs, R.run_id == E.run_id)
        .where(
            R.pipeline_id == row.pipeline_id,
            R.created_at > row.created_at,
            R.archived_by.is_(None),
            R.run_version.is_not(None),
            R.run_id.not_in(own),
            E.state == ExecutionState.COMPLETED.value,
            E.archived_by.is_(None),
        )
        .limit(1)
    )
    return connection.execute(query).first() is not None


# Preview
def preview(connection: Connection, spec: RollbackSpec, impact: RollbackImpact) -> RollbackPreview:
    """The impact of a rollback, as a view."""
    source, target = impact.source.facts, impact.target.facts
    before, plan = impact.target.before, impact.target.before.plan
    at_target = [c for c in plan.checkpoints if c.position == impact.target_position]
    unaffected = [before.executions[execution] for execution in impact.unaffected]
    items = RolledBackItems.model_validate(impact.items)
    return RollbackPreview(
        rollback_type="run_level" if spec.rollback_type == "run_level" else "checkpoint_level",
        source_run_id=source.run_id,
        source_run_version=source.run_version,
        target_run_id=target.run_id,
        target_run_version=target.run_version,
        target_checkpoint_id=at_target[0].id if at_target else None,
        target_checkpoint_position=impact.target_position,
        rolled_back_items=items,
        user_reason=spec.user_reason or None,
        warnings=[],
        unaffected=UnaffectedItems(
            checkpoints=len({e.key for e in unaffected}),
            artifacts=sum(len(e.outputs) for e in unaffected),
        ),
        stopped_executions=[
            StoppedExecution(execution_id=execution, checkpoint_name=name) for execution, name in impact.stopped
        ],
        withdrawn_approvals=withdrawn(connection, impact.withdrawn),
        executed_actions=summaries(connection, impact.executed_actions),
        withdrawn_actions=summaries(connection, impact.withdrawn_actions),
        hold=impact.hold,
        size_bytes=sum(artifact.size_bytes for artifact in items.archived_artifacts),
        resumes_with=_resume_point(impact),
    )


def withdrawn(connection: Connection, ids: Sequence[str]) -> list[WithdrawnApproval]:
    a = t.approvals.c
    query = (
        sa.select(a.approval_id, a.kind, E.checkpoint_name)
        .join_from(t.approvals, t.checkpoint_executions, E.execution_id == a.execution_id)
        .where(a.approval_id.in_(ids))
        .order_by(a.requested_at)
    )
    return [
        WithdrawnApproval(approval_id=row.approval_id, kind=row.kind, checkpoint_name=row.checkpoint_name)
        for row in connection.execute(query)
    ]


def _resume_point(impact: RollbackImpact) -> ResumePoint:
    """The next checkpoint after the rollback, and how it starts."""
    run = impact.after.run
    if run.status is RunStatus.COMPLETED:
        return ResumePoint(checkpoint_name=None, start_mode="run_completes")
    open_executions = sorted(run.open, key=lambda e: e.position)
    if not open_executions:
        ready = ready_checkpoints(run)
        return ResumePoint(checkpoint_name=run.plan[ready[0].key].name if ready else None, start_mode="manual")
    first = open_executions[0]
    match first.state:
        case ExecutionState.AWAITING_START_APPROVAL:
            start_mode = "needs_approval"
        case ExecutionState.PENDING:
            start_mode = "manual"
        case _:
            start_mode = "immediately"
    return ResumePoint(checkpoint_name=run.plan[first.key].name, start_mode=start_mode)


class RollbackQueries:
    """Each method reads one snapshot of the database."""

    def __init__(self, engine: Engine, rollbacks: RollbackService) -> None:
        self._engine = engine
        self._database = engine.database
        self._rollbacks = rollbacks

    def list_rollbacks(
        self, pipeline_id: str | None, run_id: str | None, limit: int, cursor: str | None
    ) -> RollbackPage:
        return self._database.read(lambda c: list_rollbacks(c, self._loader(c), pipeline_id, run_id, limit, cursor))

    def get_rollback(self, rollback_id: str) -> RollbackView:
        return self._database.read(lambda c: get_rollback(c, self._loader(c), rollback_id))

    def preview(self, spec: RollbackSpec, actor: Actor) -> RollbackPreview:
        """Preview a rollback without saving anything."""
        return self._database.read(lambda c: preview(c, spec, self._rollbacks.preview(c, spec, actor)))

    def _loader(self, connection: Connection) -> Load:
        return lambda run_id: self._engine.load(connection, run_id, lock=False)
