"""Pipelines that use an agent of the library, looked at again when the agent changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from cairn.definitions import DefinitionError
from cairn.definitions.findings import errors
from cairn.services.agent_library.service import SHOWN
from cairn.services.pipelines import pipeline_rows as rows
from cairn.store import Database, library


def unfit(database: Database, check: Callable[[Any], object], name: str) -> list[str]:
    """Pipelines that name the agent and could not be saved now, each with its first fault; at most so many.

    `check`: of a definition, with the library as it is now; DefinitionError if it cannot work.
    """
    told: list[str] = []
    for pipeline, definition in database.read(lambda c: _definitions(c, name)):
        try:
            check(definition)
        except DefinitionError as error:
            first = errors(error.findings)[0]
            told.append(f"{pipeline} does not fit it any more: {first.path}: {first.message}")
    return told[:SHOWN]


def _definitions(connection: sa.Connection, name: str) -> list[tuple[str, dict[str, Any]]]:
    named = [use for use in library.uses(connection) if use.agent == name]
    newest = rows.newest_revision
    return [
        (use.pipeline_name, dict(rows.definition(connection, use.pipeline_id, newest(connection, use.pipeline_id))))
        for use in named
    ]
