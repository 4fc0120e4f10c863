"""Pipelines whose folders have yet to follow a change."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store import Connection
from cairn.store import tables as t

UNFILED = "unfiled:"  # a fact about the installation, by pipeline


# ---- folders that have to follow ---------------------------------------------------------------------
def mark_unfiled(connection: Connection, pipeline_id: str) -> None:
    """With the change itself: until its folder has followed, what differs there is no drift."""
    if connection.execute(sa.select(t.settings.c.key).where(_mark(pipeline_id))).first() is None:
        connection.execute(sa.insert(t.settings).values(key=f"{UNFILED}{pipeline_id}", value=True))


def mark_filed(connection: Connection, pipeline_id: str) -> None:
    connection.execute(sa.delete(t.settings).where(_mark(pipeline_id)))


def unfiled(connection: Connection) -> set[str]:
    """Pipelines whose folders may not have followed."""
    keys = connection.execute(sa.select(t.settings.c.key).where(t.settings.c.key.like(f"{UNFILED}%"))).scalars()
    return {key.removeprefix(UNFILED) for key in keys}


def _mark(pipeline_id: str) -> sa.ColumnElement[bool]:
    return t.settings.c.key == f"{UNFILED}{pipeline_id}"
