"""Scripts of definitions, and the recorded calls of executions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from cairn.documents import digest
from cairn.store.tables import definition_scripts, execution_calls


class StoredScript(NamedTuple):
    checksum: str
    size: int


def write_scripts(connection: sa.Connection, pipeline_id: str, revision: int, scripts: Mapping[str, Any]) -> None:
    """Save the scripts of one revision. Their content is already stored."""
    rows = [
        {"pipeline_id": pipeline_id, "revision": revision, "path": path, **entry} for path, entry in scripts.items()
    ]
    if rows:
        connection.execute(sa.insert(definition_scripts), rows)


def scripts_of(connection: sa.Connection, pipeline_id: str, revision: int) -> dict[str, StoredScript]:
    c = definition_scripts.c
    rows = connection.execute(
        sa.select(c.path, c.checksum, c.size_bytes)
        .where(c.pipeline_id == pipeline_id, c.revision == revision)
        .order_by(c.path)
    )
    return {row.path: StoredScript(row.checksum, row.size_bytes) for row in rows}


def known_checksums(connection: sa.Connection, pipeline_id: str) -> set[str]:
    """Return the checksums of all scripts in all revisions of the pipeline."""
    c = definition_scripts.c
    return set(connection.execute(sa.select(c.checksum).where(c.pipeline_id == pipeline_id).distinct()).scalars())


# Recorded calls
def write_call(
    connection: sa.Connection,
    execution_id: str,
    revision: int,
    number: int,
    kind: str,
    arguments: Mapping[str, Any],
    inputs_checksum: str | None,
    at: datetime,
) -> None:
    """Record a call, replacing an earlier record of the same call."""
    c = execution_calls.c
    same = (c.execution_id == execution_id, c.revision_iteration == revision, c.number == number)
    connection.execute(sa.delete(execution_calls).where(*same))
    connection.execute(
        sa.insert(execution_calls).values(
            execution_id=execution_id,
            revision_iteration=revision,
            number=number,
            kind=kind,
            arguments=dict(arguments),
            digest=digest(dict(arguments)),
            inputs_checksum=inputs_checksum,
            requested_at=at,
        )
    )


def link_call(connection: sa.Connection, execution_id: str, revision: int, number: int, action_id: str) -> None:
    """Record which action a call proposed, or whose outcome it was given again."""
    c = execution_calls.c
    same = (c.execution_id == execution_id, c.revision_iteration == revision, c.number == number)
    connection.execute(sa.update(execution_calls).where(*same).values(action_id=action_id))


def calls_of(connection: sa.Connection, execution_id: str, revision: int) -> list[Any]:
    """Return the recorded calls in order."""
    c = execution_calls.c
    query = sa.select(execution_calls).where(c.execution_id == execution_id, c.revision_iteration == revision)
    return list(connection.execute(query.order_by(c.number)))
