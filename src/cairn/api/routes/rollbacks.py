"""Rollbacks."""

from __future__ import annotations

from contextlib import suppress
from uuid import uuid5

from fastapi import Response
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import rollbacks as examples
from cairn.api.operations import READ, RUN, operation, operation_router
from cairn.api.parameters import IdQuery, Paging, RollbackId
from cairn.api.requests.rollbacks import CreateRollbackRequest
from cairn.core.errors import AlreadyApplied
from cairn.services.rollbacks.service import RollbackSpec
from cairn.services.rollbacks.views import Rollback, RollbackPage, RollbackPreview

router = operation_router("/api/rollback", "Rollbacks")


@router.post("/preview")
@operation(
    READ,
    idempotent=False,
    errors=(404, 409),
    request_example=examples.create_request,
    response_example=examples.preview,
)
def preview_rollback(
    body: CreateRollbackRequest, services: Services, actor: CurrentActor, command_id: CommandId
) -> RollbackPreview:
    """Preview a rollback: what it would archive, keep and stop, and how the run would continue."""
    preview = services.rollback_queries.preview(_request(body, command_id), actor)
    return preview.model_copy(update={"rollback_id": body.rollback_id})


@router.post("", status_code=201)
@operation(RUN, request_example=examples.create_request, response_example=examples.rollback)
async def create_rollback(
    body: CreateRollbackRequest, response: Response, services: Services, actor: CurrentActor, command_id: CommandId
) -> Rollback:
    """Roll back a run. What is removed is archived. Repeating a `rollback_id` returns the same rollback."""
    request = _request(body, command_id)
    warnings: list[str] = []
    with suppress(AlreadyApplied):
        _, warnings = await services.rollbacks.roll_back(request, actor=actor, command_id=command_id)
    response.headers["Location"] = f"/api/rollback/{request.rollback_id}"
    return await _view(services, request.rollback_id, warnings)


@router.get("")
@operation(READ, response_example=examples.rollbacks)
def list_rollbacks(
    services: Services,
    paging: Paging,
    pipeline_id: IdQuery = None,
    run_id: IdQuery = None,
) -> RollbackPage:
    """List rollbacks, newest first."""
    return services.rollback_queries.list_rollbacks(pipeline_id, run_id, paging.limit, paging.cursor)


@router.get("/{rollback_id}")
@operation(READ, response_example=examples.rollback)
def get_rollback(rollback_id: RollbackId, services: Services) -> Rollback:
    """Get a rollback with its archived items, and whether it can be undone."""
    return services.rollback_queries.get_rollback(rollback_id)


@router.post("/{rollback_id}/undo")
@operation(RUN, errors=(410,), response_example=examples.rollback)
async def undo_rollback(
    rollback_id: RollbackId, services: Services, actor: CurrentActor, command_id: CommandId
) -> Rollback:
    """Undo a rollback. Possible until something newer completes in its place."""
    warnings: list[str] = []
    with suppress(AlreadyApplied):
        warnings = await services.rollbacks.undo(rollback_id, actor=actor, command_id=command_id)
    return await _view(services, rollback_id, warnings)


def _request(body: CreateRollbackRequest, command_id: CommandId) -> RollbackSpec:
    return RollbackSpec(
        rollback_type=body.rollback_type,
        source_run_id=body.source_run_id,
        target_run_id=body.target_run_id,
        target_checkpoint_position=body.target_checkpoint_position,
        target_checkpoint_id=body.target_checkpoint_id,
        hold=body.hold,
        user_reason=body.user_reason or "",
        rollback_id=body.rollback_id or str(uuid5(command_id, "rollback")),
    )


async def _view(services: Services, rollback_id: str, warnings: list[str]) -> Rollback:
    view = await run_in_threadpool(services.rollback_queries.get_rollback, rollback_id)
    return view.model_copy(update={"warnings": [*view.warnings, *warnings]})
