"""Users."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import By, Services
from cairn.api.examples import identity as examples
from cairn.api.operations import ADMIN, READ, operation, operation_router
from cairn.api.parameters import Named, Paging, Search
from cairn.api.requests.identity import CreateUserRequest, UpdateUserRequest
from cairn.services.identity.views import PersonPage, User, UserPage

router = operation_router("/api", "People")


@router.get("/people")
@operation(READ, response_example=examples.directory)
def list_people(services: Services, paging: Paging, search: Search = "") -> PersonPage:
    """Who can be named: users with their groups, by name. Everybody may see these."""
    return services.accounts.queries.persons(search, paging.limit, paging.cursor)


@router.get("/users")
@operation(ADMIN, response_example=examples.users)
def list_users(
    services: Services,
    paging: Paging,
    search: Search = "",
    removed: Annotated[bool, Query(description="Also those who were removed.")] = False,
) -> UserPage:
    """Users, by name."""
    return services.accounts.queries.users(removed=removed, search=search, limit=paging.limit, cursor=paging.cursor)


@router.post("/users", status_code=201)
@operation(ADMIN, request_example=examples.create_user_request, response_example=examples.user)
async def create_user(body: CreateUserRequest, response: Response, services: Services, by: By) -> User:
    """Make a user, who signs in with a token or a provider. An invitation also lets them set a password."""
    name = await services.accounts.users.create(body.spec, by)
    response.headers["Location"] = f"/api/users/{name}"
    return await run_in_threadpool(services.accounts.queries.user, name)


@router.get("/users/{name}")
@operation(ADMIN, response_example=examples.user)
def get_user(name: Named, services: Services) -> User:
    """A user."""
    return services.accounts.queries.user(name)


@router.put("/users/{name}")
@operation(ADMIN, request_example=examples.update_user_request, response_example=examples.user)
async def update_user(name: Named, body: UpdateUserRequest, services: Services, by: By) -> User:
    """Change what is given. Roles hold at once."""
    await services.accounts.users.update(name, body.change, by)
    return await run_in_threadpool(services.accounts.queries.user, name)


@router.delete("/users/{name}")
@operation(ADMIN, response_example=examples.user)
async def remove_user(name: Named, services: Services, by: By) -> User:
    """Remove a user: sessions, tokens and delegations end at once. The name stays taken, as decisions carry it."""
    await services.accounts.users.remove(name, by)
    return await run_in_threadpool(services.accounts.queries.user, name)


@router.post("/users/{name}/restore")
@operation(ADMIN, response_example=examples.user)
async def restore_user(name: Named, services: Services, by: By) -> User:
    """Bring back a user who was removed."""
    await services.accounts.users.restore(name, by)
    return await run_in_threadpool(services.accounts.queries.user, name)
