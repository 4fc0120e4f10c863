"""The archive location and archived items of a rollback."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from cairn.store.tables import archived_items, rollback_events


class ArchivedItem(NamedTuple):
    """An item of a rollback. Paths are relative to the pipeline's folder."""

    item_type: str  # run, execution or artifact
    item_id: str
    original_path: str
    archived_path: str


def archive_location(connection: sa.Connection, rollback_id: str) -> str:
    r = rollback_events.c
    return connection.execute(sa.select(r.archive_location).where(r.rollback_id == rollback_id)).scalar_one()


def find_archived_items(connection: sa.Connection, rollback_id: str) -> list[ArchivedItem]:
    i = archived_items.c
    query = sa.select(i.item_type, i.item_id, i.original_path, i.archived_path).where(i.rollback_id == rollback_id)
    return [ArchivedItem(*row) for row in connection.execute(query)]
