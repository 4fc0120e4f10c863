"""Queries for the folder tree: the files and folders that the database expects, and unsynced changes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cairn.core.states import RunStatus
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.column_types import BigInteger, Text
from cairn.store.events.chain import NO_PIPELINE
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.runs.run_rows import Row

MAX_EVENTS = 2000  # per read

_RUN_INFO_COLUMNS = (
    "run_id",
    "pipeline_id",
    "pipeline_definition_version",
    "run_version",
    "status",
    "pass_number",
    "restart_count",
    "total_checkpoints",
    "completed_checkpoints",
    "failed_checkpoints",
    "previous_run_id",
    "extends_from_run_version",
    "original_prompt",
    "created_by",
    "created_at",
    "started_at",
    "completed_at",
)
_EXECUTION_COLUMNS = (
    "execution_id",
    "checkpoint_id",
    "checkpoint_name",
    "checkpoint_position",
    "pass_number",
    "status",
    "attempt_number",
    "revision_iteration",
    "started_at",
    "completed_at",
    "permanent_output_path",
)
_ARTIFACT_COLUMNS = ("artifact_record_id", "artifact_name", "format", "file_path", "size_bytes", "checksum")

_A, _D, _E, _P, _R = (
    table.c for table in (t.artifacts, t.definition_revisions, t.checkpoint_executions, t.pipelines, t.pipeline_runs)
)
_run_id = sa.bindparam("run_id", type_=Text())
_RUN = PreparedQuery(
    sa.select(*(_R[name] for name in _RUN_INFO_COLUMNS))
    .select_from(t.pipeline_runs.join(t.pipelines))
    .where(
        _R.run_id == _run_id,
        _R.archived_by.is_(None),
        _R.pipeline_definition_version == _P.pipeline_definition_version,
        _P.deleted_at.is_(None),
    )
)
_EXECUTIONS = PreparedQuery(
    sa.select(*(_E[name] for name in _EXECUTION_COLUMNS))
    .where(_E.run_id == _run_id, _E.archived_by.is_(None))
    .order_by(_E.ordinal)
)
_ARTIFACTS = PreparedQuery(
    sa.select(_A.execution_id, *(_A[name] for name in _ARTIFACT_COLUMNS))
    .where(_A.run_id == _run_id, _A.promoted_to_permanent_at.is_not(None))
    .order_by(_A.created_at, _A.artifact_record_id)
)
_LATEST_RUN = PreparedQuery(
    sa.select(_R.run_id, _R.run_version)
    .select_from(t.pipeline_runs.join(t.pipelines))
    .where(
        _R.pipeline_id == sa.bindparam("pipeline_id", type_=Text()),
        _R.archived_by.is_(None),
        _R.run_version.is_not(None),
        _R.pipeline_definition_version == _P.pipeline_definition_version,
    )
    .order_by(_R.run_version.desc())
    .limit(1)
)


# Pipelines and definitions
def active_pipelines(connection: Connection) -> list[str]:
    """Ids of pipelines that are not deleted, oldest first."""
    query = sa.select(_P.pipeline_id).where(_P.deleted_at.is_(None)).order_by(_P.created_at)
    return list(connection.execute(query).scalars())


def deleted_pipelines(connection: Connection) -> dict[str, datetime]:
    """Ids of deleted pipelines, with the time of the deletion."""
    rows = connection.execute(sa.select(_P.pipeline_id, _P.deleted_at).where(_P.deleted_at.is_not(None)))
    return {row.pipeline_id: row.deleted_at for row in rows}


def newest_definition(connection: Connection, pipeline_id: str) -> dict[str, Any]:
    query = (
        sa.select(_D.document)
        .select_from(t.pipelines.join(t.definition_revisions))
        .where(_P.pipeline_id == pipeline_id, _D.revision == _P.revision)
    )
    return connection.execute(query).scalar_one()


def earlier_definitions(connection: Connection, pipeline_id: str, limit: int) -> Sequence[dict[str, Any]]:
    """The definitions before the newest one, latest first."""
    query = (
        sa.select(_D.document)
        .select_from(t.pipelines.join(t.definition_revisions))
        .where(_P.pipeline_id == pipeline_id, _D.revision < _P.revision)
        .order_by(_D.revision.desc())
        .limit(limit)
    )
    return connection.execute(query).scalars().all()


# Runs
def run_row(connection: Connection, run_id: str) -> Row | None:
    """The run for `run_info.json`; None if its folder is archived."""
    return _RUN.first(connection, {"run_id": run_id})


def execution_rows(connection: Connection, run_id: str) -> Sequence[Row]:
    return _EXECUTIONS.all(connection, {"run_id": run_id})


def artifact_rows(connection: Connection, run_id: str) -> Sequence[Row]:
    """Promoted artifacts of a run, oldest first."""
    return _ARTIFACTS.all(connection, {"run_id": run_id})


def latest_run(connection: Connection, pipeline_id: str) -> Row | None:
    """The run with the highest version that is not archived."""
    return _LATEST_RUN.first(connection, {"pipeline_id": pipeline_id})


def unarchived_runs(connection: Connection, pipeline_id: str) -> Sequence[Row]:
    """Runs of the current definition version."""
    return connection.execute(sa.select(_R.run_id, _R.run_version).where(*_in_runs_folder(pipeline_id))).all()


def unarchived_artifacts(connection: Connection, pipeline_id: str) -> Sequence[Row]:
    """Promoted artifacts of runs of the current definition version."""
    query = (
        sa.select(_A.file_path, _A.checksum, _A.size_bytes)
        .select_from(t.artifacts.join(t.checkpoint_executions).join(t.pipeline_runs, _R.run_id == _E.run_id))
        .where(*_in_runs_folder(pipeline_id), _E.archived_by.is_(None), _A.promoted_to_permanent_at.is_not(None))
    )
    return connection.execute(query).all()


def _in_runs_folder(pipeline_id: str) -> list[sa.ColumnElement[bool]]:
    version = sa.select(_P.pipeline_definition_version).where(_P.pipeline_id == pipeline_id).scalar_subquery()
    return [_R.pipeline_id == pipeline_id, _R.archived_by.is_(None), _R.pipeline_definition_version == version]


def runs_in_progress(connection: Connection, pipeline_id: str) -> Sequence[Row]:
    query = sa.select(_R.run_id, _R.run_version).where(
        _R.pipeline_id == pipeline_id, _R.status == RunStatus.IN_PROGRESS.value, _R.archived_by.is_(None)
    )
    return connection.execute(query).all()


def pipelines_of_runs(connection: Connection, run_ids: Collection[str]) -> set[str]:
    return set(connection.execute(sa.select(_R.pipeline_id).where(_R.run_id.in_(tuple(run_ids)))).scalars())


def revisions(connection: Connection, run_ids: Sequence[str]) -> dict[str, int]:
    rows = connection.execute(sa.select(_R.run_id, _R.revision).where(_R.run_id.in_(run_ids)))
    return {row.run_id: row.revision for row in rows}


# Executions and artifacts
def workspaces(connection: Connection, pipeline_id: str) -> Sequence[Row]:
    """All executions of the pipeline, with `has_workspace`."""
    query = (
        sa.select(_E.execution_id, _E.has_workspace, _R.archived_by)
        .select_from(t.checkpoint_executions.join(t.pipeline_runs, _R.run_id == _E.run_id))
        .where(_R.pipeline_id == pipeline_id)
    )
    return connection.execute(query).all()


def artifacts_by_id(connection: Connection, record_ids: Sequence[str]) -> Sequence[Row]:
    return connection.execute(sa.select(t.artifacts).where(_A.artifact_record_id.in_(record_ids))).all()


def promoted_paths(connection: Connection, run_id: str) -> list[str]:
    query = sa.select(_A.file_path).where(_A.run_id == run_id, _A.promoted_to_permanent_at.is_not(None))
    return list(connection.execute(query).scalars())


def artifact_checksums(connection: Connection, run_ids: Sequence[str]) -> set[str]:
    return set(connection.execute(sa.select(_A.checksum).where(_A.run_id.in_(run_ids))).scalars())


def log_lines(connection: Connection, execution_id: str) -> Sequence[Row]:
    c = t.execution_logs.c
    query = sa.select(c.timestamp, c.level, c.message).where(c.execution_id == execution_id).order_by(c.log_id)
    return connection.execute(query).all()


# Unsynced changes
def unsynced_pipelines(connection: Connection) -> set[str]:
    """Pipelines with a run or rollback whose files are not synced."""
    b = t.rollback_events.c
    runs = sa.select(_R.pipeline_id).where(_R.synced_revision < _R.revision).distinct()
    rollbacks = sa.select(b.pipeline_id).where(b.files_synced.is_(False)).distinct()
    return set(connection.execute(runs).scalars()).union(connection.execute(rollbacks).scalars())


def unsynced_runs(connection: Connection, pipeline_id: str) -> list[str]:
    """Runs of the current definition version whose files are not synced."""
    query = (
        sa.select(_R.run_id)
        .select_from(t.pipeline_runs.join(t.pipelines))
        .where(
            _R.pipeline_id == pipeline_id,
            _R.pipeline_definition_version == _P.pipeline_definition_version,
            _R.synced_revision < _R.revision,
            _R.archived_by.is_(None),
        )
    )
    return list(connection.execute(query).scalars())


def unsynced_definition_versions(connection: Connection, pipeline_id: str) -> Sequence[Row]:
    """Earlier definition versions whose runs are not archived in the folder yet, oldest first."""
    successor = (_D.pipeline_id == _R.pipeline_id) & (
        _D.pipeline_definition_version == _R.pipeline_definition_version + 1
    )
    query = (
        sa.select(_R.pipeline_definition_version.label("version"), sa.func.min(_D.created_at).label("ended_at"))
        .select_from(t.pipeline_runs.join(t.pipelines).join(t.definition_revisions, successor))
        .where(
            _R.pipeline_id == pipeline_id,
            _R.synced_revision < _R.revision,
            _R.pipeline_definition_version < _P.pipeline_definition_version,
        )
        .group_by(_R.pipeline_definition_version)
        .order_by(_R.pipeline_definition_version)
    )
    return connection.execute(query).all()


def unsynced_rollbacks(connection: Connection, pipeline_id: str) -> list[str]:
    """Rollbacks whose folders have not moved, oldest first."""
    b = t.rollback_events.c
    query = sa.select(b.rollback_id).where(b.pipeline_id == pipeline_id, b.files_synced.is_(False))
    return list(connection.execute(query.order_by(b.created_at)).scalars())


# Rollbacks
def rollback_row(connection: Connection, rollback_id: str) -> Row:
    b = t.rollback_events
    return connection.execute(sa.select(b).where(b.c.rollback_id == rollback_id)).one()


def archived_items(connection: Connection, rollback_id: str) -> Sequence[Row]:
    """The items that a rollback archived. Artifacts have a checksum and a size."""
    i = t.archived_items.c
    query = (
        sa.select(i.item_type, i.original_path, i.archived_path, _A.checksum, _A.size_bytes)
        .select_from(t.archived_items.outerjoin(t.artifacts, _A.artifact_record_id == i.item_id))
        .where(i.rollback_id == rollback_id)
    )
    return connection.execute(query).all()


# Events for the system log
_V = t.events.c
_EVENTS = PreparedQuery(
    sa.select(_V.id, _V.pipeline_id, _V.run_id, _V.event_type, _V.timestamp, _V.actor, _V.description, _R.run_version)
    .select_from(t.events.outerjoin(t.pipeline_runs, _R.run_id == _V.run_id))
    .where(_V.id > sa.bindparam("after", type_=BigInteger), _V.pipeline_id != NO_PIPELINE)
    .order_by(_V.id)
    .limit(MAX_EVENTS)
)


def events_after(connection: Connection, event_id: int) -> Sequence[Row]:
    """The next events of pipelines and runs, at most `MAX_EVENTS`."""
    return _EVENTS.all(connection, {"after": event_id})


def newest_event_id(connection: Connection) -> int:
    return connection.execute(sa.select(sa.func.max(_V.id)).where(_V.pipeline_id != NO_PIPELINE)).scalar_one() or 0
