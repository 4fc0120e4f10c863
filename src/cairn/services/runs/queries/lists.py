"""Runs as rows of a list."""

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
from cairn.store.model_usage import NOTHING, ModelUsage

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


def list_runs(connection: Connection, wanted: RunFilter, limit: int, cursor: str | None) -> RunPage:
    found = page(connection, SUMMARY.where(*_conditions(wanted)), _NEWEST, limit, cursor)
    return RunPage(items=summaries(connection, found.rows), next_cursor=found.next_cursor)


def list_of_pipeline(
    connection: Connection, pipeline_id: str, wanted: RunFilter, limit: int, cursor: str | None
) -> RunPage:
    """Runs of the pipeline's current definition unless another version is asked for."""
    query = sa.select(P.pipeline_definition_version).where(P.pipeline_id == pipeline_id)
    current = connection.execute(query).scalar_one_or_none()
    if current is None:
        raise NotFound("pipeline", pipeline_id)
    version = wanted.definition_version or current
    return list_runs(connection, replace(wanted, pipeline_id=pipeline_id, definition_version=version), limit, cursor)


def _conditions(wanted: RunFilter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if wanted.pipeline_id is not None:
        conditions.append(R.pipeline_id == wanted.pipeline_id)
    else:
        conditions.append(P.deleted_at.is_(None))
    if wanted.statuses:
        conditions.append(R.status.in_([status.value for status in wanted.statuses]))
    if wanted.definition_version is not None:
        conditions.append(R.pipeline_definition_version == wanted.definition_version)
    if not wanted.include_archived:
        conditions.append(R.archived_by.is_(None))
    if not wanted.include_tests:
        conditions.append(R.is_test.is_(False))
    return conditions


def summaries(connection: Connection, rows: Sequence[Row]) -> list[RunSummary]:
    waiting = count_waiting(connection, A.run_id, [row.run_id for row in rows])
    opened = progress.of_runs(connection, rows)
    used = model_usage.by(connection, t.model_calls.c.run_id, [row.run_id for row in rows])
    return [
        RunSummary(
            **summary_fields(row, waiting.get(row.run_id, 0), opened.get(row.run_id, []), used.get(row.run_id, NOTHING))
        )
        for row in rows
    ]


def summary_fields(row: Row, waiting: int, opened: Sequence[OpenExecution], used: ModelUsage) -> dict[str, Any]:
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
        "pending_approval_count": waiting,
        "pending_start_count": progress.count_to_start(row, opened),
        "open_executions": list(opened),
        "archived_by": row.archived_by,
        "over_budget": row.over_budget or None,
        "usage": usage_view(used),
    }


def count_waiting(connection: Connection, by: sa.ColumnElement[str], ids: Sequence[str]) -> dict[str, int]:
    """Pending approvals by run, or by pipeline."""
    if not ids:
        return {}
    query = sa.select(by, sa.func.count()).where(by.in_(ids), A.status == ApprovalStatus.PENDING.value).group_by(by)
    return {row[0]: row[1] for row in connection.execute(query)}


# ---- for the list of pipelines -------------------------------------------------------------------
def recent(connection: Connection, pipeline_ids: Sequence[str], most: int) -> dict[str, list[RecentRun]]:
    """The newest runs of each pipeline's current definition; the first is the latest."""
    found: dict[str, list[RecentRun]] = {pipeline_id: [] for pipeline_id in pipeline_ids}
    for row in connection.execute(_recent(connection.dialect.name, most).where(P.pipeline_id.in_(pipeline_ids))):
        run = RecentRun(run_id=row.run_id, run_version=row.run_version, status=RunStatus(row.status))
        found[row.pipeline_id].append(run)
    return found


def _recent(database: str, most: int) -> Query:
    """However many runs a pipeline has, only the newest are looked at; each database has its own way to say so."""
    one = t.pipeline_runs.alias("one")
    newest = (
        sa.select(one.c.run_id, one.c.run_version, one.c.status, one.c.created_at)
        .where(
            one.c.pipeline_id == P.pipeline_id,
            one.c.pipeline_definition_version == P.pipeline_definition_version,
            one.c.archived_by.is_(None),
            one.c.is_test.is_(False),
        )
        .order_by(one.c.created_at.desc(), one.c.run_id.desc())
        .limit(most)
        .correlate(t.pipelines)
    )
    if database == "postgresql":
        each = newest.lateral("newest")
        query = sa.select(P.pipeline_id, each).join_from(t.pipelines, each, sa.true())
        return query.order_by(each.c.created_at.desc(), each.c.run_id.desc())
    ids = newest.with_only_columns(one.c.run_id)
    query = sa.select(P.pipeline_id, R.run_id, R.run_version, R.status)
    query = query.join_from(t.pipelines, t.pipeline_runs, R.run_id.in_(ids))
    return query.order_by(R.created_at.desc(), R.run_id.desc())


def latest(connection: Connection, of: Iterable[Sequence[RecentRun]]) -> dict[str, RunSummary]:
    """The first of each of these, by pipeline."""
    ids = [runs[0].run_id for runs in of if runs]
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
