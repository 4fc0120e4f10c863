"""The folder tree as the database has it: what must lie where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from cairn.documents import DocumentError, decode_json, digest, encode_json
from cairn.files import FileContent, layout
from cairn.store import Connection, Database, blobs
from cairn.store import tables as t
from cairn.store.column_types import Text
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.runs.run_rows import Row

LARGE = 1024 * 1024  # bytes from which on a content is not held in memory


def blob_file(database: Database, path: str, checksum: str, size: int, staged_as: str | None = None) -> FileContent:
    """Read from the database only when it has to be written."""

    def read() -> bytes | Iterator[bytes]:
        if size < LARGE:
            return database.read(lambda c: blobs.read(c, checksum))
        return _stream(database, checksum)

    return FileContent(path, checksum, size, read, staged_as)


def _stream(database: Database, checksum: str) -> Iterator[bytes]:
    with database.read_engine.connect() as connection, connection.begin():
        yield from blobs.open_stream(connection, checksum)


@dataclass(frozen=True, slots=True)
class DefinitionFiles:
    pipeline: bytes
    checkpoints: Mapping[str, bytes]  # by checkpoint_id
    scripts: Mapping[str, bytes] = field(default_factory=dict[str, bytes])  # by path

    def paths(self) -> dict[str, bytes]:
        named = {f"{layout.CHECKPOINTS}/{key}.json": content for key, content in self.checkpoints.items()}
        scripts = {f"{layout.SCRIPTS}/{path}": content for path, content in self.scripts.items()}
        return {layout.PIPELINE_FILE: self.pipeline, **named, **scripts}


def definition_files(connection: Connection, pipeline_id: str) -> DefinitionFiles:
    """The newest definition as files."""
    p, d = t.pipelines.c, t.definition_revisions.c
    document: dict[str, Any] = connection.execute(
        sa.select(d.document)
        .select_from(t.pipelines.join(t.definition_revisions))
        .where(p.pipeline_id == pipeline_id, d.revision == p.revision)
    ).scalar_one()
    scripts = {path: blobs.read(connection, entry["checksum"]) for path, entry in document.get("scripts", {}).items()}
    return replace(_files_of(document), scripts=scripts)


def earlier_definition_checksums(connection: Connection, pipeline_id: str, most: int) -> frozenset[str]:
    """Checksums of the files of earlier definitions, so many of them: what Cairn has written there itself."""
    p, d = t.pipelines.c, t.definition_revisions.c
    documents = (
        connection.execute(
            sa.select(d.document)
            .select_from(t.pipelines.join(t.definition_revisions))
            .where(p.pipeline_id == pipeline_id, d.revision < p.revision)
            .order_by(d.revision.desc())
            .limit(most)
        )
        .scalars()
        .all()
    )
    scripts = {entry["checksum"] for document in documents for entry in document.get("scripts", {}).values()}
    return frozenset(scripts).union(
        sha256(content).hexdigest() for document in documents for content in _files_of(document).paths().values()
    )


def _files_of(document: dict[str, Any]) -> DefinitionFiles:
    checkpoints: list[dict[str, Any]] = document.get("checkpoints", [])
    pipeline = {name: value for name, value in document.items() if name != "checkpoints"}
    pipeline["checkpoint_order"] = [checkpoint["checkpoint_id"] for checkpoint in checkpoints]
    return DefinitionFiles(
        encode_json(pipeline, indent=True), {c["checkpoint_id"]: encode_json(c, indent=True) for c in checkpoints}
    )


def own_run_info(content: bytes) -> str | None:
    """Its checksum, if Cairn wrote it and nobody has changed it since."""
    try:
        info = decode_json(content)
    except DocumentError:
        return None
    is_own = isinstance(info, dict) and info.pop(SEAL, None) == digest(info)
    return sha256(content).hexdigest() if is_own else None


SEAL = "digest"  # of the rest of the file: tells an old one from one that somebody has changed


_RUN = (
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
_EXECUTION = (
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
_ARTIFACT = ("artifact_record_id", "artifact_name", "format", "file_path", "size_bytes", "checksum")


_of_run = sa.bindparam("run_id", type_=Text())
_e, _a = t.checkpoint_executions.c, t.artifacts.c
_RUN_QUERY = PreparedQuery(
    sa.select(*(t.pipeline_runs.c[name] for name in _RUN))
    .select_from(t.pipeline_runs.join(t.pipelines))
    .where(
        t.pipeline_runs.c.run_id == _of_run,
        t.pipeline_runs.c.archived_by.is_(None),
        t.pipeline_runs.c.pipeline_definition_version == t.pipelines.c.pipeline_definition_version,
        t.pipelines.c.deleted_at.is_(None),
    )
)
_EXECUTIONS_QUERY = PreparedQuery(
    sa.select(*(_e[name] for name in _EXECUTION))
    .where(_e.run_id == _of_run, _e.archived_by.is_(None))
    .order_by(_e.ordinal)
)
_ARTIFACTS_QUERY = PreparedQuery(
    sa.select(_a.execution_id, *(_a[name] for name in _ARTIFACT))
    .where(_a.run_id == _of_run, _a.promoted_to_permanent_at.is_not(None))
    .order_by(_a.created_at, _a.artifact_record_id)
)


def run_info(connection: Connection, run_id: str) -> bytes | None:
    """What `run_info.json` says of a run: its row, its executions, its artifacts. None: its folder is in an archive."""
    of = {"run_id": run_id}
    run = _RUN_QUERY.first(connection, of)
    if run is None:
        return None
    executions = _EXECUTIONS_QUERY.all(connection, of)
    kept = {row.execution_id for row in executions}
    info = _plain(run)
    info["checkpoint_execution_history"] = [row.execution_id for row in executions]
    info["executions"] = [_plain(row) for row in executions]
    info["artifacts"] = [_plain(row) for row in _ARTIFACTS_QUERY.all(connection, of) if row.execution_id in kept]
    return encode_json({**info, SEAL: digest(info)}, indent=True)


def _plain(row: Row) -> dict[str, Any]:
    return {
        name: value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
        for name, value in zip(row._fields, row, strict=True)
    }


def expected(connection: Connection, database: Database, pipeline_id: str) -> dict[str, FileContent]:
    """Every file that must lie under `runs/` and among the definitions."""
    r, a, e, p = t.pipeline_runs.c, t.artifacts.c, t.checkpoint_executions.c, t.pipelines.c
    version = connection.execute(
        sa.select(p.pipeline_definition_version).where(p.pipeline_id == pipeline_id)
    ).scalar_one()
    standing = [r.pipeline_id == pipeline_id, r.archived_by.is_(None), r.pipeline_definition_version == version]
    files: dict[str, FileContent] = {}
    for path, data in definition_files(connection, pipeline_id).paths().items():
        files[path] = FileContent.of(path, data)
    for run in connection.execute(sa.select(r.run_id, r.run_version).where(*standing)):
        path = f"{layout.run_folder(run.run_version, run.run_id)}/{layout.RUN_INFO}"
        if (info := run_info(connection, run.run_id)) is not None:
            files[path] = FileContent.of(path, info)
    rows = connection.execute(
        sa.select(a.file_path, a.checksum, a.size_bytes)
        .select_from(t.artifacts.join(t.checkpoint_executions).join(t.pipeline_runs, r.run_id == e.run_id))
        .where(*standing, e.archived_by.is_(None), a.promoted_to_permanent_at.is_not(None))
    )
    for row in rows:
        files[row.file_path] = blob_file(database, row.file_path, row.checksum, row.size_bytes)
    return files


_r, _p = t.pipeline_runs.c, t.pipelines.c
_LATEST_QUERY = PreparedQuery(
    sa.select(_r.run_id, _r.run_version)
    .select_from(t.pipeline_runs.join(t.pipelines))
    .where(
        _r.pipeline_id == sa.bindparam("pipeline_id", type_=Text()),
        _r.archived_by.is_(None),
        _r.run_version.is_not(None),
        _r.pipeline_definition_version == _p.pipeline_definition_version,
    )
    .order_by(_r.run_version.desc())
    .limit(1)
)


def latest_folder(connection: Connection, pipeline_id: str) -> str | None:
    """Where `latest` points: the highest version that stands."""
    row = _LATEST_QUERY.first(connection, {"pipeline_id": pipeline_id})
    return layout.run_folder(row.run_version, row.run_id) if row is not None else None
