"""Lists of runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from cairn.core.states import ApprovalStatus, RunStatus
from cairn.services.costs.usage import usage_view
from cairn.services.paging import Query, Row, SortOrder, page
from cairn.services.runs.queries import progress
from cairn.services.runs.views import OpenExecution, RecentRun, RunMetadata, RunPage, RunSummary
from cairn.store import Connection, model_usage
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.model_usage import NO_USAGE, ModelUsage

R, P, A = t.pipeline_runs.c, t.pipelines.c, t.approvals.c

SUMMARY: Query = sa.select(
    R.run_id,
    R.pipeline_id,
    P.pipeline_name,
    R.pipeline_definition_version,
    R.run_version,
    R.is_test,
    R.status,
    R.pause_requested,
    R.created_at,
    R.created_by,
    R.started_at,
    R.completed_at,
    R.total_checkpoints,
    R.completed_checkpoints,
    R.failed_checkpoints,
    R.current_checkpoint_id,
    R.current_checkpoint_position,
    R.archived_by,
    R.over_budget,
).join_from(t.pipeline_runs, t.pipelines, P.pipeline_id == R.pipeline_id)
_NEWEST = SortOrder((R.created_at, R.run_id), newest_first=True)


def list_runs(connection: Connection, run_filter: RunFilter, limit: int, cursor: str | None) -> RunPage:
    found = page(connection, SUMMARY.where(*_conditions(run_filter)), _NEWEST, limit, cursor)
    return RunPage(items=summaries(connection, found.rows), next_cursor=found.next_cursor)


def list_pipeline_runs(
    connection: Connection, pipeline_id: str, run_filter: RunFilter, limit: int, cursor: str | None
) -> RunPage:
    """Runs of the current definition version, or of the version in the filter."""
    query = sa.select(P.pipeline_definition_version).where(P.pipeline_id == pipeline_id)
    current = connection.execute(query).scalar_one_or_none()
    if current is None:
        raise NotFound("pipeline", pipeline_id)
    version = run_filter.definition_version or current
    run_filter = replace(run_filter, pipeline_id=pipeline_id, definition_version=version)
    return list_runs(connection, run_filter, limit, cursor)


def _conditions(run_filter: RunFilter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if run_filter.pipeline_id is not None:
        conditions.append(R.pipeline_id == run_filter.pipeline_id)
    else:
        conditions.append(P.deleted_at.is_(None))
    if run_filter.statuses:
        conditions.append(R.status.in_([status.value for status in run_filter.statuses]))
    if run_filter.definition_version is not None:
        conditions.append(R.pipeline_definition_version == run_filter.definition_version)
    if not run_filter.include_archived:
        conditions.append(R.archived_by.is_(None))
    if not run_filter.include_tests:
        conditions.append(R.is_test.is_(False))
    return conditions


def summaries(connection: Connection, rows: Sequence[Row]) -> list[RunSummary]:
    pending = count_pending_approvals(connection, A.run_id, [row.run_id for row in rows])
    open_executions = progress.open_executions_of_runs(connection, rows)
    usage = model_usage.usage_by(connection, t.model_calls.c.run_id, [row.run_id for row in rows])
    return [
        RunSummary(
            **summary_fields(
                row,
                pending.get(row.run_id, 0),
                open_executions.get(row.run_id, []),
                usage.get(row.run_id, NO_USAGE),
            )
        )
        for row in rows
    ]


def summary_fields(
    row: Row, pending_approvals: int, open_executions: Sequence[OpenExecution], usage: ModelUsage
) -> dict[str, Any]:
    is_paused = row.status == RunStatus.PAUSED.value
    return {
        "run_id": row.run_id,
        "pipeline_id": row.pipeline_id,
        "pipeline_name": row.pipeline_name,
        "pipeline_definition_version": row.pipeline_definition_version,
        "run_version": row.run_version,
        "test": row.is_test,
        "status": RunStatus(row.status),
        "pause_requested": row.pause_requested,
        "created_at": row.created_at,
        "created_by": row.created_by,
        "started_at": row.started_at,
        "completed_at": row.completed_at,
        "metadata": RunMetadata(
            total_checkpoints=row.total_checkpoints,
            completed_checkpoints=row.completed_checkpoints,
            failed_checkpoints=row.failed_checkpoints,
            paused_checkpoint_position=row.current_checkpoint_position if is_paused else None,
        ),
        "current_checkpoint_id": row.current_checkpoint_id,
        "current_checkpoint_position": row.current_checkpoint_position,
        "pending_approval_count": pending_approvals,
        "pending_start_count": progress.count_pending_starts(row, open_executions),
        "open_executions": list(open_executions),
        "archived_by": row.archived_by,
        "over_budget": row.over_budget or None,
        "usage": usage_view(usage),
    }


def count_pending_approvals(connection: Connection, by: sa.ColumnElement[str], ids: Sequence[str]) -> dict[str, int]:
    """Pending approvals by the column `by`: run or pipeline."""
    if not ids:
        return {}
    query = sa.select(by, sa.func.count()).where(by.in_(ids), A.status == ApprovalStatus.PENDING.value).group_by(by)
    return {row[0]: row[1] for row in connection.execute(query)}


# For the list of pipelines
def recent_runs(connection: Connection, pipeline_ids: Sequence[str], limit: int) -> dict[str, list[RecentRun]]:
    """The newest runs of each pipeline's current definition version, newest first."""
    found: dict[str, list[RecentRun]] = {pipeline_id: [] for pipeline_id in pipeline_ids}
    for row in connection.execute(_recent_runs(connection.dialect.name, limit).where(P.pipeline_id.in_(pipeline_ids))):
        run = RecentRun(run_id=row.run_id, run_version=row.run_version, status=RunStatus(row.status))
        found[row.pipeline_id].append(run)
    return found


