"""Outputs of completed executions, as other executions read them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

from cairn.core.execution import Execution
from cairn.ports import ArtifactSource, StoredFile
from cairn.services.dispatch import queries
from cairn.store import Connection, Database, LoadedRun, NewArtifact, blobs
from cairn.store.runs.run_rows import Row

MAX_CACHED = 4096  # executions
MAX_CACHED_CONTENT = 64 * 1024  # bytes; larger content is read from the database again
Outputs = Mapping[str, tuple[StoredFile, ...]]  # by execution


class OutputCache:
    """The outputs of a completed execution never change, so entries are never invalidated."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._outputs = OrderedDict[str, tuple[StoredFile, ...]]()  # by execution

    def cached(self, execution_ids: Iterable[str]) -> dict[str, tuple[StoredFile, ...]]:
        """The outputs of the executions that are in the cache."""
        return {key: files for key in execution_ids if (files := self._outputs.get(key)) is not None}

    def look_up(self, connection: Connection, execution_ids: Sequence[str]) -> dict[str, tuple[StoredFile, ...]]:
        """The outputs of all these executions. Missing ones are read and cached."""
        outputs = self.cached(execution_ids)
        for execution_id, files in self._read(connection, [key for key in execution_ids if key not in outputs]).items():
            outputs[execution_id] = files
            self._add(execution_id, files)
        return outputs

    def remember(self, execution_id: str, artifacts: Iterable[NewArtifact]) -> None:
        """Cache the outputs of an execution that has just completed. The next execution will probably read them."""
        self._add(execution_id, tuple(map(self._from_new, artifacts)))

    def requester_files(self, connection: Connection, loaded: LoadedRun, e: Execution) -> tuple[StoredFile, ...]:
        """All artifacts of the execution that requested this rework, including staged ones."""
        requester = loaded.run.executions.get(e.parent_execution) if e.parent_execution else None
        if requester is None or not requester.outputs:
            return ()
        return tuple(map(self._from_row, queries.artifacts_by_record_id(connection, requester.outputs)))

    def previous_run_outputs(self, connection: Connection, loaded: LoadedRun, e: Execution) -> ArtifactSource | None:
        """The outputs of the same checkpoint in the latest earlier run that completed it."""
        checkpoint_id = loaded.places[e.key].checkpoint_id
        found = queries.latest_completed_execution(connection, loaded.facts.previous_run_id, checkpoint_id)
        if found is None:
            return None
        row, run_version = found
        outputs = self._read(connection, (row.execution_id,)).get(row.execution_id, ())
        return ArtifactSource(row.checkpoint_name, row.checkpoint_position, run_version, outputs, row.pass_number)

    def _read(self, connection: Connection, execution_ids: Sequence[str]) -> dict[str, tuple[StoredFile, ...]]:
        if not execution_ids:
            return {}
        found: dict[str, tuple[StoredFile, ...]] = dict.fromkeys(execution_ids, ())
        for row in queries.promoted_artifacts(connection, execution_ids):
            found[row.execution_id] = (*found[row.execution_id], self._from_row(row))
        return found

    def _from_row(self, row: Row) -> StoredFile:
        return StoredFile(
            name=row.artifact_name,
            format=row.format,
            checksum=row.checksum,
            size=row.size_bytes,
            read=self.reader(row.checksum),
            path=row.file_path,
            artifact_id=row.artifact_id,
            record_id=row.artifact_record_id,
        )

    def _from_new(self, a: NewArtifact) -> StoredFile:
        content = a.content
        read = self.reader(a.checksum) if content is None or a.size > MAX_CACHED_CONTENT else lambda: content
        return StoredFile(a.name, a.format, a.checksum, a.size, read, a.file_path, a.artifact_id, a.record_id)

    def reader(self, checksum: str) -> Callable[[], bytes]:
        return lambda: self._database.read(lambda c: blobs.read(c, checksum))

    def _add(self, execution_id: str, outputs: tuple[StoredFile, ...]) -> None:
        self._outputs[execution_id] = outputs
        if len(self._outputs) > MAX_CACHED:
            self._outputs.popitem(last=False)
