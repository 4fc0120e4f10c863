"""Move the folders of a rollback to its archive, or back. A repeated move changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cairn.documents import encode_json
from cairn.files import FileContent, FileMove, Tree
from cairn.services.engine.file_plan import RollbackMoves
from cairn.services.folders import queries
from cairn.services.folders.expected_files import blob_file
from cairn.store import Database
from cairn.store.runs.run_rows import Row


class RollbackFolders:
    def __init__(self, database: Database, tree: Tree) -> None:
        self._database = database
        self._tree = tree

    def archive(self, pipeline_id: str, moves: RollbackMoves) -> None:
        """Archive the folders and files that a commit has rolled back in a run."""
        row = self._database.read(lambda c: queries.rollback_row(c, moves.rollback))
        self._tree.archive_rollback(
            pipeline_id, moves.archive, metadata(row), self._file_moves(moves, into_archive=True)
        )

    def restore(self, pipeline_id: str, moves: RollbackMoves) -> None:
        """Move back the folders and files that a commit has restored in a run."""
        self._tree.restore_rollback(pipeline_id, moves.archive, self._file_moves(moves, into_archive=False))

    def _file_moves(self, moves: RollbackMoves, *, into_archive: bool) -> list[FileMove]:
        files: list[FileMove] = []
        for file in moves.files:
            original, archived = (
                (file.original, file.destination) if into_archive else (file.destination, file.original)
            )
            content = blob_file(self._database, original, file.checksum, file.size)
            files.append(FileMove(original, archived, content))
        folders = {
            (folder.original, folder.archived): FileMove(folder.original, folder.archived)
            for folder in moves.folders
            if folder.item_type == "run" or _contains_any(folder.original, [file.original for file in files])
        }
        return [*folders.values(), *files]

    def recover(self, rollback_id: str) -> None:
        """Finish the moves of a rollback from the database, after a crash or a disk error."""
        row, items = self._database.read(
            lambda c: (queries.rollback_row(c, rollback_id), queries.archived_items(c, rollback_id))
        )
        location = row.archive_location.rstrip("/")
        moves = self._stored_moves(items)
        if row.undone_at is None:
            self._tree.archive_rollback(row.pipeline_id, location, metadata(row), moves)
        else:
            self._tree.restore_rollback(row.pipeline_id, location, moves)

    def _stored_moves(self, items: Sequence[Row]) -> list[FileMove]:
        """Folders first, with any files that users added to them, then artifacts."""
        files = [item for item in items if item.item_type == "artifact"]
        moves = {
            (item.original_path, item.archived_path): FileMove(item.original_path, item.archived_path)
            for item in items
            if item.item_type == "run"
            or (
                item.item_type == "execution"
                and _contains_any(item.original_path, [file.original_path for file in files])
            )
        }
        return [*moves.values(), *(FileMove(f.original_path, f.archived_path, self._content(f)) for f in files)]

    def _content(self, item: Row) -> FileContent:
        return blob_file(self._database, item.original_path, item.checksum, item.size_bytes)


def _contains_any(folder: str, files: Sequence[str]) -> bool:
    """The folder of an execution without outputs stays: it may belong to another execution too."""
    return any(file.startswith(f"{folder}/") for file in files)


def metadata(rollback: Row) -> bytes:
    """The content of `rollback_metadata.json` in the archive."""
    fields: dict[str, Any] = {str(name): getattr(rollback, name) for name in rollback._fields}
    for name in ("undone_at", "files_synced"):
        fields.pop(name)
    fields["created_at"] = rollback.created_at.isoformat().replace("+00:00", "Z")
    return encode_json(fields, indent=True)