def _recent_runs(database: str, limit: int) -> Query:
    """A statement that reads only the newest runs of each pipeline. It depends on the kind of database."""
    candidate = t.pipeline_runs.alias("candidate")
    newest = (
        sa.select(candidate.c.run_id, candidate.c.run_version, candidate.c.status, candidate.c.created_at)
        .where(
            candidate.c.pipeline_id == P.pipeline_id,
            candidate.c.pipeline_definition_version == P.pipeline_definition_version,
            candidate.c.archived_by.is_(None),
            candidate.c.is_test.is_(False),
        )
        .order_by(candidate.c.created_at.desc(), candidate.c.run_id.desc())
        .limit(limit)
        .correlate(t.pipelines)
    )
    if database == "postgresql":
        each = newest.lateral("newest")
        query = sa.select(P.pipeline_id, each).join_from(t.pipelines, each, sa.true())
        return query.order_by(each.c.created_at.desc(), each.c.run_id.desc())
    ids = newest.with_only_columns(candidate.c.run_id)
    query = sa.select(P.pipeline_id, R.run_id, R.run_version, R.status)
    query = query.join_from(t.pipelines, t.pipeline_runs, R.run_id.in_(ids))
    return query.order_by(R.created_at.desc(), R.run_id.desc())


def latest_runs(connection: Connection, recent: Iterable[Sequence[RecentRun]]) -> dict[str, RunSummary]:
    """The first run of each list, by pipeline."""
    ids = [runs[0].run_id for runs in recent if runs]
    if not ids:
        return {}
    rows = connection.execute(SUMMARY.where(R.run_id.in_(ids))).all()
    return {run.pipeline_id: run for run in summaries(connection, rows)}


@dataclass(frozen=True, slots=True)
class RunFilter:
    pipeline_id: str | None = None
    statuses: tuple[RunStatus, ...] = ()
    definition_version: int | None = None
    include_archived: bool = False
    include_tests: bool = False
