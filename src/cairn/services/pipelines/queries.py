"""Queries of pipelines, checkpoints and revisions."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from cairn.services.paging import Row, SortOrder, page
from cairn.services.pipelines.views import (
    Checkpoint,
    DefinitionFinding,
    Pipeline,
    PipelinePage,
    PipelineSummary,
    Revision,
    RevisionDetail,
    RevisionPage,
)
from cairn.services.runs.queries import lists as runs
from cairn.services.runs.views import RecentRun, RunSummary
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.errors import NotFound

P, D, C = t.pipelines.c, t.definition_revisions.c, t.checkpoint_definitions.c
_NEWEST = SortOrder((P.created_at, P.pipeline_id), newest_first=True)
_LATEST = SortOrder((D.revision,), newest_first=True)
_RECENT_RUNS = 15


def list_pipelines(
    connection: Connection, *, deleted: bool, search: str, limit: int, cursor: str | None
) -> PipelinePage:
    query = sa.select(t.pipelines).where(P.deleted_at.is_not(None) if deleted else P.deleted_at.is_(None))
    if search:
        pattern = f"%{_escaped(search.lower())}%"
        name_matches = sa.func.lower(P.pipeline_name).like(pattern, escape="\\")
        query = query.where(sa.or_(name_matches, sa.func.lower(P.pipeline_description).like(pattern, escape="\\")))
    found = page(connection, query, _NEWEST, limit, cursor)
    ids = [row.pipeline_id for row in found.rows]
    recent = runs.recent_runs(connection, ids, _RECENT_RUNS)
    pending = runs.count_pending_approvals(connection, t.approvals.c.pipeline_id, ids)
    latest = runs.latest_runs(connection, recent.values())
    return PipelinePage(
        items=[_summary(row, latest, recent[row.pipeline_id], pending.get(row.pipeline_id, 0)) for row in found.rows],
        next_cursor=found.next_cursor,
    )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _summary(
    row: Row, latest: dict[str, RunSummary], recent: list[RecentRun], pending_approvals: int
) -> PipelineSummary:
    return PipelineSummary(
        pipeline_id=row.pipeline_id,
        pipeline_name=row.pipeline_name,
        pipeline_description=row.pipeline_description,
        pipeline_definition_version=row.pipeline_definition_version,
        revision=row.revision,
        checkpoint_count=len(row.checkpoint_order),
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
        latest_run=latest.get(row.pipeline_id),
        recent_runs=recent,
        pending_approval_count=pending_approvals,
    )


def find(connection: Connection, pipeline_id: str) -> Row:
    row = connection.execute(sa.select(t.pipelines).where(P.pipeline_id == pipeline_id)).one_or_none()
    if row is None:
        raise NotFound("pipeline", pipeline_id)
    return row


def get_pipeline(connection: Connection, pipeline_id: str, warnings: list[DefinitionFinding]) -> Pipeline:
    row = find(connection, pipeline_id)
    document = get_document(connection, pipeline_id, row.revision)
    latest = runs.latest_runs(connection, runs.recent_runs(connection, [pipeline_id], 1).values())
    checkpoints = [
        _checkpoint(checkpoint, pipeline_id, position) for position, checkpoint in enumerate(document["checkpoints"])
    ]
    facts = {
        "pipeline_id": pipeline_id,
        "pipeline_definition_version": row.pipeline_definition_version,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "checkpoint_order": row.checkpoint_order,
        "checkpoints": checkpoints,
        "revision": row.revision,
        "deleted_at": row.deleted_at,
        "latest_run": latest.get(pipeline_id),
        "warnings": warnings,
    }
    return Pipeline.model_validate({**document, **facts})


def _checkpoint(document: dict[str, Any], pipeline_id: str, position: int) -> Checkpoint:
    needs = document.get("dependencies", {}).get("required_checkpoint_ids", [])
    return Checkpoint.model_validate({**document, "pipeline_id": pipeline_id, "position": position, "needs": needs})


def get_checkpoint(connection: Connection, checkpoint_id: str) -> Checkpoint:
    """The checkpoint in the newest revision."""
    query = sa.select(C.pipeline_id, P.revision).join_from(t.checkpoint_definitions, t.pipelines)
    row = connection.execute(query.where(C.checkpoint_id == checkpoint_id, C.removed_at.is_(None))).one_or_none()
    if row is not None:
        for position, checkpoint in enumerate(get_document(connection, row.pipeline_id, row.revision)["checkpoints"]):
            if checkpoint["checkpoint_id"] == checkpoint_id:
                return _checkpoint(checkpoint, row.pipeline_id, position)
    raise NotFound("checkpoint", checkpoint_id)


# Revisions
def get_document(connection: Connection, pipeline_id: str, revision: int) -> dict[str, Any]:
    return _revision(connection, pipeline_id, revision).document


def _revision(connection: Connection, pipeline_id: str, revision: int) -> Row:
    query = sa.select(t.definition_revisions).where(D.pipeline_id == pipeline_id, D.revision == revision)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound("revision", f"{revision} of pipeline {pipeline_id}")
    return row


def get_revision(connection: Connection, pipeline_id: str, revision: int) -> RevisionDetail:
    find(connection, pipeline_id)
    row = _revision(connection, pipeline_id, revision)
    return RevisionDetail(**_facts(row), document=row.document)


def list_revisions(connection: Connection, pipeline_id: str, limit: int, cursor: str | None) -> RevisionPage:
    find(connection, pipeline_id)
    query = sa.select(D.revision, D.pipeline_definition_version, D.created_by, D.created_at, D.comment)
    found = page(connection, query.where(D.pipeline_id == pipeline_id), _LATEST, limit, cursor)
    return RevisionPage(items=[Revision(**_facts(row)) for row in found.rows], next_cursor=found.next_cursor)


def _facts(row: Row) -> dict[str, Any]:
    return {
        "revision": row.revision,
        "pipeline_definition_version": row.pipeline_definition_version,
        "created_by": row.created_by,
        "created_at": row.created_at,
        "comment": row.comment,
    }


class PipelineQueries:
    """Each method reads one snapshot of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_pipelines(self, *, deleted: bool, search: str, limit: int, cursor: str | None) -> PipelinePage:
        return self._database.read(
            lambda c: list_pipelines(c, deleted=deleted, search=search, limit=limit, cursor=cursor)
        )

    def get_pipeline(self, pipeline_id: str, warnings: list[DefinitionFinding] | None = None) -> Pipeline:
        return self._database.read(lambda c: get_pipeline(c, pipeline_id, warnings or []))

    def get_checkpoint(self, checkpoint_id: str) -> Checkpoint:
        return self._database.read(lambda c: get_checkpoint(c, checkpoint_id))

    def list_revisions(self, pipeline_id: str, limit: int, cursor: str | None) -> RevisionPage:
        return self._database.read(lambda c: list_revisions(c, pipeline_id, limit, cursor))

    def get_revision(self, pipeline_id: str, revision: int) -> RevisionDetail:
        return self._database.read(lambda c: get_revision(c, pipeline_id, revision))
