"""Users."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import identity as examples
from cairn.api.operations import ADMIN, READ, operation, operation_router
from cairn.api.parameters import DirectoryName, Paging, Search
from cairn.api.requests.identity import CreateUserRequest, UpdateUserRequest
from cairn.services.identity.views import PersonPage, User, UserPage

router = operation_router("/api", "People")


@router.get("/people")
@operation(READ, response_example=examples.directory)
def list_people(services: Services, paging: Paging, search: Search = "") -> PersonPage:
    """List users by name with their groups, as everyone can see them."""
    return services.identity.queries.list_people(search, paging.limit, paging.cursor)


@router.get("/users")
@operation(ADMIN, response_example=examples.users)
def list_users(
    services: Services,
    paging: Paging,
    search: Search = "",
    deleted: Annotated[bool, Query(description="Include deleted users.")] = False,
) -> UserPage:
    """List users by name."""
    return services.identity.queries.list_users(
        deleted=deleted, search=search, limit=paging.limit, cursor=paging.cursor
    )


@router.post("/users", status_code=201)
@operation(ADMIN, request_example=examples.create_user_request, response_example=examples.user)
async def create_user(body: CreateUserRequest, response: Response, services: Services, actor: CurrentActor) -> User:
    """Create a user, who can sign in with a token or an identity provider. Invite them to set a password."""
    name = await services.identity.users.create(body.spec, actor)
    response.headers["Location"] = f"/api/users/{name}"
    return await run_in_threadpool(services.identity.queries.get_user, name)


@router.get("/users/{name}")
@operation(ADMIN, response_example=examples.user)
def get_user(name: DirectoryName, services: Services) -> User:
    """Get a user."""
    return services.identity.queries.get_user(name)


@router.put("/users/{name}")
@operation(ADMIN, request_example=examples.update_user_request, response_example=examples.user)
async def update_user(name: DirectoryName, body: UpdateUserRequest, services: Services, actor: CurrentActor) -> User:
    """Change the given fields of a user. Roles apply at once."""
    await services.identity.users.update(name, body.change, actor)
    return await run_in_threadpool(services.identity.queries.get_user, name)


@router.delete("/users/{name}")
@operation(ADMIN, response_example=examples.user)
async def delete_user(name: DirectoryName, services: Services, actor: CurrentActor) -> User:
    """Delete a user and end their sessions, tokens and delegations. The username stays reserved."""
    await services.identity.users.remove(name, actor)
    return await run_in_threadpool(services.identity.queries.get_user, name)


@router.post("/users/{name}/restore")
@operation(ADMIN, response_example=examples.user)
async def restore_user(name: DirectoryName, services: Services, actor: CurrentActor) -> User:
    """Restore a deleted user."""
    await services.identity.users.restore(name, actor)
    return await run_in_threadpool(services.identity.queries.get_user, name)
