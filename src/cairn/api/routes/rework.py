"""Rework, reruns and lineage."""

from __future__ import annotations

from fastapi import Response

from cairn.api.dependencies import By, CommandId, Services
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
def preview_rework(execution_id: ExecutionId, body: CreateReworkRequest, services: Services, by: By) -> ReworkPreview:
    """Preview a rework: what it would replace, make stale, withdraw and reopen."""
    return services.rework_queries.preview(_request(execution_id, body), by)


@router.post("/executions/{execution_id}/rework", status_code=201)
@operation(RUN, request_example=examples.request, response_example=examples.execution)
async def create_rework(
    execution_id: ExecutionId,
    body: CreateReworkRequest,
    response: Response,
    services: Services,
    by: By,
    command_id: CommandId,
) -> Execution:
    """Send work back to an earlier checkpoint, with a prompt and a reason.

    The execution in the path is the one that was looked at: it awaits approval, and then waits for the rework and
    goes on with the new artifacts; or it is completed, and stays so. The answer is the execution that does the work
    again.
    """
    asked = services.rework.create(_request(execution_id, body), actor=by, command_id=command_id)
    return await _made(services, await asked, by, response)


@router.post("/executions/{execution_id}/rerun", status_code=201)
@operation(RUN, request_example=examples.rerun_request, response_example=examples.execution)
async def rerun_execution(
    execution_id: ExecutionId,
    response: Response,
    services: Services,
    by: By,
    command_id: CommandId,
    body: RerunRequest | None = None,
) -> Execution:
    """Rerun a stale execution. A new execution replaces it."""
    reason = body.reason if body else ""
    asked = services.rework.rerun(execution_id, reason=reason, actor=by, command_id=command_id)
    return await _made(services, await asked, by, response)


@router.get("/runs/{run_id}/lineage")
@operation(READ, response_example=examples.lineage)
def get_lineage(run_id: RunId, services: Services) -> Lineage:
    """Get which executions read which artifacts, the dependencies and the reworks of a run."""
    return services.rework_queries.get_lineage(run_id)


def _request(execution_id: str, body: CreateReworkRequest) -> ReworkSpec:
    return ReworkSpec(execution_id, body.checkpoint, body.prompt, body.reason)


async def _made(services: Services, asked: StartedRework, by: By, response: Response) -> Execution:
    response.headers["Location"] = f"/api/executions/{asked.execution_id}"
    return await with_warnings(services.execution_queries.get_execution, asked.execution_id, by, list(asked.warnings))
