"""Save log lines, and the progress and sandbox level of executions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError, SQLAlchemyError, StatementError

from cairn.store import Connection
from cairn.store import tables as t


def save_batch(
    connection: Connection,
    lines: list[dict[str, Any]],
    progress: Mapping[str, dict[str, Any]],
    sandboxes: Mapping[str, str],
) -> None:
    """Save a batch. `progress` and `sandboxes` are keyed by execution."""
    if lines:
        connection.execute(sa.insert(t.execution_logs), lines)
    e = t.checkpoint_executions
    for execution_id, value in progress.items():
        connection.execute(sa.update(e).where(e.c.execution_id == execution_id).values(progress=value))
    for execution_id, level in sandboxes.items():
        connection.execute(sa.update(e).where(e.c.execution_id == execution_id).values(sandbox=level))


def is_permanent(error: SQLAlchemyError) -> bool:
    """Whether the same batch would fail again, because an execution was deleted or a value can't be stored."""
    if isinstance(error, DBAPIError):
        return isinstance(error, IntegrityError | DataError | ProgrammingError)
    return isinstance(error, StatementError)
