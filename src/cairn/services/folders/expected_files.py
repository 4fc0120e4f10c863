"""The files that the database expects in the folder of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from cairn.documents import DocumentError, decode_json, digest, encode_json
from cairn.files import FileContent, layout
from cairn.services.folders import queries
from cairn.store import Connection, Database, blobs
from cairn.store.runs.run_rows import Row

MAX_IN_MEMORY = 1024 * 1024  # bytes; larger content is streamed
DIGEST = "digest"  # field of `run_info.json`: a digest of all other fields, which reveals edits


def blob_file(database: Database, path: str, checksum: str, size: int, staged_as: str | None = None) -> FileContent:
    """A file with the content of a blob, which is read only if the file has to be written."""

    def read() -> bytes | Iterator[bytes]:
        if size < MAX_IN_MEMORY:
            return database.read(lambda c: blobs.read(c, checksum))
        return _stream(database, checksum)

    return FileContent(path, checksum, size, read, staged_as)


def _stream(database: Database, checksum: str) -> Iterator[bytes]:
    with database.read_engine.connect() as connection, connection.begin():
        yield from blobs.open_stream(connection, checksum)


# Definitions
@dataclass(frozen=True, slots=True)
class DefinitionFiles:
    pipeline: bytes
    checkpoints: Mapping[str, bytes]  # by checkpoint_id
    scripts: Mapping[str, bytes] = field(default_factory=dict[str, bytes])  # by path

    def paths(self) -> dict[str, bytes]:
        checkpoints = {f"{layout.CHECKPOINTS}/{key}.json": content for key, content in self.checkpoints.items()}
        scripts = {f"{layout.SCRIPTS}/{path}": content for path, content in self.scripts.items()}
        return {layout.PIPELINE_FILE: self.pipeline, **checkpoints, **scripts}


def definition_files(connection: Connection, pipeline_id: str) -> DefinitionFiles:
    """The files of the newest definition."""
    document = queries.newest_definition(connection, pipeline_id)
    scripts = {path: blobs.read(connection, entry["checksum"]) for path, entry in document.get("scripts", {}).items()}
    return replace(_files_of(document), scripts=scripts)


def earlier_definition_checksums(connection: Connection, pipeline_id: str, limit: int) -> frozenset[str]:
    """Checksums of the files that Cairn wrote for up to `limit` previous definitions."""
    documents = queries.earlier_definitions(connection, pipeline_id, limit)
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


# Runs
def run_info(connection: Connection, run_id: str) -> bytes | None:
    """The content of `run_info.json`; None if the folder of the run is archived."""
    run = queries.run_row(connection, run_id)
    if run is None:
        return None
    executions = queries.execution_rows(connection, run_id)
    execution_ids = {row.execution_id for row in executions}
    artifacts = [row for row in queries.artifact_rows(connection, run_id) if row.execution_id in execution_ids]
    info = _as_json(run)
    info["checkpoint_execution_history"] = [row.execution_id for row in executions]
    info["executions"] = [_as_json(row) for row in executions]
    info["artifacts"] = [_as_json(row) for row in artifacts]
    return encode_json({**info, DIGEST: digest(info)}, indent=True)


def _as_json(row: Row) -> dict[str, Any]:
    return {
        name: value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
        for name, value in zip(row._fields, row, strict=True)
    }


def checksum_if_unmodified(content: bytes) -> str | None:
    """The checksum of a `run_info.json`; None if it was edited after Cairn wrote it."""
    try:
        info = decode_json(content)
    except DocumentError:
        return None
    is_unmodified = isinstance(info, dict) and info.pop(DIGEST, None) == digest(info)
    return sha256(content).hexdigest() if is_unmodified else None


def latest_run_folder(connection: Connection, pipeline_id: str) -> str | None:
    """The folder that the `latest` link points to."""
    row = queries.latest_run(connection, pipeline_id)
    return layout.run_folder(row.run_version, row.run_id) if row is not None else None


# All files of a pipeline
def list_files(connection: Connection, database: Database, pipeline_id: str) -> dict[str, FileContent]:
    """Every file expected in `runs/` and among the definitions, by path."""
    files: dict[str, FileContent] = {}
    for path, data in definition_files(connection, pipeline_id).paths().items():
        files[path] = FileContent.of(path, data)
    for run in queries.unarchived_runs(connection, pipeline_id):
        path = f"{layout.run_folder(run.run_version, run.run_id)}/{layout.RUN_INFO}"
        if (info := run_info(connection, run.run_id)) is not None:
            files[path] = FileContent.of(path, info)
    for row in queries.unarchived_artifacts(connection, pipeline_id):
        files[row.file_path] = blob_file(database, row.file_path, row.checksum, row.size_bytes)
    return files
