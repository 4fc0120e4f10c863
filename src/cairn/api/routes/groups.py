"""Groups of users."""

from __future__ import annotations

from fastapi import Response
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import identity as examples
from cairn.api.operations import ADMIN, READ, operation, operation_router
from cairn.api.parameters import DirectoryName, Paging
from cairn.api.requests.identity import CreateGroupRequest, UpdateGroupRequest
from cairn.services.identity.views import Group, GroupPage

router = operation_router("/api/groups", "People")


@router.get("")
@operation(READ, response_example=examples.groups)
def list_groups(services: Services, paging: Paging) -> GroupPage:
    """List groups by name."""
    return services.identity.queries.list_groups(paging.limit, paging.cursor)


@router.post("", status_code=201)
@operation(ADMIN, request_example=examples.create_group_request, response_example=examples.group)
async def create_group(body: CreateGroupRequest, response: Response, services: Services, actor: CurrentActor) -> Group:
    """Create a group. Rules and checkpoints can assign approvals to it."""
    name = await services.identity.groups.create(body.name, body.description, body.members, actor)
    response.headers["Location"] = f"/api/groups/{name}"
    return await run_in_threadpool(services.identity.queries.get_group, name)


@router.get("/{name}")
@operation(READ, response_example=examples.group)
def get_group(name: DirectoryName, services: Services) -> Group:
    """Get a group with its members."""
    return services.identity.queries.get_group(name)


@router.put("/{name}")
@operation(ADMIN, request_example=examples.update_group_request, response_example=examples.group)
async def update_group(name: DirectoryName, body: UpdateGroupRequest, services: Services, actor: CurrentActor) -> Group:
    """Change the given fields. `members` replaces all members."""
    await services.identity.groups.update(name, actor, description=body.description, members=body.members)
    return await run_in_threadpool(services.identity.queries.get_group, name)


@router.delete("/{name}", status_code=204)
@operation(ADMIN)
async def delete_group(name: DirectoryName, services: Services, actor: CurrentActor) -> None:
    """Delete a group. Its members remain."""
    await services.identity.groups.remove(name, actor)
