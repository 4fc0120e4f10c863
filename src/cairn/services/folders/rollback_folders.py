"""The folders of a rollback: moved into its archive, or back again. Repeated, it ends in the same state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from cairn.documents import encode_json
from cairn.files import FileContent, FileMove, Tree
from cairn.services.engine.file_plan import RollbackMoves
from cairn.services.folders import expected_files
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.runs.run_rows import Row


class RollbackFolders:
    def __init__(self, database: Database, tree: Tree) -> None:
        self._database = database
        self._tree = tree

    def archive(self, pipeline_id: str, moves: RollbackMoves) -> None:
        """Move what a commit has archived of one run."""
        record = self._database.read(lambda c: _record(c, moves.rollback))
        self._tree.archive_rollback(
            pipeline_id, moves.archive, metadata(record), self._of_commit(moves, into_archive=True)
        )

    def restore(self, pipeline_id: str, moves: RollbackMoves) -> None:
        """Move back what a commit has restored of one run."""
        self._tree.restore_rollback(pipeline_id, moves.archive, self._of_commit(moves, into_archive=False))

    def _of_commit(self, moves: RollbackMoves, *, into_archive: bool) -> list[FileMove]:
        files: list[FileMove] = []
        for file in moves.files:
            original, archived = (
                (file.original, file.destination) if into_archive else (file.destination, file.original)
            )
            content = expected_files.blob_file(self._database, original, file.checksum, file.size)
            files.append(FileMove(original, archived, content))
        folders = {
            (folder.original, folder.archived): FileMove(folder.original, folder.archived)
            for folder in moves.folders
            if folder.item_type == "run" or _holds(folder.original, [file.original for file in files])
        }
        return [*folders.values(), *files]

    def recover(self, rollback: str) -> None:
        """Move what has not moved before a crash, or while the disk failed, as the database has it."""
        record, items = self._database.read(lambda c: (_record(c, rollback), _items(c, rollback)))
        location = record.archive_location.rstrip("/")
        moves = self._moves(items)
        if record.undone_at is None:
            self._tree.archive_rollback(record.pipeline_id, location, metadata(record), moves)
        else:
            self._tree.restore_rollback(record.pipeline_id, location, moves)

    def _moves(self, items: Sequence[Row]) -> list[FileMove]:
        """Whole folders move, with whatever else people have put there; their artifacts after them."""
        files = [item for item in items if item.item_type == "artifact"]
        moves = {
            (item.original_path, item.archived_path): FileMove(item.original_path, item.archived_path)
            for item in items
            if item.item_type == "run"
            or (item.item_type == "execution" and _holds(item.original_path, [file.original_path for file in files]))
        }
        return [*moves.values(), *(FileMove(f.original_path, f.archived_path, self._content(f)) for f in files)]

    def _content(self, item: Row) -> FileContent:
        return expected_files.blob_file(self._database, item.original_path, item.checksum, item.size_bytes)


def _holds(folder: str, files: Sequence[str]) -> bool:
    """An execution without outputs may share its folder with one that stays."""
    return any(file.startswith(f"{folder}/") for file in files)


def _record(connection: Connection, rollback: str) -> Row:
    r = t.rollback_events
    return connection.execute(sa.select(r).where(r.c.rollback_id == rollback)).one()


def _items(connection: Connection, rollback: str) -> Sequence[Row]:
    i, a = t.archived_items.c, t.artifacts.c
    return connection.execute(
        sa.select(i.item_type, i.original_path, i.archived_path, a.checksum, a.size_bytes)
        .select_from(t.archived_items.outerjoin(t.artifacts, a.artifact_record_id == i.item_id))
        .where(i.rollback_id == rollback)
    ).all()


def metadata(record: Row) -> bytes:
    """`rollback_metadata.json`: the rollback as a record beside its archive."""
    told: dict[str, Any] = {str(name): getattr(record, name) for name in record._fields}
    for name in ("undone_at", "files_synced"):
        told.pop(name)
    told["created_at"] = record.created_at.isoformat().replace("+00:00", "Z")
    return encode_json(told, indent=True)
