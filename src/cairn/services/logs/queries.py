"""Queries of logs: pages and the complete text of an execution, and the lines of a run for its stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cairn.services.events.queries import existing_id
from cairn.services.logs.views import LogLine, LogPage
from cairn.services.paging import Row, SortOrder, page
from cairn.services.view import write_instant
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.column_types import BigInteger, Instant, Text
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.runs.run_rows import execution_row

L, E = t.execution_logs.c, t.checkpoint_executions.c
_OLDEST = SortOrder((L.log_id,))
_NEWEST = SortOrder((L.log_id,), newest_first=True)
TEXT_BATCH = 1000  # lines of the complete text per read


def list_logs(
    connection: Connection, execution_id: str, log_filter: LogFilter, limit: int, cursor: str | None
) -> LogPage:
    existing_id(connection, E.execution_id, "execution", execution_id)
    query = sa.select(t.execution_logs).where(L.execution_id == execution_id, *_conditions(log_filter))
    found = page(connection, query, _NEWEST if log_filter.newest_first else _OLDEST, limit, cursor)
    return LogPage(items=[log_line(row) for row in found.rows], next_cursor=found.next_cursor)


def _conditions(log_filter: LogFilter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if log_filter.levels:
        conditions.append(L.level.in_(log_filter.levels))
    if log_filter.search:
        conditions.append(sa.func.lower(L.message).contains(log_filter.search.lower(), autoescape=True))
    if log_filter.before is not None:
        conditions.append(L.log_id < log_filter.before)
    if log_filter.after is not None:
        conditions.append(L.log_id > log_filter.after)
    return conditions


def log_line(row: Row) -> LogLine:
    return LogLine(
        log_id=row.log_id,
        execution_id=row.execution_id,
        timestamp=row.timestamp,
        level=row.level,
        message=row.message,
        details=row.details,
    )


# The complete text
def log_text(database: Database, execution_id: str) -> Iterator[bytes]:
    """Read and yield the complete log in batches, because it may not fit into memory."""
    last = 0
    while rows := database.read(lambda c, last=last: _next_lines(c, execution_id, last)):
        yield "".join(map(_text_line, rows)).encode()
        last = rows[-1].log_id


def _next_lines(connection: Connection, execution_id: str, last: int) -> list[Row]:
    query = sa.select(L.log_id, L.timestamp, L.level, L.message, L.details)
    query = query.where(L.execution_id == execution_id, L.log_id > last).order_by(L.log_id).limit(TEXT_BATCH)
    return list(connection.execute(query))


def _text_line(row: Row) -> str:
    details: dict[str, Any] = row.details or {}  # lines that a script prints have their stream in the details
    return f"{write_instant(row.timestamp)} {details.get('stream') or row.level} {row.message}\n"


# The stream of a run
_LINES = (
    sa.select(t.execution_logs)
    .where(
        L.execution_id.in_(sa.select(E.execution_id).where(E.run_id == sa.bindparam("run_id", type_=Text()))),
        L.log_id > sa.bindparam("log_id", type_=BigInteger),
    )
    .order_by(L.log_id)
    .limit(sa.bindparam("limit", type_=sa.Integer()))
)
_AFTER = PreparedQuery(_LINES)
_AFTER_UNTIL = PreparedQuery(_LINES.where(L.timestamp <= sa.bindparam("until", type_=Instant())))


def logs_after(connection: Connection, run_id: str, log_id: int, limit: int, until: datetime | None) -> list[LogLine]:
    values: dict[str, Any] = {"run_id": run_id, "log_id": log_id, "limit": limit}
    if until is None:
        return [log_line(row) for row in _AFTER.all(connection, values)]
    return [log_line(row) for row in _AFTER_UNTIL.all(connection, {**values, "until": until})]


def last_log_id(connection: Connection, run_id: str, until: datetime | None) -> int:
    """The id of the newest log line, or 0."""
    return connection.execute(sa.select(sa.func.max(L.log_id)).where(*_of_run(run_id, until))).scalar_one() or 0


def _of_run(run_id: str, until: datetime | None) -> list[sa.ColumnElement[bool]]:
    executions = sa.select(E.execution_id).where(E.run_id == run_id)
    return [L.execution_id.in_(executions), *([] if until is None else [L.timestamp <= until])]


@dataclass(frozen=True, slots=True)
class LogFilter:
    levels: tuple[str, ...] = ()
    search: str = ""
    before: int | None = None  # log ids
    after: int | None = None
    newest_first: bool = False


class LogQueries:
    def __init__(self, database: Database) -> None:
        self._database = database

    def list_logs(self, execution_id: str, log_filter: LogFilter, limit: int, cursor: str | None) -> LogPage:
        return self._database.read(lambda c: list_logs(c, execution_id, log_filter, limit, cursor))

    def stream_text(self, execution_id: str) -> Iterator[bytes]:
        """The complete log as text. Raises NotFound before it yields the first line."""
        self._database.read(lambda c: execution_row(c, execution_id))
        return log_text(self._database, execution_id)
