"""Write the events of each pipeline to its `system.log`, one line per event."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from itertools import groupby
from time import monotonic

from cairn.files import Tree
from cairn.services.folders import queries
from cairn.store import Connection, Database
from cairn.store.column_types import as_text
from cairn.store.runs.run_rows import Row
from cairn.store.settings import read_setting, save_setting

log = logging.getLogger(__name__)

NAME = "system.log"
KEY = "system_log"  # setting: id of the last event written
OVERLAP = 1000  # on PostgreSQL an event can become visible after events with higher ids, ...
OVERLAP_SECONDS = 60.0  # ... until its transaction has ended
TAIL = 256 * 1024  # bytes to search for events that a crashed process has already written
_NUMBER = re.compile(rb"#(\d+)$", re.MULTILINE)
_ERRORS = frozenset({"execution_failed", "run_failed"})


class SystemLog:
    def __init__(self, database: Database, tree: Tree, *, max_bytes: int, backups: int) -> None:
        self._database = database
        self._tree = tree
        self._max_bytes = max_bytes
        self._backups = backups
        self._position: int | None = None  # id of the last event written; None before the first read
        self._moved_at = monotonic()
        self._saved_position = 0
        self._written: dict[str, set[int]] = {}  # by pipeline: ids of the last events in its file
        self._writing = asyncio.Lock()

    async def write_new_events(self) -> None:
        async with self._writing:
            while await asyncio.to_thread(self._write_batch):
                pass

    def _write_batch(self) -> bool:
        """Write the next events. True if there may be more."""
        if self._position is None:
            self._position = self._saved_position = self._database.read(_saved_position)
        rows = self._database.read(lambda c: queries.events_after(c, self._start(c)))
        if not rows:
            return False
        for pipeline_id, events in groupby(sorted(rows, key=_sort_key), key=lambda row: row.pipeline_id):
            self._write(pipeline_id, list(events))
        has_more = len(rows) == queries.MAX_EVENTS and rows[-1].id > self._position
        if rows[-1].id > self._position:
            self._position, self._moved_at = rows[-1].id, monotonic()
        return has_more

    def _start(self, connection: Connection) -> int:
        """The id of the last event that doesn't have to be read again."""
        position = self._position or 0
        if self._database.kind == "sqlite":
            return position
        newest = queries.newest_event_id(connection)
        is_complete = newest == position and monotonic() - self._moved_at > OVERLAP_SECONDS
        return position if is_complete else max(0, position - OVERLAP)

    def _write(self, pipeline_id: str, rows: Sequence[Row]) -> None:
        written = self._written_ids(pipeline_id)
        new = [row for row in rows if row.id not in written]
        if not new:
            return
        written.update(row.id for row in new)
        if len(written) > 4 * OVERLAP:
            self._written[pipeline_id] = set(sorted(written)[-2 * OVERLAP :])
        data = "".join(map(format_line, new)).encode()
        try:
            # The folder of a deleted pipeline is archived, and the log in it stays as it is.
            self._tree.append_log(pipeline_id, NAME, data, max_bytes=self._max_bytes, backups=self._backups)
        except OSError as error:
            log.warning("could not write the log of pipeline %s: %s", pipeline_id, error)

    def _written_ids(self, pipeline_id: str) -> set[int]:
        if pipeline_id not in self._written:
            try:
                tail = self._tree.read_log_tail(pipeline_id, NAME, TAIL)
            except OSError:
                tail = b""
            self._written[pipeline_id] = {int(number) for number in _NUMBER.findall(tail)}
        return self._written[pipeline_id]

    async def save_position(self) -> None:
        """Save the position, so that the next start continues there."""
        position = self._position
        if position is None or position == self._saved_position:
            return
        await self._database.transact(lambda c: save_setting(c, KEY, position))
        self._saved_position = position


def format_line(event: Row) -> str:
    """One event as one line, with its id at the end."""
    level = "ERROR" if event.event_type in _ERRORS else "INFO"
    run = f" v{event.run_version}" if event.run_version is not None else " test" if event.run_id is not None else ""
    text = " ".join(event.description.split())
    return f"{as_text(event.timestamp)} {level}{run} {event.event_type}: {text} [{event.actor}] #{event.id}\n"


def _sort_key(event: Row) -> tuple[str, int]:
    return event.pipeline_id, event.id


def _saved_position(connection: Connection) -> int:
    return int(read_setting(connection, KEY) or 0)
