"""What executions say while they work: written down in batches, shown at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

import sqlalchemy as sa
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError, SQLAlchemyError, StatementError

from cairn.ports import Clock, SandboxStatus
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.text import sanitize
from cairn.store import Connection, Database
from cairn.store import tables as t

log = logging.getLogger(__name__)


class LogSource(Protocol):
    """An execution that is carried out."""

    @property
    def pipeline_id(self) -> str: ...
    @property
    def run_id(self) -> str: ...
    @property
    def execution_id(self) -> str: ...
    @property
    def dispatch(self) -> int: ...


BATCH_SECONDS = 0.1
LEVELS = frozenset({"debug", "info", "warning", "error"})
LONGEST = 64 * 1024  # characters of one message
LONGEST_TEXT = 500  # characters of what stands beside a bar
MOST = 100_000  # lines that are kept while the database is away


class LogWriter:
    def __init__(self, database: Database, hub: EventBus, clock: Clock, hide: Callable[[str], str] = str) -> None:
        """`hide` leaves out the values of secrets."""
        self._database = database
        self._hub = hub
        self._clock = clock
        self._hide = hide
        self._lines: list[dict[str, Any]] = []
        self._progress: dict[str, dict[str, Any]] = {}
        self._sandboxes: dict[str, str] = {}
        self._runs: set[tuple[str, str]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()

    def add_line(self, of: LogSource, level: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        """On the event loop. A level that nobody knows is said as info."""
        self._lines.append(
            {
                "execution_id": of.execution_id,
                "timestamp": self._clock.now(),
                "level": level if level in LEVELS else "info",
                "message": self._hide(sanitize(message)[:LONGEST]),
                "details": self._hidden(dict(details)) if details else None,
            }
        )
        self._later(of)

    def _hidden(self, value: Any) -> Any:
        match value:
            case str():
                return self._hide(value)
            case dict():
                return {name: self._hidden(inner) for name, inner in cast("dict[str, Any]", value).items()}
            case list():
                return [self._hidden(inner) for inner in cast("list[Any]", value)]
            case _:
                return value

    def set_progress(self, of: LogSource, fraction: float | None, text: str | None) -> None:
        bounded = None if fraction is None else min(max(fraction, 0.0), 1.0)
        shown = None if text is None else self._hide(sanitize(text)[:LONGEST_TEXT])
        self._progress[of.execution_id] = {"fraction": bounded, "text": shown, "dispatch": of.dispatch}
        self._later(of)

    def set_sandbox(self, of: LogSource, reached: SandboxStatus) -> None:
        """How far the process that begins now is shut in."""
        self._sandboxes[of.execution_id] = reached.level.value
        self._later(of)

    def _later(self, of: LogSource) -> None:
        self._runs.add((of.pipeline_id, of.run_id))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BATCH_SECONDS, self._due)

    def _due(self) -> None:
        self._timer = None
        self._flushing = asyncio.get_running_loop().create_task(self.flush())

    @property
    def is_empty(self) -> bool:
        return not self._lines and not self._progress and not self._sandboxes

    async def flush(self) -> None:
        """Write down what has been said so far; what cannot be written now is kept for the next time."""
        async with self._writing:
            if self.is_empty:
                return
            lines, self._lines = self._lines, []
            progress, self._progress = self._progress, {}
            sandboxes, self._sandboxes = self._sandboxes, {}
            runs, self._runs = self._runs, set()
            try:
                await self._write(lines, progress, sandboxes)
            except SQLAlchemyError as error:
                log.warning("log lines could not be written, they are kept for now: %s", error)
                self._lines = [*lines, *self._lines][-MOST:]
                self._progress = {**progress, **self._progress}
                self._sandboxes = {**sandboxes, **self._sandboxes}
                self._runs |= runs
                return
        for pipeline_id, run_id in runs:
            self._hub.publish(ChangeHint(pipeline_id=pipeline_id, run_id=run_id, event_type="log"))

    async def _write(
        self, lines: list[dict[str, Any]], progress: dict[str, dict[str, Any]], sandboxes: dict[str, str]
    ) -> None:
        """All at once; if something can never be written, each execution's for itself, so that only that is lost."""
        try:
            await self._database.transact(lambda c: _write(c, lines, progress, sandboxes))
        except SQLAlchemyError as error:
            of = {line["execution_id"] for line in lines} | progress.keys() | sandboxes.keys()
            if not _is_lasting(error):
                raise
            if len(of) == 1:
                log.warning("log lines of execution %s are dropped: %s", *of, error)
                return
        else:
            return
        for one in of:
            await self._write(
                [line for line in lines if line["execution_id"] == one],
                {one: progress[one]} if one in progress else {},
                {one: sandboxes[one]} if one in sandboxes else {},
            )


def _is_lasting(error: SQLAlchemyError) -> bool:
    """Whether it goes no better another time: the execution is gone, or no database holds such a value."""
    if isinstance(error, DBAPIError):
        return isinstance(error, IntegrityError | DataError | ProgrammingError)
    return isinstance(error, StatementError)


def _write(
    connection: Connection,
    lines: list[dict[str, Any]],
    progress: Mapping[str, dict[str, Any]],
    sandboxes: Mapping[str, str],
) -> None:
    if lines:
        connection.execute(sa.insert(t.execution_logs), lines)
    e = t.checkpoint_executions
    for execution, shown in progress.items():
        connection.execute(sa.update(e).where(e.c.execution_id == execution).values(progress=shown))
    for execution, level in sandboxes.items():
        connection.execute(sa.update(e).where(e.c.execution_id == execution).values(sandbox=level))
