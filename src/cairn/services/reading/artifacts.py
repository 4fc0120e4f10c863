"""Artifacts: what stands for an execution, and its content."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa

from cairn.services.errors import NotFound
from cairn.services.reading.filters import ArtifactFilter
from cairn.services.reading.paging import Order, Query, Row, page
from cairn.services.views.artifacts import Artifact, ArtifactPage
from cairn.store import tables as t

F, E, R = t.artifacts.c, t.checkpoint_executions.c, t.pipeline_runs.c
MEDIA_TYPES = {
    "json": "application/json",
    "md": "text/markdown",
    "mmd": "text/vnd.mermaid",
    "txt": "text/plain",
    "py": "text/x-python",
    "html": "text/html",
    "csv": "text/csv",
    "yaml": "application/yaml",
    "xml": "application/xml",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpg": "image/jpeg",
    "pdf": "application/pdf",
}
_SELECT: Query = (
    sa.select(
        t.artifacts,
        R.run_version,
        E.checkpoint_id,
        E.checkpoint_name,
        E.checkpoint_position,
    )
    .join_from(t.artifacts, t.checkpoint_executions, E.execution_id == F.execution_id)
    .join(t.pipeline_runs, R.run_id == F.run_id)
)
_OLDEST = Order((F.created_at, F.artifact_record_id))


def list_artifacts(connection: sa.Connection, wanted: ArtifactFilter, limit: int, cursor: str | None) -> ArtifactPage:
    """Those that stand: not replaced by a later attempt, and not taken away by a rollback."""
    conditions: list[sa.ColumnElement[bool]] = [
        F.superseded_at.is_(None),
        E.archived_by.is_(None),
        R.archived_by.is_(None),
    ]
    if wanted.pipeline_id is not None:
        conditions.append(F.pipeline_id == wanted.pipeline_id)
    if wanted.run_id is not None:
        conditions.append(F.run_id == wanted.run_id)
    if wanted.execution_id is not None:
        conditions = [F.superseded_at.is_(None), F.execution_id == wanted.execution_id]
    found = page(connection, _SELECT.where(*conditions), _OLDEST, limit, cursor)
    return ArtifactPage(items=[artifact(row) for row in found.rows], next_cursor=found.next_cursor)


def of_executions(connection: sa.Connection, execution_ids: Sequence[str]) -> dict[str, list[Artifact]]:
    """What stands for each of the executions."""
    found: defaultdict[str, list[Artifact]] = defaultdict(list)
    if execution_ids:
        query = _SELECT.where(F.execution_id.in_(execution_ids), F.superseded_at.is_(None))
        for row in connection.execute(query.order_by(*_OLDEST.columns)):
            found[row.execution_id].append(artifact(row))
    return found


def get_artifact(connection: sa.Connection, record_id: str) -> Artifact:
    row = connection.execute(_SELECT.where(F.artifact_record_id == record_id)).one_or_none()
    if row is None:
        raise NotFound("artifact", record_id)
    return artifact(row)


def artifact(row: Row) -> Artifact:
    return Artifact(
        artifact_record_id=row.artifact_record_id,
        artifact_id=row.artifact_id,
        execution_id=row.execution_id,
        run_id=row.run_id,
        run_version=row.run_version,
        checkpoint_id=row.checkpoint_id,
        checkpoint_name=row.checkpoint_name,
        checkpoint_position=row.checkpoint_position,
        artifact_name=row.artifact_name,
        format=row.format,
        media_type=MEDIA_TYPES.get(row.format, "application/octet-stream"),
        artifact_type=row.artifact_type,
        file_path=row.file_path,
        size_bytes=row.size_bytes,
        checksum=row.checksum,
        created_at=row.created_at,
        promoted_to_permanent_at=row.promoted_to_permanent_at,
        stale=False,
    )
