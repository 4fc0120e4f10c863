"""Write the log lines and progress of running executions in batches."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from cairn.ports import Clock, SandboxStatus
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.logs.records import is_permanent, save_batch
from cairn.services.text import sanitize
from cairn.store import Database
from cairn.store.errors import SQLAlchemyError

log = logging.getLogger(__name__)


class LogSource(Protocol):
    """A running execution."""

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
MAX_MESSAGE = 64 * 1024  # characters
MAX_PROGRESS_TEXT = 500  # characters
MAX_PENDING_LINES = 100_000  # while the database is unavailable


class LogWriter:
    def __init__(self, database: Database, event_bus: EventBus, clock: Clock, mask: Callable[[str], str] = str) -> None:
        """`mask` replaces the values of secrets."""
        self._database = database
        self._event_bus = event_bus
        self._clock = clock
        self._mask = mask
        self._lines: list[dict[str, Any]] = []
        self._progress: dict[str, dict[str, Any]] = {}  # by execution
        self._sandboxes: dict[str, str] = {}  # by execution
        self._runs: set[tuple[str, str]] = set()  # to send hints about
        self._timer: asyncio.TimerHandle | None = None
        self._flush_task: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    def add_line(self, source: LogSource, level: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        """Add a log line. Unknown levels become `info`. Must be called on the event loop."""
        self._lines.append(
            {
                "execution_id": source.execution_id,
                "timestamp": self._clock.now(),
                "level": level if level in LEVELS else "info",
                "message": self._mask(sanitize(message)[:MAX_MESSAGE]),
                "details": self._masked(dict(details)) if details else None,
            }
        )
        self._schedule_flush(source)

    def _masked(self, value: Any) -> Any:
        match value:
            case str():
                return self._mask(value)
            case dict():
                return {name: self._masked(inner) for name, inner in cast("dict[str, Any]", value).items()}
            case list():
                return [self._masked(inner) for inner in cast("list[Any]", value)]
            case _:
                return value

    def set_progress(self, source: LogSource, fraction: float | None, text: str | None) -> None:
        fraction = None if fraction is None else min(max(fraction, 0.0), 1.0)
        text = None if text is None else self._mask(sanitize(text)[:MAX_PROGRESS_TEXT])
        self._progress[source.execution_id] = {"fraction": fraction, "text": text, "dispatch": source.dispatch}
        self._schedule_flush(source)

    def set_sandbox(self, source: LogSource, status: SandboxStatus) -> None:
        """Record how strongly the process of an execution is isolated."""
        self._sandboxes[source.execution_id] = status.level.value
        self._schedule_flush(source)

    def _schedule_flush(self, source: LogSource) -> None:
        self._runs.add((source.pipeline_id, source.run_id))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BATCH_SECONDS, self._start_flush)

    def _start_flush(self) -> None:
        self._timer = None
        self._flush_task = asyncio.get_running_loop().create_task(self.flush())

    @property
    def is_empty(self) -> bool:
        return not self._lines and not self._progress and not self._sandboxes

    async def stop(self) -> None:
        """Write everything that is pending, and leave no task behind on the event loop."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._flush_task is not None:
            await self._flush_task
        await self.flush()

    async def flush(self) -> None:
        """Write everything that is pending. If the database is unavailable, it stays pending."""
        async with self._lock:
            if self.is_empty:
                return
            lines, self._lines = self._lines, []
            progress, self._progress = self._progress, {}
            sandboxes, self._sandboxes = self._sandboxes, {}
            runs, self._runs = self._runs, set()
            try:
                await self._write(lines, progress, sandboxes)
            except SQLAlchemyError as error:
                log.warning("log lines could not be written and will be retried: %s", error)
                self._lines = [*lines, *self._lines][-MAX_PENDING_LINES:]
                self._progress = {**progress, **self._progress}
                self._sandboxes = {**sandboxes, **self._sandboxes}
                self._runs |= runs
                return
        for pipeline_id, run_id in runs:
            self._event_bus.publish(ChangeHint(pipeline_id=pipeline_id, run_id=run_id, event_type="log"))

    async def _write(
        self, lines: list[dict[str, Any]], progress: dict[str, dict[str, Any]], sandboxes: dict[str, str]
    ) -> None:
        """Write one batch. After a permanent error, write each execution separately and drop only the failing ones."""
        try:
            await self._database.transact(lambda c: save_batch(c, lines, progress, sandboxes))
        except SQLAlchemyError as error:
            executions = {line["execution_id"] for line in lines} | progress.keys() | sandboxes.keys()
            if not is_permanent(error):
                raise
            if len(executions) == 1:
                log.warning("log lines of execution %s were dropped: %s", *executions, error)
                return
        else:
            return
        for execution_id in executions:
            await self._write(
                [line for line in lines if line["execution_id"] == execution_id],
                {execution_id: progress[execution_id]} if execution_id in progress else {},
                {execution_id: sandboxes[execution_id]} if execution_id in sandboxes else {},
            )
