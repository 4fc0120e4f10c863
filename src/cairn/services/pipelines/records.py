from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from cairn.core.commands import CommandContext
from cairn.definitions import PipelineDefinition, parse
from cairn.documents.pointers import join
from cairn.files import layout
from cairn.services.errors import InvalidInput
from cairn.store import Connection, blobs, scripts
from cairn.store import tables as t
from cairn.store.events import chain
from cairn.store.pipelines import definition, newest_revision


def newest(connection: Connection, pipeline_id: str) -> PipelineDefinition:
    return parse(dict(definition(connection, pipeline_id, newest_revision(connection, pipeline_id))))


def archive_runs(connection: Connection, pipeline_id: str, version: int, given: CommandContext) -> None:
    """The files of runs of the definition that ends move with their folders."""
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
    connection: Connection, pipeline_id: str, definition: PipelineDefinition, texts: Mapping[str, str]
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


def tell(connection: Connection, pipeline_id: str, type: str, given: CommandContext, **metadata: Any) -> None:
    chain.append_pipeline_event(connection, pipeline_id, type, given.by, given.at, metadata)
