"""Queries of runs and executions: each method reads one snapshot of the database."""

from __future__ import annotations

from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.costs.budgets import Budgets
from cairn.services.costs.price_check import PriceCheck
from cairn.services.engine.engine import Engine
from cairn.services.runs.execution_views import Execution, ExecutionPage
from cairn.services.runs.queries import detail, executions, lists
from cairn.services.runs.queries.lists import RunFilter
from cairn.services.runs.views import Run, RunPage
from cairn.store import Connection, blobs
from cairn.store.runs.run_rows import execution_row


class RunQueries:
    def __init__(self, engine: Engine, budgets: Budgets, price_check: PriceCheck, clock: Clock) -> None:
        self._engine = engine
        self._database = engine.database
        self._budgets = budgets
        self._price_check = price_check
        self._clock = clock

    def list_runs(self, run_filter: RunFilter, limit: int, cursor: str | None) -> RunPage:
        return self._database.read(lambda c: lists.list_runs(c, run_filter, limit, cursor))

    def list_pipeline_runs(self, pipeline_id: str, run_filter: RunFilter, limit: int, cursor: str | None) -> RunPage:
        return self._database.read(lambda c: lists.list_pipeline_runs(c, pipeline_id, run_filter, limit, cursor))

    def get_run(self, run_id: str, actor: Actor | None = None) -> Run:
        """The run as `actor` sees it."""
        now = self._clock.now()

        def read(connection: Connection) -> Run:
            loaded = self._engine.load(connection, run_id, lock=False)
            return detail.get_run(connection, self._engine.plans, self._budgets, self._price_check, loaded, now, actor)

        return self._database.read(read)

    def get_input(self, run_id: str) -> bytes:
        """The input exactly as it was sent, so numbers keep every digit."""

        def read(connection: Connection) -> bytes:
            checksum = self._engine.load(connection, run_id, lock=False).facts.input_checksum
            return blobs.read(connection, checksum) if checksum is not None else b"null"

        return self._database.read(read)


class ExecutionQueries:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._database = engine.database
        self._clock = clock

    def list_executions(
        self, run_id: str, include_archived: bool, limit: int, cursor: str | None, actor: Actor | None = None
    ) -> ExecutionPage:
        """Executions of a run as `actor` sees them."""
        now = self._clock.now()

        def read(connection: Connection) -> ExecutionPage:
            return executions.list_executions(
                connection,
                self._engine.plans,
                self._engine.load(connection, run_id, lock=False),
                now,
                actor,
                include_archived=include_archived,
                limit=limit,
                cursor=cursor,
            )

        return self._database.read(read)

    def get_execution(self, execution_id: str, actor: Actor | None = None) -> Execution:
        now = self._clock.now()

        def read(connection: Connection) -> Execution:
            row = execution_row(connection, execution_id)
            loaded = self._engine.load(connection, row.run_id, lock=False)
            return executions.get_execution(connection, self._engine.plans, loaded, row, now, actor)

        return self._database.read(read)
