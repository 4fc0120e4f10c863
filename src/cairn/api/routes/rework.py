"""Rework, reruns and lineage."""

from __future__ import annotations

from fastapi import Response

from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import rework as examples
from cairn.api.operations import READ, RUN, operation, operation_router
from cairn.api.parameters import ExecutionId, RunId
from cairn.api.requests.rework import CreateReworkRequest, RerunRequest
from cairn.api.responses import with_warnings
from cairn.services.rework.service import ReworkSpec, StartedRework
from cairn.services.rework.views import Lineage, ReworkPreview
from cairn.services.runs.execution_views import Execution

router = operation_router("/api", "Rework")


@router.post("/executions/{execution_id}/rework/preview")
@operation(READ, request_example=examples.request, response_example=examples.preview)
def preview_rework(
    execution_id: ExecutionId, body: CreateReworkRequest, services: Services, actor: CurrentActor
) -> ReworkPreview:
    """Preview a rework: what it would replace, make stale, withdraw and reopen. Nothing is changed."""
    return services.rework_queries.preview(_request(execution_id, body), actor)


@router.post("/executions/{execution_id}/rework", status_code=201)
@operation(RUN, request_example=examples.request, response_example=examples.execution)
async def create_rework(
    execution_id: ExecutionId,
    body: CreateReworkRequest,
    response: Response,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
) -> Execution:
    """Send work back to an earlier checkpoint, with a prompt and a reason.

    The path names the execution whose result you reviewed. If it is waiting for approval, the approval is withdrawn,
    and the execution continues with the new artifacts after the rework. If it is completed, it stays completed.
    Returns the new execution that does the work again.
    """
    started = services.rework.create(_request(execution_id, body), actor=actor, command_id=command_id)
    return await _created(services, await started, actor, response)


@router.post("/executions/{execution_id}/rerun", status_code=201)
@operation(RUN, request_example=examples.rerun_request, response_example=examples.execution)
async def rerun_execution(
    execution_id: ExecutionId,
    response: Response,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    body: RerunRequest | None = None,
) -> Execution:
    """Rerun a stale execution. A new execution replaces it."""
    reason = body.reason if body else ""
    started = services.rework.rerun(execution_id, reason=reason, actor=actor, command_id=command_id)
    return await _created(services, await started, actor, response)


@router.get("/runs/{run_id}/lineage")
@operation(READ, response_example=examples.lineage)
def get_lineage(run_id: RunId, services: Services) -> Lineage:
    """Get the lineage of a run: which executions read which artifacts, their dependencies and the reworks."""
    return services.rework_queries.get_lineage(run_id)


def _request(execution_id: str, body: CreateReworkRequest) -> ReworkSpec:
    return ReworkSpec(execution_id, body.checkpoint, body.prompt, body.reason)


async def _created(services: Services, started: StartedRework, actor: CurrentActor, response: Response) -> Execution:
    response.headers["Location"] = f"/api/executions/{started.execution_id}"
    return await with_warnings(
        services.execution_queries.get_execution, started.execution_id, actor, list(started.warnings)
    )
