"""Record which folders are in sync with the database."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from cairn.store import Connection
from cairn.store import tables as t

_PREFIX = "folder_out_of_sync:"  # of settings keys that end with a pipeline id
_R = t.pipeline_runs.c


def mark_out_of_sync(connection: Connection, pipeline_id: str) -> None:
    """Mark a pipeline whose folder lacks a committed change, so that the difference doesn't count as drift."""
    if connection.execute(sa.select(t.settings.c.key).where(_is_mark(pipeline_id))).first() is None:
        connection.execute(sa.insert(t.settings).values(key=f"{_PREFIX}{pipeline_id}", value=True))


def mark_in_sync(connection: Connection, pipeline_id: str) -> None:
    connection.execute(sa.delete(t.settings).where(_is_mark(pipeline_id)))


def out_of_sync_pipelines(connection: Connection) -> set[str]:
    keys = connection.execute(sa.select(t.settings.c.key).where(t.settings.c.key.like(f"{_PREFIX}%"))).scalars()
    return {key.removeprefix(_PREFIX) for key in keys}


def _is_mark(pipeline_id: str) -> sa.ColumnElement[bool]:
    return t.settings.c.key == f"{_PREFIX}{pipeline_id}"


def save_synced_revisions(connection: Connection, revisions: Mapping[str, int]) -> None:
    """Save which revision of each run is in its folder."""
    update = sa.update(t.pipeline_runs).where(_R.run_id == sa.bindparam("run"))
    connection.execute(
        update.values(synced_revision=sa.bindparam("synced")),
        [{"run": run_id, "synced": revision} for run_id, revision in revisions.items()],
    )


def mark_definition_version_synced(connection: Connection, pipeline_id: str, version: int) -> None:
    """Record that the runs of this definition version are archived in the folder."""
    update = sa.update(t.pipeline_runs).where(_R.pipeline_id == pipeline_id, _R.pipeline_definition_version == version)
    connection.execute(update.values(synced_revision=_R.revision))
