"""What an execution is told: as it was stored, or as it would be now (X9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution
from cairn.definitions import CheckpointDefinition
from cairn.runners.errors import CannotStart
from cairn.runners.prompt_context import AssembledContext, prompts
from cairn.services.paging import Row
from cairn.services.runs.execution_views import Context, ContextBlock
from cairn.store import LoadedRun, blobs

if TYPE_CHECKING:
    from cairn.services.dispatch.work_orders import WorkOrders


def get_context(
    connection: sa.Connection, briefing: WorkOrders, loaded: LoadedRun, row: Row, checkpoint: CheckpointDefinition
) -> Context:
    if row.context_checksum is not None:
        return Context.model_validate_json(blobs.read(connection, row.context_checksum))
    execution = loaded.run.executions[row.execution_id]
    try:
        return preview(connection, briefing, loaded, execution, checkpoint)
    except CannotStart as error:
        raise CommandRefused(str(error)) from None


def preview(
    connection: sa.Connection,
    briefing: WorkOrders,
    loaded: LoadedRun,
    execution: Execution,
    checkpoint: CheckpointDefinition,
) -> Context:
    gathered, assembled = briefing.preview(connection, loaded, execution)
    return laid_out(checkpoint, gathered.input, assembled, stored=False)


def laid_out(checkpoint: CheckpointDefinition, input: Any, assembled: AssembledContext, *, stored: bool) -> Context:
    """A context as it is shown; `stored` if it is kept with the execution."""
    system, task = prompts(checkpoint)
    return Context(
        stored=stored,
        content_format=checkpoint.instructions.injection_format.content_format.value,
        input=input,
        blocks=[
            ContextBlock(
                kind=block.kind.value,
                heading=block.heading,
                checkpoint_name=block.checkpoint_name,
                run_version=block.run_version,
                artifact_name=block.artifact_name,
                file_path=block.file_path,
                content=block.content,
                size_bytes=block.size_bytes,
            )
            for block in assembled.blocks
        ],
        system_prompt=system,
        task_prompt=task,
        text=assembled.text,
        size_characters=assembled.characters,
        estimated_tokens=assembled.tokens,
    )
