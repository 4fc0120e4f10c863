"""What an execution is told: as it was stored, or as it would be now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution
from cairn.definitions import CheckpointDefinition
from cairn.runners.errors import CannotStart
from cairn.services.dispatch.material import laid_out
from cairn.services.paging import Row
from cairn.services.runs.execution_views import Context
from cairn.store import Connection, LoadedRun, blobs

if TYPE_CHECKING:
    from cairn.services.dispatch.work_orders import WorkOrders


def get_context(
    connection: Connection, briefing: WorkOrders, loaded: LoadedRun, row: Row, checkpoint: CheckpointDefinition
) -> Context:
    if row.context_checksum is not None:
        return Context.model_validate_json(blobs.read(connection, row.context_checksum))
    execution = loaded.run.executions[row.execution_id]
    try:
        return preview(connection, briefing, loaded, execution, checkpoint)
    except CannotStart as error:
        raise CommandRefused(str(error)) from None


def preview(
    connection: Connection,
    briefing: WorkOrders,
    loaded: LoadedRun,
    execution: Execution,
    checkpoint: CheckpointDefinition,
) -> Context:
    gathered, assembled = briefing.preview(connection, loaded, execution)
    return laid_out(checkpoint, gathered.input, assembled, stored=False)
