"""Runs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import runs as examples
from cairn.api.examples import story
from cairn.api.operations import ANY_JSON, READ, RUN, operation, operation_router
from cairn.api.parameters import IdQuery, Paging, RunId
from cairn.api.request_body import JSON
from cairn.api.requests.runs import CreateRunRequest, RestartRunRequest
from cairn.api.responses import command_warnings, with_warnings
from cairn.core.states import RunStatus
from cairn.services.runs.execution_views import ExecutionPage
from cairn.services.runs.queries.lists import RunFilter
from cairn.services.runs.views import Run, RunPage

router = operation_router("/api/runs", "Runs")


@router.get("")
@operation(READ, response_example=examples.runs)
def list_runs(
    services: Services,
    paging: Paging,
    pipeline_id: IdQuery = None,
    status: Annotated[list[RunStatus] | None, Query(description="One of these.")] = None,
    definition_version: Annotated[int | None, Query(ge=1, le=2**31)] = None,
    include_archived: Annotated[bool, Query(description="Include items archived by a rollback.")] = False,
    include_tests: Annotated[bool, Query(description="Include test runs.")] = False,
) -> RunPage:
    """List the runs of all pipelines, newest first."""
    run_filter = RunFilter(pipeline_id, tuple(status or ()), definition_version, include_archived, include_tests)
    return services.run_queries.list_runs(run_filter, paging.limit, paging.cursor)


@router.post("", status_code=201)
@operation(RUN, request_example=examples.create_request, response_example=story.run)
async def create_run(
    body: CreateRunRequest, response: Response, services: Services, actor: CurrentActor, command_id: CommandId
) -> Run:
    """Create the next run of a pipeline, and start it unless `start` is false."""
    started = await services.runs.create(
        body.pipeline_id,
        input=body.input,
        original_prompt=body.original_prompt,
        start=body.start,
        test=body.test,
        actor=actor,
        command_id=command_id,
    )
    response.headers["Location"] = f"/api/runs/{started.run_id}"
    return await with_warnings(services.run_queries.get_run, started.run_id, actor, list(started.warnings))


@router.get("/{run_id}")
@operation(READ, response_example=story.run)
def get_run(run_id: RunId, services: Services, actor: CurrentActor) -> Run:
    """Get a run with its checkpoints, progress, pending approvals and available commands."""
    return services.run_queries.get_run(run_id, actor)


@router.get("/{run_id}/input", response_class=Response)
@operation(READ, response_media={JSON: ANY_JSON}, response_example=examples.run_input)
def get_run_input(run_id: RunId, services: Services) -> Response:
    """Get the input of a run with its numbers exact. `null` if it has none."""
    return Response(services.run_queries.get_input(run_id), media_type="application/json")


@router.get("/{run_id}/checkpoints")
@operation(READ, response_example=examples.executions)
def list_run_executions(
    run_id: RunId,
    services: Services,
    paging: Paging,
    actor: CurrentActor,
    include_archived: Annotated[bool, Query(description="Include items archived by a rollback.")] = False,
) -> ExecutionPage:
    """List the executions of a run, oldest first."""
    return services.execution_queries.list_executions(run_id, include_archived, paging.limit, paging.cursor, actor)


@router.post("/{run_id}/start")
@operation(RUN, response_example=story.run)
async def start_run(run_id: RunId, services: Services, actor: CurrentActor, command_id: CommandId) -> Run:
    """Start a run that was created without starting it."""
    warnings = await command_warnings(services.runs.start(run_id, actor=actor, command_id=command_id))
    return await with_warnings(services.run_queries.get_run, run_id, actor, warnings)


@router.post("/{run_id}/pause")
@operation(RUN, response_example=story.run)
async def pause_run(run_id: RunId, services: Services, actor: CurrentActor, command_id: CommandId) -> Run:
    """Pause a run: at once if no execution is running, otherwise when the running ones end."""
    warnings = await command_warnings(services.runs.pause(run_id, actor=actor, command_id=command_id))
    return await with_warnings(services.run_queries.get_run, run_id, actor, warnings)


@router.post("/{run_id}/resume")
@operation(RUN, response_example=story.run)
async def resume_run(run_id: RunId, services: Services, actor: CurrentActor, command_id: CommandId) -> Run:
    """Resume a run, or cancel a pause that has not taken effect."""
    warnings = await command_warnings(services.runs.resume(run_id, actor=actor, command_id=command_id))
    return await with_warnings(services.run_queries.get_run, run_id, actor, warnings)


@router.post("/{run_id}/cancel")
@operation(RUN, response_example=story.run)
async def cancel_run(run_id: RunId, services: Services, actor: CurrentActor, command_id: CommandId) -> Run:
    """Cancel a run and its open executions."""
    warnings = await command_warnings(services.runs.cancel(run_id, actor=actor, command_id=command_id))
    return await with_warnings(services.run_queries.get_run, run_id, actor, warnings)


@router.post("/{run_id}/restart")
@operation(RUN, request_example=examples.restart_request, response_example=story.run)
async def restart_run(
    run_id: RunId, services: Services, actor: CurrentActor, command_id: CommandId, body: RestartRunRequest | None = None
) -> Run:
    """Restart a run: start its next pass at the first checkpoint."""
    pass_number = body.pass_number if body else None
    restarted = services.runs.restart(run_id, pass_number=pass_number, actor=actor, command_id=command_id)
    return await with_warnings(services.run_queries.get_run, run_id, actor, await command_warnings(restarted))


@router.post("/{run_id}/retry", status_code=201)
@operation(RUN, response_example=story.run)
async def retry_run(
    run_id: RunId, response: Response, services: Services, actor: CurrentActor, command_id: CommandId
) -> Run:
    """Create a new run with the same input."""
    started = await services.runs.retry(run_id, actor=actor, command_id=command_id)
    response.headers["Location"] = f"/api/runs/{started.run_id}"
    return await with_warnings(services.run_queries.get_run, started.run_id, actor, list(started.warnings))
