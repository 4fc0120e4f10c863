"""Pipelines."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.definition_documents import DEFINITION_MEDIA, read_definition, saved_pipeline
from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import pipelines as examples
from cairn.api.examples import runs as runs_examples
from cairn.api.examples import story
from cairn.api.operations import ADMIN, DEFINE, READ, operation, operation_router
from cairn.api.parameters import Force, IfMatch, Paging, PipelineId, Text, etag, revision_of
from cairn.services.errors import InvalidInput
from cairn.services.pipelines.views import DeletedPipeline, Pipeline, PipelinePage
from cairn.services.runs.queries.lists import RunFilter
from cairn.services.runs.views import RunPage

router = operation_router("/api/pipelines", "Pipelines")


@router.get("")
@operation(READ, response_example=examples.pipelines)
def list_pipelines(
    services: Services,
    paging: Paging,
    deleted: Annotated[bool, Query(description="Only deleted pipelines.")] = False,
    search: Annotated[Text, Query(max_length=200, description="Part of the name or description.")] = "",
) -> PipelinePage:
    """List pipelines with their latest runs, newest first."""
    return services.pipeline_queries.list_pipelines(
        deleted=deleted, search=search, limit=paging.limit, cursor=paging.cursor
    )


@router.post("", status_code=201)
@operation(
    DEFINE, request_media=DEFINITION_MEDIA, etag=True, request_example=story.definition, response_example=story.pipeline
)
async def create_pipeline(
    request: Request, response: Response, services: Services, actor: CurrentActor, command_id: CommandId
) -> Pipeline:
    """Create a pipeline from a definition in full or short form, as JSON or YAML, or from `{"template": name}`."""
    document = await read_definition(request)
    if isinstance(document.value, dict) and document.value.keys() == {"template"}:
        name = document.value["template"]
        if not isinstance(name, str):
            raise InvalidInput([("/template", "Expected the name of a template.")])
        saved = await services.pipelines.create_from_template(name, actor=actor, command_id=command_id)
    else:
        saved = await services.pipelines.create(
            document.value, positions=document.positions, actor=actor, command_id=command_id
        )
    response.headers["Location"] = f"/api/pipelines/{saved.pipeline_id}"
    return await saved_pipeline(services, response, saved)


@router.get("/{pipeline_id}")
@operation(READ, etag=True, response_example=story.pipeline)
def get_pipeline(pipeline_id: PipelineId, response: Response, services: Services) -> Pipeline:
    """Get a pipeline in full form. Its ETag is the revision."""
    pipeline = services.pipeline_queries.get_pipeline(pipeline_id)
    response.headers["ETag"] = etag(pipeline.revision)
    return pipeline


@router.put("/{pipeline_id}")
@operation(
    DEFINE,
    request_media=DEFINITION_MEDIA,
    etag=True,
    request_example=examples.update_request,
    response_example=story.pipeline,
)
async def update_pipeline(
    pipeline_id: PipelineId,
    request: Request,
    response: Response,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    if_match: IfMatch = None,
    force: Force = False,
) -> Pipeline:
    """Change the given fields of a pipeline. `checkpoints`, if given, replaces all checkpoints."""
    document = await read_definition(request)
    if not isinstance(document.value, dict):
        raise InvalidInput([("", "Expected an object with the fields to change.")])
    saved = await services.pipelines.update(
        pipeline_id,
        document.value,
        if_match=revision_of(if_match),
        force=force,
        positions=document.positions,
        actor=actor,
        command_id=command_id,
    )
    return await saved_pipeline(services, response, saved)


@router.delete("/{pipeline_id}")
@operation(ADMIN, response_example=examples.deleted_pipeline)
async def delete_pipeline(
    pipeline_id: PipelineId, services: Services, actor: CurrentActor, command_id: CommandId, force: Force = False
) -> DeletedPipeline:
    """Delete a pipeline. Its folder moves to the archive, and you can restore it."""
    location = await services.pipelines.delete(pipeline_id, force=force, actor=actor, command_id=command_id)
    return DeletedPipeline(pipeline_id=pipeline_id, archive_location=location)


@router.post("/{pipeline_id}/restore")
@operation(ADMIN, response_example=story.pipeline)
async def restore_pipeline(
    pipeline_id: PipelineId, response: Response, services: Services, actor: CurrentActor, command_id: CommandId
) -> Pipeline:
    """Restore a deleted pipeline."""
    await services.pipelines.restore(pipeline_id, actor=actor, command_id=command_id)
    pipeline = await run_in_threadpool(services.pipeline_queries.get_pipeline, pipeline_id)
    response.headers["ETag"] = etag(pipeline.revision)
    return pipeline


@router.get("/{pipeline_id}/runs")
@operation(READ, response_example=runs_examples.runs)
def list_pipeline_runs(
    pipeline_id: PipelineId,
    services: Services,
    paging: Paging,
    definition_version: Annotated[
        int | None, Query(ge=1, le=2**31, description="Only runs of this definition version. Default: the current one.")
    ] = None,
    include_archived: Annotated[bool, Query(description="Include items archived by a rollback.")] = False,
    include_tests: Annotated[bool, Query(description="Include test runs.")] = False,
) -> RunPage:
    """List the runs of the current definition version, newest first."""
    run_filter = RunFilter(None, (), definition_version, include_archived, include_tests)
    return services.run_queries.list_pipeline_runs(pipeline_id, run_filter, paging.limit, paging.cursor)
