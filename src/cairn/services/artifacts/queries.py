"""Queries of artifacts and their content."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from cairn.services.artifacts.views import Artifact, ArtifactPage
from cairn.services.paging import Query, Row, SortOrder, page
from cairn.services.rework.staleness import queries as staleness
from cairn.store import Connection, Database, blobs
from cairn.store import tables as t
from cairn.store.errors import NotFound

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
_OLDEST = SortOrder((F.created_at, F.artifact_record_id))


def list_artifacts(
    connection: Connection, artifact_filter: ArtifactFilter, limit: int, cursor: str | None
) -> ArtifactPage:
    """List current artifacts, which are neither superseded by a later attempt nor archived by a rollback."""
    conditions: list[sa.ColumnElement[bool]] = [
        F.superseded_at.is_(None),
        E.archived_by.is_(None),
        R.archived_by.is_(None),
    ]
    if artifact_filter.pipeline_id is not None:
        conditions.append(F.pipeline_id == artifact_filter.pipeline_id)
    if artifact_filter.run_id is not None:
        conditions.append(F.run_id == artifact_filter.run_id)
    if artifact_filter.execution_id is not None:
        # The last outputs of this execution, even if it is archived.
        conditions = [sa.type_coerce(E.outputs, sa.Text).contains(F.artifact_record_id)]
        conditions.append(F.execution_id == artifact_filter.execution_id)
    found = page(connection, _SELECT.where(*conditions), _OLDEST, limit, cursor)
    stale = staleness.of_executions(connection, list({row.execution_id for row in found.rows}))
    items = [artifact(row, is_stale=row.execution_id in stale) for row in found.rows]
    return ArtifactPage(items=items, next_cursor=found.next_cursor)


def artifacts_of_executions(
    connection: Connection, outputs: Mapping[str, Sequence[str]], stale: Container[str]
) -> dict[str, list[Artifact]]:
    """The last outputs of each execution, even if it is archived."""
    found: defaultdict[str, list[Artifact]] = defaultdict(list)
    if outputs:
        query = _SELECT.where(F.execution_id.in_(tuple(outputs)))
        for row in connection.execute(query.order_by(*_OLDEST.columns)):
            if row.artifact_record_id in outputs[row.execution_id]:
                found[row.execution_id].append(artifact(row, is_stale=row.execution_id in stale))
    return found


def get_artifact(connection: Connection, record_id: str) -> Artifact:
    row = connection.execute(_SELECT.where(F.artifact_record_id == record_id)).one_or_none()
    if row is None:
        raise NotFound("artifact", record_id)
    return artifact(row, is_stale=row.execution_id in staleness.of_executions(connection, [row.execution_id]))


def artifact(row: Row, *, is_stale: bool) -> Artifact:
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
        superseded_at=row.superseded_at,
        is_stale=is_stale,
    )


@dataclass(frozen=True, slots=True)
class ArtifactFilter:
    pipeline_id: str | None = None
    run_id: str | None = None
    execution_id: str | None = None


class ArtifactQueries:
    """Each method reads one snapshot of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_artifacts(self, artifact_filter: ArtifactFilter, limit: int, cursor: str | None) -> ArtifactPage:
        return self._database.read(lambda c: list_artifacts(c, artifact_filter, limit, cursor))

    def get_artifact(self, record_id: str) -> Artifact:
        return self._database.read(lambda c: get_artifact(c, record_id))

    def stream_content(self, checksum: str) -> Iterator[bytes]:
        return blobs.stream(self._database, checksum)
