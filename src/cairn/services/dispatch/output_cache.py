"""Outputs of executions, as others read them: found once, and remembered while they are wanted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

import sqlalchemy as sa

from cairn.core.execution import Execution
from cairn.core.states import ExecutionState
from cairn.ports import ArtifactSource, StoredFile
from cairn.store import Connection, Database, LoadedRun, NewArtifact, blobs
from cairn.store import tables as t
from cairn.store.runs.run_rows import Row

KEPT = 4096  # executions whose outputs are remembered
SMALL = 64 * 1024  # contents up to this size are remembered with them
Outputs = Mapping[str, tuple[StoredFile, ...]]  # by execution


class OutputCache:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._outputs = OrderedDict[str, tuple[StoredFile, ...]]()  # by execution; what is completed does not change

    def cached(self, executions: Iterable[str]) -> dict[str, tuple[StoredFile, ...]]:
        """Those that are at hand."""
        return {one: known for one in executions if (known := self._outputs.get(one)) is not None}

    def look_up(self, connection: Connection, executions: Sequence[str]) -> dict[str, tuple[StoredFile, ...]]:
        outputs = self.cached(executions)
        for one, read in self._read(connection, [one for one in executions if one not in outputs]).items():
            outputs[one] = read
            self._keep(one, read)
        return outputs

    def remember(self, execution_id: str, artifacts: Iterable[NewArtifact]) -> None:
        """What has just been completed is read next."""
        self._keep(execution_id, tuple(map(self._of_new, artifacts)))

    def of_requester(self, connection: Connection, loaded: LoadedRun, e: Execution) -> tuple[StoredFile, ...]:
        """What the execution that sent the work back has made so far, staged or not."""
        asker = loaded.run.executions.get(e.parent_execution) if e.parent_execution else None
        if asker is None or not asker.outputs:
            return ()
        a = t.artifacts.c
        rows = connection.execute(
            sa.select(t.artifacts)
            .where(a.artifact_record_id.in_(asker.outputs))
            .order_by(a.created_at, a.artifact_name)
        )
        return tuple(map(self._stored, rows))

    def of_previous_run(self, connection: Connection, loaded: LoadedRun, e: Execution) -> ArtifactSource | None:
        """The same checkpoint in the nearest earlier run that completed it."""
        run_id, r, x = loaded.facts.previous_run_id, t.pipeline_runs.c, t.checkpoint_executions.c
        checkpoint_id = loaded.places[e.key].checkpoint_id
        while run_id is not None:
            run = connection.execute(
                sa.select(r.previous_run_id, r.run_version, r.archived_by, r.pass_number).where(r.run_id == run_id)
            ).one()
            row = connection.execute(
                sa.select(x.execution_id, x.checkpoint_name, x.checkpoint_position, x.pass_number)
                .where(
                    x.run_id == run_id,
                    x.checkpoint_id == checkpoint_id,
                    x.pass_number == run.pass_number,  # its last
                    x.state == ExecutionState.COMPLETED.value,
                    x.archived_by.is_(None),
                )
                .order_by(x.ordinal.desc())
                .limit(1)
            ).one_or_none()
            if row is not None and run.archived_by is None:
                outputs = self._read(connection, (row.execution_id,)).get(row.execution_id, ())
                return ArtifactSource(
                    row.checkpoint_name, row.checkpoint_position, run.run_version, outputs, row.pass_number
                )
            run_id = run.previous_run_id
        return None

    def _read(self, connection: Connection, executions: Iterable[str]) -> dict[str, tuple[StoredFile, ...]]:
        """The promoted artifacts of executions."""
        wanted, a = tuple(executions), t.artifacts.c
        if not wanted:
            return {}
        rows = connection.execute(
            sa.select(t.artifacts)
            .where(a.execution_id.in_(wanted), a.promoted_to_permanent_at.is_not(None))
            .order_by(a.created_at, a.artifact_name)
        )
        found: dict[str, tuple[StoredFile, ...]] = dict.fromkeys(wanted, ())
        for row in rows:
            found[row.execution_id] = (*found[row.execution_id], self._stored(row))
        return found

    def _stored(self, row: Row) -> StoredFile:
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

    def _of_new(self, a: NewArtifact) -> StoredFile:
        content = a.content
        read = self.reader(a.checksum) if content is None or a.size > SMALL else lambda: content
        return StoredFile(a.name, a.format, a.checksum, a.size, read, a.file_path, a.artifact_id, a.record_id)

    def reader(self, checksum: str) -> Callable[[], bytes]:
        return lambda: self._database.read(lambda c: blobs.read(c, checksum))

    def _keep(self, execution_id: str, outputs: tuple[StoredFile, ...]) -> None:
        self._outputs[execution_id] = outputs
        if len(self._outputs) > KEPT:
            self._outputs.popitem(last=False)
