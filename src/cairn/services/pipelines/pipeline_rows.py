"""What the pipelines service reads and writes beside a definition's own rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from cairn.core.commands import CommandContext
from cairn.core.states import RunStatus
from cairn.definitions import PipelineDefinition, parse
from cairn.documents.pointers import join
from cairn.files import layout
from cairn.services.errors import InvalidInput, NotFound
from cairn.store import blobs, scripts
from cairn.store import tables as t
from cairn.store.events import chain
from cairn.store.pipelines import lock_pipeline
from cairn.store.runs.run_rows import Row

UNFILED = "unfiled:"  # a fact about the installation, by pipeline
OPEN = (RunStatus.NOT_STARTED.value, RunStatus.IN_PROGRESS.value, RunStatus.PAUSED.value)


def lock(connection: sa.Connection, pipeline_id: str) -> Row:
    """The pipeline's row; nobody else changes it before this transaction ends."""
    row = lock_pipeline(connection, pipeline_id)
    if row is None:
        raise NotFound("pipeline", pipeline_id)
    return row


def definition(connection: sa.Connection, pipeline_id: str, revision: int) -> Mapping[str, Any]:
    d = t.definition_revisions.c
    found = connection.execute(
        sa.select(d.document).where(d.pipeline_id == pipeline_id, d.revision == revision)
    ).scalar_one_or_none()
    if found is None:
        raise NotFound("revision of this pipeline", str(revision))
    return found


def newest_revision(connection: sa.Connection, pipeline_id: str) -> int:
    p = t.pipelines.c
    revision = connection.execute(sa.select(p.revision).where(p.pipeline_id == pipeline_id)).scalar_one_or_none()
    if revision is None:
        raise NotFound("pipeline", pipeline_id)
    return revision


def newest(connection: sa.Connection, pipeline_id: str) -> PipelineDefinition:
    return parse(dict(definition(connection, pipeline_id, newest_revision(connection, pipeline_id))))


def exists(connection: sa.Connection, pipeline_id: str) -> bool:
    p = t.pipelines.c
    return connection.execute(sa.select(p.pipeline_id).where(p.pipeline_id == pipeline_id)).first() is not None


def standing_runs(connection: sa.Connection, pipeline_id: str) -> list[str]:
    r = t.pipeline_runs.c
    return list(
        connection.execute(sa.select(r.run_id).where(r.pipeline_id == pipeline_id, r.archived_by.is_(None))).scalars()
    )


def open_runs(connection: sa.Connection, pipeline_id: str) -> list[str]:
    r = t.pipeline_runs.c
    found = connection.execute(
        sa.select(r.run_id)
        .where(r.pipeline_id == pipeline_id, r.status.in_(OPEN), r.archived_by.is_(None))
        .order_by(r.created_at)
    )
    return list(found.scalars())


def pipeline_of(connection: sa.Connection, checkpoint_id: str) -> str | None:
    c = t.checkpoint_definitions.c
    return connection.execute(
        sa.select(c.pipeline_id).where(c.checkpoint_id == checkpoint_id, c.removed_at.is_(None))
    ).scalar_one_or_none()


def archive_runs(connection: sa.Connection, pipeline_id: str, version: int, given: CommandContext) -> None:
    """The files of runs of the definition that ends move with their folders (P2)."""
    a, r = t.artifacts, t.pipeline_runs
    into = layout.definition_archive(version, given.at)
    ends = (r.c.pipeline_id == pipeline_id, r.c.pipeline_definition_version == version)
    connection.execute(
        sa.update(a)
        .where(a.c.run_id.in_(sa.select(r.c.run_id).where(*ends)), a.c.file_path.like(f"{layout.RUNS}/%"))
        .values(file_path=sa.literal(f"{into}/") + a.c.file_path)
    )
    # Until their folders have moved, their files do not stand.
    connection.execute(sa.update(r).where(*ends).values(revision=r.c.revision + 1))


def keep_scripts(
    connection: sa.Connection, pipeline_id: str, definition: PipelineDefinition, texts: Mapping[str, str]
) -> None:
    """Store the texts that came with a definition; what it refers to without one has to be its own already."""
    for text in texts.values():
        blobs.put(connection, text.encode())
    referred = {path: file.checksum for path, file in definition.scripts.items() if path not in texts}
    known = scripts.known_checksums(connection, pipeline_id) if referred else set[str]()
    errors = [
        (join(("scripts", path)), "This pipeline has had no script with this checksum: send the text.")
        for path, checksum in referred.items()
        if checksum not in known
    ]
    if errors:
        raise InvalidInput(errors)


# ---- folders that have to follow ---------------------------------------------------------------------
def mark_unfiled(connection: sa.Connection, pipeline_id: str) -> None:
    """With the change itself: until its folder has followed, what differs there is no drift."""
    if connection.execute(sa.select(t.settings.c.key).where(_mark(pipeline_id))).first() is None:
        connection.execute(sa.insert(t.settings).values(key=f"{UNFILED}{pipeline_id}", value=True))


def mark_filed(connection: sa.Connection, pipeline_id: str) -> None:
    connection.execute(sa.delete(t.settings).where(_mark(pipeline_id)))


def unfiled(connection: sa.Connection) -> set[str]:
    """Pipelines whose folders may not have followed."""
    keys = connection.execute(sa.select(t.settings.c.key).where(t.settings.c.key.like(f"{UNFILED}%"))).scalars()
    return {key.removeprefix(UNFILED) for key in keys}


def _mark(pipeline_id: str) -> sa.ColumnElement[bool]:
    return t.settings.c.key == f"{UNFILED}{pipeline_id}"


def tell(connection: sa.Connection, pipeline_id: str, type: str, given: CommandContext, **metadata: Any) -> None:
    chain.append_pipeline_event(connection, pipeline_id, type, given.by, given.at, metadata)
