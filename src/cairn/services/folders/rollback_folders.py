"""The folders of a rollback: moved into its archive, or back again, as its record says (R1, D30)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from cairn.documents import encode_json
from cairn.files import FileContent, FileMove, Tree
from cairn.services.folders import expected_files
from cairn.store import Database
from cairn.store import tables as t
from cairn.store.runs.run_rows import Row


class RollbackFolders:
    def __init__(self, database: Database, tree: Tree) -> None:
        self._database = database
        self._tree = tree

    def follow(self, rollback: str) -> None:
        """Move what has not moved yet. Repeated, also after a crash, it ends in the same state."""
        record, items = self._database.read(lambda c: _record(c, rollback))
        location = record.archive_location.rstrip("/")
        moves = self._moves(items)
        if record.undone_at is None:
            self._tree.archive(record.pipeline_id, location, metadata(record), moves)
        else:
            self._tree.unarchive(record.pipeline_id, location, moves)

    def _moves(self, items: Sequence[Row]) -> list[FileMove]:
        """Whole folders move, with whatever else people have put there; their artifacts after them."""
        files = [item for item in items if item.item_type == "artifact"]
        moves = {
            (item.original_path, item.archived_path): FileMove(item.original_path, item.archived_path)
            for item in items
            if item.item_type == "run" or (item.item_type == "execution" and _holds(item, files))
        }
        return [*moves.values(), *(FileMove(f.original_path, f.archived_path, self._content(f)) for f in files)]

    def _content(self, item: Row) -> FileContent:
        return expected_files.of_blob(self._database, item.original_path, item.checksum, item.size_bytes)


def _holds(folder: Row, files: Sequence[Row]) -> bool:
    """An execution that put nothing out may share its folder with one that stays."""
    return any(file.original_path.startswith(f"{folder.original_path}/") for file in files)


def _record(connection: sa.Connection, rollback: str) -> tuple[Row, Sequence[Row]]:
    r, i, a = t.rollback_events, t.archived_items.c, t.artifacts.c
    record = connection.execute(sa.select(r).where(r.c.rollback_id == rollback)).one()
    items = connection.execute(
        sa.select(i.item_type, i.original_path, i.archived_path, a.checksum, a.size_bytes)
        .select_from(t.archived_items.outerjoin(t.artifacts, a.artifact_record_id == i.item_id))
        .where(i.rollback_id == rollback)
    ).all()
    return record, items


def metadata(record: Row) -> bytes:
    """`rollback_metadata.json`: the event record as seed 0 §5 has it."""
    told: dict[str, Any] = {str(name): getattr(record, name) for name in record._fields}
    for name in ("undone_at", "files_done"):
        told.pop(name)
    told["created_at"] = record.created_at.isoformat().replace("+00:00", "Z")
    return encode_json(told, indent=True)
