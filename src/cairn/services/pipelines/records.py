"""Save definitions, their scripts and events."""

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


def newest_definition(connection: Connection, pipeline_id: str) -> PipelineDefinition:
    return parse(dict(definition(connection, pipeline_id, newest_revision(connection, pipeline_id))))


def archive_runs(connection: Connection, pipeline_id: str, version: int, context: CommandContext) -> None:
    """Change the file paths of a definition version's runs to their archived folders."""
    a, r = t.artifacts, t.pipeline_runs
    archive = layout.definition_archive(version, context.at)
    is_archived = (r.c.pipeline_id == pipeline_id, r.c.pipeline_definition_version == version)
    connection.execute(
        sa.update(a)
        .where(a.c.run_id.in_(sa.select(r.c.run_id).where(*is_archived)), a.c.file_path.like(f"{layout.RUNS}/%"))
        .values(file_path=sa.literal(f"{archive}/") + a.c.file_path)
    )
    # The files are out of sync until the folders have moved.
    connection.execute(sa.update(r).where(*is_archived).values(revision=r.c.revision + 1))


def save_scripts(
    connection: Connection, pipeline_id: str, definition: PipelineDefinition, texts: Mapping[str, str]
) -> None:
    """Store the script texts of a definition. Scripts without a text must already be stored for this pipeline."""
    for text in texts.values():
        blobs.put(connection, text.encode())
    without_text = {path: file.checksum for path, file in definition.scripts.items() if path not in texts}
    known = scripts.known_checksums(connection, pipeline_id) if without_text else set[str]()
    errors = [
        (join(("scripts", path)), "This pipeline has no script with this checksum. Send the text of the script.")
        for path, checksum in without_text.items()
        if checksum not in known
    ]
    if errors:
        raise InvalidInput(errors)


def append_event(connection: Connection, pipeline_id: str, type: str, context: CommandContext, **metadata: Any) -> None:
    chain.append_pipeline_event(connection, pipeline_id, type, context.by, context.at, metadata)
