"""The context of an execution: as it was stored, or as it would be now."""

from __future__ import annotations

from threading import Semaphore
from typing import TYPE_CHECKING

from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution
from cairn.definitions import CheckpointDefinition
from cairn.runners.errors import CannotStart
from cairn.services.dispatch.material import context_view
from cairn.services.engine.engine import Engine
from cairn.services.engine.plans import definition_of
from cairn.services.paging import Row
from cairn.services.runs.execution_views import Context
from cairn.store import Connection, LoadedRun, blobs
from cairn.store.runs.run_rows import execution_row

if TYPE_CHECKING:
    from cairn.services.dispatch.work_orders import WorkOrders


def get_context(
    connection: Connection, work_orders: WorkOrders, loaded: LoadedRun, row: Row, checkpoint: CheckpointDefinition
) -> Context:
    if row.context_checksum is not None:
        return Context.model_validate_json(blobs.read(connection, row.context_checksum))
    execution = loaded.run.executions[row.execution_id]
    try:
        return preview(connection, work_orders, loaded, execution, checkpoint)
    except CannotStart as error:
        raise CommandRefused(str(error)) from None


def preview(
    connection: Connection,
    work_orders: WorkOrders,
    loaded: LoadedRun,
    execution: Execution,
    checkpoint: CheckpointDefinition,
) -> Context:
    material, assembled = work_orders.preview(connection, loaded, execution)
    return context_view(checkpoint, material.input, assembled, stored=False)


class ContextQueries:
    """Read the context of an execution from one snapshot of the database."""

    def __init__(self, engine: Engine, work_orders: WorkOrders) -> None:
        self._engine = engine
        self._work_orders = work_orders
        # Each preview holds a connection while it opens another, so too many at a time could exhaust the pool.
        self._previews = Semaphore(2)

    def get_context(self, execution_id: str) -> Context:
        def read(connection: Connection) -> Context:
            row = execution_row(connection, execution_id)
            loaded = self._engine.load(connection, row.run_id, lock=False)
            checkpoint = definition_of(connection, self._engine.plans, loaded.facts.pipeline_id, row)
            return get_context(connection, self._work_orders, loaded, row, checkpoint)

        with self._previews:
            return self._engine.database.read(read)
