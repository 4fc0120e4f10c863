"""Single checkpoints of a definition."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, Header, Query, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import pipelines as examples
from cairn.api.examples import story
from cairn.api.operations import DEFINE, READ, operation, operation_router
from cairn.api.parameters import CheckpointId, Force, PipelineId, etag, is_id, revision_of
from cairn.api.requests.pipelines import CheckpointOrderRequest
from cairn.services.errors import InvalidInput
from cairn.services.pipelines.views import Checkpoint, Pipeline

router = operation_router("/api", "Checkpoints")
Definition = Annotated[dict[str, Any], Body(description="A checkpoint in full or short form.")]
PositionQuery = Annotated[int | None, Query(ge=0, le=1000, description="Position in the pipeline. Default: the end.")]
IfMatch = Annotated[str | None, Header(alias="If-Match", description="The ETag of the pipeline as you read it.")]


@router.post("/pipelines/{pipeline_id}/checkpoints", status_code=201)
@operation(DEFINE, request_example=examples.add_checkpoint_request, response_example=story.checkpoint)
async def add_checkpoint(
    pipeline_id: PipelineId,
    body: Definition,
    response: Response,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    position: PositionQuery = None,
    force: Force = False,
) -> Checkpoint:
    """Add a checkpoint. This starts a new definition version, whose runs start at v1."""
    return await _add(services, response, pipeline_id, body, position, force, actor, command_id)


@router.post("/checkpoints", status_code=201)
@operation(DEFINE, request_example=examples.create_checkpoint_request, response_example=story.checkpoint)
async def create_checkpoint(
    body: Definition,
    response: Response,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    position: PositionQuery = None,
    force: Force = False,
) -> Checkpoint:
    """Add a checkpoint. `pipeline_id` in the body names the pipeline."""
    definition = dict(body)
    pipeline_id = definition.pop("pipeline_id", None)
    if not is_id(pipeline_id):
        raise InvalidInput([("/pipeline_id", "Expected the id of a pipeline.")])
    return await _add(services, response, pipeline_id, definition, position, force, actor, command_id)


@router.get("/checkpoints/{checkpoint_id}")
@operation(READ, response_example=story.checkpoint)
def get_checkpoint(checkpoint_id: CheckpointId, services: Services) -> Checkpoint:
    """Get a checkpoint in full form."""
    return services.pipeline_queries.get_checkpoint(checkpoint_id)


@router.put("/checkpoints/{checkpoint_id}")
@operation(DEFINE, request_example=examples.update_checkpoint_request, response_example=story.checkpoint)
async def update_checkpoint(
    checkpoint_id: CheckpointId,
    body: Definition,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    if_match: IfMatch = None,
) -> Checkpoint:
    """Change the given fields of a checkpoint. Open runs continue."""
    await services.pipelines.update_checkpoint(
        checkpoint_id, body, if_match=revision_of(if_match), actor=actor, command_id=command_id
    )
    return await run_in_threadpool(services.pipeline_queries.get_checkpoint, checkpoint_id)


@router.delete("/checkpoints/{checkpoint_id}")
@operation(DEFINE, response_example=story.pipeline)
async def delete_checkpoint(
    checkpoint_id: CheckpointId, services: Services, actor: CurrentActor, command_id: CommandId, force: Force = False
) -> Pipeline:
    """Delete a checkpoint. Returns the updated pipeline."""
    saved = await services.pipelines.remove_checkpoint(checkpoint_id, force=force, actor=actor, command_id=command_id)
    return await run_in_threadpool(services.pipeline_queries.get_pipeline, saved.pipeline_id)


@router.put("/pipelines/{pipeline_id}/checkpoint-order")
@operation(DEFINE, request_example=examples.checkpoint_order_request, response_example=story.pipeline)
async def reorder_checkpoints(
    pipeline_id: PipelineId,
    body: CheckpointOrderRequest,
    response: Response,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    if_match: IfMatch = None,
    force: Force = False,
) -> Pipeline:
    """Reorder the checkpoints. The list must contain all of them."""
    await services.pipelines.reorder(
        pipeline_id,
        body.checkpoint_order,
        if_match=revision_of(if_match),
        force=force,
        actor=actor,
        command_id=command_id,
    )
    view = await run_in_threadpool(services.pipeline_queries.get_pipeline, pipeline_id)
    response.headers["ETag"] = etag(view.revision)
    return view


async def _add(
    services: Any,
    response: Response,
    pipeline_id: str,
    definition: dict[str, Any],
    position: int | None,
    force: bool,
    actor: CurrentActor,
    command_id: CommandId,
) -> Checkpoint:
    checkpoint_id, _ = await services.pipelines.add_checkpoint(
        pipeline_id, definition, position=position, force=force, actor=actor, command_id=command_id
    )
    response.headers["Location"] = f"/api/checkpoints/{checkpoint_id}"
    return await run_in_threadpool(services.pipeline_queries.get_checkpoint, checkpoint_id)
