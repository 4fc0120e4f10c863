"""`system.log` of each pipeline: its trail as lines for people, written beside the work."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from itertools import groupby
from time import monotonic

import sqlalchemy as sa

from cairn.files import Tree
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.column_types import BigInteger, as_text
from cairn.store.events.chain import NO_PIPELINE
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.runs.run_rows import Row
from cairn.store.settings import read_setting, save_setting

log = logging.getLogger(__name__)

NAME = "system.log"
KEY = "system_log"  # in the settings: up to which event everything is written
AT_ONCE = 2000  # events that are read together
BEHIND = 1000  # on PostgreSQL an event may become visible after one with a higher number ...
SETTLED_SECONDS = 60.0  # ... while its transaction lasts
TAIL = 256 * 1024  # bytes in which events are looked for that a crashed process had written already
_NUMBER = re.compile(rb"#(\d+)$", re.MULTILINE)
_BAD = frozenset({"execution_failed", "run_failed"})


class SystemLog:
    def __init__(self, database: Database, tree: Tree, *, max_bytes: int, backups: int) -> None:
        self._database = database
        self._tree = tree
        self._max_bytes = max_bytes
        self._backups = backups
        self._through: int | None = None  # unknown until the first look
        self._moved = monotonic()
        self._noted = 0
        self._written: dict[str, set[int]] = {}  # by pipeline: the last events in its file
        self._following = asyncio.Lock()

    async def write_new_events(self) -> None:
        """Write what has been told since the last time."""
        async with self._following:
            while await asyncio.to_thread(self._follow):
                pass

    def _follow(self) -> bool:
        """True: there is more."""
        if self._through is None:
            self._through = self._noted = self._database.read(_noted)
        rows = self._database.read(lambda c: _events(c, self._after(c)))
        if not rows:
            return False
        for pipeline_id, told in groupby(sorted(rows, key=_place), key=lambda row: row.pipeline_id):
            self._write(pipeline_id, list(told))
        more = len(rows) == AT_ONCE and rows[-1].id > self._through
        if rows[-1].id > self._through:
            self._through, self._moved = rows[-1].id, monotonic()
        return more

    def _after(self, connection: Connection) -> int:
        """The last event that need not be looked at again."""
        through = self._through or 0
        if self._database.kind == "sqlite":
            return through
        e = t.events.c
        last = sa.select(sa.func.max(e.id)).where(e.pipeline_id != NO_PIPELINE)
        newest: int = connection.execute(last).scalar_one() or 0
        is_settled = newest == through and monotonic() - self._moved > SETTLED_SECONDS
        return through if is_settled else max(0, through - BEHIND)

    def _write(self, pipeline_id: str, rows: Sequence[Row]) -> None:
        written = self._known(pipeline_id)
        new = [row for row in rows if row.id not in written]
        if not new:
            return
        written.update(row.id for row in new)
        if len(written) > 4 * BEHIND:
            self._written[pipeline_id] = set(sorted(written)[-2 * BEHIND :])
        data = "".join(map(line, new)).encode()
        try:
            # Of a deleted pipeline the folder lies in the archive: what is told of it then stays in the trail.
            self._tree.append_log(pipeline_id, NAME, data, max_bytes=self._max_bytes, backups=self._backups)
        except OSError as error:
            log.warning("the log of pipeline %s could not be written: %s", pipeline_id, error)

    def _known(self, pipeline_id: str) -> set[int]:
        if pipeline_id not in self._written:
            try:
                tail = self._tree.read_log_tail(pipeline_id, NAME, TAIL)
            except OSError:
                tail = b""
            self._written[pipeline_id] = {int(number) for number in _NUMBER.findall(tail)}
        return self._written[pipeline_id]

    async def save_position(self) -> None:
        """Write down how far it is, so that the next start goes on from there."""
        through = self._through
        if through is None or through == self._noted:
            return
        await self._database.transact(lambda c: _note(c, through))
        self._noted = through


def line(event: Row) -> str:
    """One event as one line; its number at the end tells it from every other."""
    level = "ERROR" if event.event_type in _BAD else "INFO"
    of = f" v{event.run_version}" if event.run_version is not None else " test" if event.run_id is not None else ""
    text = " ".join(event.description.split())
    return f"{as_text(event.timestamp)} {level}{of} {event.event_type}: {text} [{event.actor}] #{event.id}\n"


def _place(event: Row) -> tuple[str, int]:
    return event.pipeline_id, event.id


_e, _r = t.events.c, t.pipeline_runs.c
_EVENTS = PreparedQuery(
    sa.select(_e.id, _e.pipeline_id, _e.run_id, _e.event_type, _e.timestamp, _e.actor, _e.description, _r.run_version)
    .select_from(t.events.outerjoin(t.pipeline_runs, _r.run_id == _e.run_id))
    .where(_e.id > sa.bindparam("after", type_=BigInteger), _e.pipeline_id != NO_PIPELINE)
    .order_by(_e.id)
    .limit(AT_ONCE)
)


def _events(connection: Connection, after: int) -> Sequence[Row]:
    return _EVENTS.all(connection, {"after": after})


def _noted(connection: Connection) -> int:
    return int(read_setting(connection, KEY) or 0)


def _note(connection: Connection, through: int) -> None:
    save_setting(connection, KEY, through)
