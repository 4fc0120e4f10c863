"""Pipelines whose folders have yet to follow a change."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store import Connection
from cairn.store import tables as t

_PREFIX = "folder_out_of_sync:"  # of a settings key, followed by the pipeline's id


# ---- folders that have to follow ---------------------------------------------------------------------
def mark_out_of_sync(connection: Connection, pipeline_id: str) -> None:
    """With the change itself: until its folder has followed, what differs there is no drift."""
    if connection.execute(sa.select(t.settings.c.key).where(_mark(pipeline_id))).first() is None:
        connection.execute(sa.insert(t.settings).values(key=f"{_PREFIX}{pipeline_id}", value=True))


def mark_in_sync(connection: Connection, pipeline_id: str) -> None:
    connection.execute(sa.delete(t.settings).where(_mark(pipeline_id)))


def out_of_sync_pipelines(connection: Connection) -> set[str]:
    """Pipelines whose folders may not have followed."""
    keys = connection.execute(sa.select(t.settings.c.key).where(t.settings.c.key.like(f"{_PREFIX}%"))).scalars()
    return {key.removeprefix(_PREFIX) for key in keys}


def _mark(pipeline_id: str) -> sa.ColumnElement[bool]:
    return t.settings.c.key == f"{_PREFIX}{pipeline_id}"
