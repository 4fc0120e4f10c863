"""Find artifacts, and save new, promoted and superseded ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from cairn.core.commands import ArtifactRef, CommandContext
from cairn.core.execution import Execution
from cairn.core.frozen import Replaceable
from cairn.store import blobs
from cairn.store.column_types import Instant, Text
from cairn.store.prepared_statements import Prepared, PreparedUpdate, insert_into
from cairn.store.runs.loading import LoadedRun
from cairn.store.runs.run_rows import Values
from cairn.store.tables import artifacts


@dataclass(frozen=True)
class NewArtifact(Replaceable):
    """An artifact to be saved with a decision."""

    record_id: str
    execution_id: str
    artifact_id: str  # of the declaration
    name: str
    format: str
    artifact_type: str
    checksum: str
    size: int
    file_path: str
    promoted: bool
    content: bytes | None  # None: already stored


def find_artifacts(
    connection: sa.Connection, record_ids: Sequence[str], new: Sequence[NewArtifact] = ()
) -> list[ArtifactRef]:
    """Return artifacts in the order of `record_ids`. `new` artifacts of this transaction have no rows yet."""
    found = {a.record_id: ArtifactRef(a.record_id, a.name, a.format, a.checksum, a.size) for a in new}
    stored = [record_id for record_id in record_ids if record_id not in found]
    if stored:
        a = artifacts.c
        query = sa.select(a.artifact_record_id, a.artifact_name, a.format, a.checksum, a.size_bytes)
        rows = connection.execute(query.where(a.artifact_record_id.in_(stored)))
        found |= {row.artifact_record_id: ArtifactRef(*row) for row in rows}
    return [found[record_id] for record_id in record_ids]


def find_artifacts_at(connection: sa.Connection, execution_id: str, at: datetime) -> list[ArtifactRef]:
    """Return the artifacts that an execution had at a time in the past."""
    a = artifacts.c
    rows = connection.execute(
        sa.select(a.artifact_record_id, a.artifact_name, a.format, a.checksum, a.size_bytes).where(
            a.execution_id == execution_id,
            a.created_at <= at,
            sa.or_(a.superseded_at.is_(None), a.superseded_at > at),
        )
    )
    return [ArtifactRef(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """A stored artifact and the path of its file."""

    record_id: str
    artifact_id: str
    execution_id: str
    name: str
    format: str
    checksum: str
    size: int
    path: str
    promoted: bool


def find_artifact_files(connection: sa.Connection, run_id: str) -> list[ArtifactFile]:
    """Return all artifacts of a run, oldest first."""
    a = artifacts.c
    query = sa.select(
        a.artifact_record_id,
        a.artifact_id,
        a.execution_id,
        a.artifact_name,
        a.format,
        a.checksum,
        a.size_bytes,
        a.file_path,
        a.promoted_to_permanent_at.is_not(None),
    )
    rows = connection.execute(query.where(a.run_id == run_id).order_by(a.created_at, a.artifact_record_id))
    return [ArtifactFile(*row) for row in rows]


def move_artifact(
    connection: sa.Connection, record_id: str, path: str, *, superseded_at: datetime | None = None
) -> None:
    """Save the new path of an artifact's file and, if the artifact was superseded, the time."""
    values: dict[str, object] = {"file_path": path}
    if superseded_at is not None:
        values["superseded_at"] = superseded_at
    connection.execute(sa.update(artifacts).where(artifacts.c.artifact_record_id == record_id).values(values))


def put_contents(connection: sa.Connection, new: Sequence[NewArtifact], context: CommandContext) -> None:
    for artifact in sorted(new, key=lambda artifact: artifact.checksum):  # in a fixed order, to prevent deadlocks
        if artifact.content is not None:
            blobs.put_with_checksum(connection, artifact.checksum, artifact.content, context.at)


_INSERT_ARTIFACT = insert_into(artifacts, without=("superseded_at",))
_PROMOTE = Prepared(
    sa.update(artifacts)
    .where(artifacts.c.artifact_record_id == sa.bindparam("record_id", type_=Text()))
    .values(
        file_path=sa.bindparam("path", type_=Text()),
        promoted_to_permanent_at=sa.func.coalesce(
            artifacts.c.promoted_to_permanent_at, sa.bindparam("at", type_=Instant())
        ),
    )
)
_SUPERSEDE = PreparedUpdate(artifacts, "artifact_record_id")


def save_artifacts(
    connection: sa.Connection,
    before: LoadedRun,
    after: LoadedRun,
    new: Sequence[NewArtifact],
    promoted: Mapping[str, str],
    context: CommandContext,
) -> None:
    for artifact in new:
        # The execution before the decision, because the decision may have started the next attempt.
        e = before.run.executions.get(artifact.execution_id) or after.run.executions[artifact.execution_id]
        _INSERT_ARTIFACT.run(connection, _new_artifact(after, e, artifact, context))
    for record_id, path in promoted.items():
        _PROMOTE.run(connection, {"record_id": record_id, "path": path, "at": context.at})
    for previous in before.run.executions.values():
        e = after.run.executions[previous.id]
        if previous is not e and previous.outputs != e.outputs:
            for record_id in set(previous.outputs) - set(e.outputs):
                _SUPERSEDE.run(connection, {"superseded_at": context.at}, {"artifact_record_id": record_id})


def _new_artifact(after: LoadedRun, e: Execution, artifact: NewArtifact, context: CommandContext) -> Values:
    return {
        "artifact_record_id": artifact.record_id,
        "execution_id": artifact.execution_id,
        "run_id": after.facts.run_id,
        "pipeline_id": after.facts.pipeline_id,
        "artifact_id": artifact.artifact_id,
        "artifact_name": artifact.name,
        "format": artifact.format,
        "artifact_type": artifact.artifact_type,
        "file_path": artifact.file_path,
        "size_bytes": artifact.size,
        "checksum": artifact.checksum,
        "created_at": context.at,
        "promoted_to_permanent_at": context.at if artifact.promoted else None,
        "attempt_number": e.attempt,
        "revision_iteration": e.revision,
    }
