"""Users and groups."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.guarding import operations
from cairn.api.parameters import Named, Paging, Search
from cairn.api.people_bodies import CreateGroup, CreateUser, UpdateGroup, UpdateUser
from cairn.api.wiring import By, Services
from cairn.services.identity.views import Group, GroupPage, PersonPage, User, UserPage

router = operations("/api", "People")


@router.get("/people")
def list_people(services: Services, paging: Paging, search: Search = "") -> PersonPage:
    """Who can be named: users with their groups, by name. Everybody may see these."""
    return services.accounts.people.persons(search, paging.limit, paging.cursor)


@router.get("/users")
def list_users(
    services: Services,
    paging: Paging,
    search: Search = "",
    removed: Annotated[bool, Query(description="Also those who were removed.")] = False,
) -> UserPage:
    """Users, by name."""
    return services.accounts.people.users(removed=removed, search=search, limit=paging.limit, cursor=paging.cursor)


@router.post("/users", status_code=201)
async def create_user(body: CreateUser, response: Response, services: Services, by: By) -> User:
    """Make a user, who signs in with a token or a provider. An invitation also lets them set a password."""
    name = await services.accounts.users.create(body.wanted, by)
    response.headers["Location"] = f"/api/users/{name}"
    return await run_in_threadpool(services.accounts.people.user, name)


@router.get("/users/{name}")
def get_user(name: Named, services: Services) -> User:
    """A user."""
    return services.accounts.people.user(name)


@router.put("/users/{name}")
async def update_user(name: Named, body: UpdateUser, services: Services, by: By) -> User:
    """Change what is given. Roles hold at once."""
    await services.accounts.users.change(name, body.wanted, by)
    return await run_in_threadpool(services.accounts.people.user, name)


@router.delete("/users/{name}")
async def remove_user(name: Named, services: Services, by: By) -> User:
    """Remove a user: sessions, tokens and delegations end at once. The name stays taken, as decisions carry it."""
    await services.accounts.users.remove(name, by)
    return await run_in_threadpool(services.accounts.people.user, name)


@router.post("/users/{name}/restore")
async def restore_user(name: Named, services: Services, by: By) -> User:
    """Bring back a user who was removed."""
    await services.accounts.users.restore(name, by)
    return await run_in_threadpool(services.accounts.people.user, name)


# ---- groups ----------------------------------------------------------------------------------------------
@router.get("/groups")
def list_groups(services: Services, paging: Paging) -> GroupPage:
    """Groups, by name."""
    return services.accounts.people.groups(paging.limit, paging.cursor)


@router.post("/groups", status_code=201)
async def create_group(body: CreateGroup, response: Response, services: Services, by: By) -> Group:
    """Make a group, to be named where people are asked."""
    name = await services.accounts.groups.create(body.name, body.description, body.members, by)
    response.headers["Location"] = f"/api/groups/{name}"
    return await run_in_threadpool(services.accounts.people.group, name)


@router.get("/groups/{name}")
def get_group(name: Named, services: Services) -> Group:
    """A group and its members."""
    return services.accounts.people.group(name)


@router.put("/groups/{name}")
async def update_group(name: Named, body: UpdateGroup, services: Services, by: By) -> Group:
    """Change what is given; `members` are all of them."""
    await services.accounts.groups.change(name, by, description=body.description, members=body.members)
    return await run_in_threadpool(services.accounts.people.group, name)


@router.delete("/groups/{name}", status_code=204)
async def remove_group(name: Named, services: Services, by: By) -> None:
    """Remove a group; its members stay."""
    await services.accounts.groups.remove(name, by)
