"""The catalogue of action types."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import action_types as examples
from cairn.api.operations import ADMIN, READ, operation, operation_router
from cairn.api.parameters import ActionTypeName, Paging
from cairn.api.requests.action_types import PutActionTypeRequest
from cairn.services.action_types.views import ActionTypeDetails, ActionTypePage

router = operation_router("/api/actions/types", "Actions")


@router.get("")
@operation(READ, response_example=examples.types)
def list_action_types(services: Services, paging: Paging) -> ActionTypePage:
    """List the types of the catalogue, by name. Types that only a pipeline declares are in its definition."""
    found = [kind for kind in services.action_types.list() if paging.cursor is None or kind.name > paging.cursor]
    shown = found[: paging.limit]
    return ActionTypePage(items=shown, next_cursor=shown[-1].name if len(found) > paging.limit else None)


@router.put("/{name:path}")
@operation(
    ADMIN,
    errors=(409,),
    request_example=examples.put_type_request,
    response_example=examples.action_type,
)
async def put_action_type(
    name: ActionTypeName, body: PutActionTypeRequest, services: Services, actor: CurrentActor
) -> ActionTypeDetails:
    """Create or replace an action type, or change a built-in one."""
    await services.action_types.save(name, body, actor)
    return await run_in_threadpool(services.action_types.get, name)


@router.delete("/{name:path}", status_code=204)
@operation(ADMIN)
async def remove_action_type(name: ActionTypeName, services: Services, actor: CurrentActor) -> None:
    """Remove an action type, or return a built-in one to its default. People decide about its actions from now on."""
    await services.action_types.remove(name, actor)
