"""Who decides for whom meanwhile."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.guarding import operations
from cairn.api.parameters import DelegationId, Paging, UserQuery
from cairn.api.people_bodies import CreateDelegation
from cairn.api.wiring import By, Services
from cairn.services.identity.delegations import NewDelegation
from cairn.services.identity.views import Delegation, DelegationPage

router = operations("/api/delegations", "People")


@router.get("")
def list_delegations(
    services: Services,
    paging: Paging,
    user: UserQuery = None,
    all: Annotated[bool, Query(description="Also those that are over.")] = False,
) -> DelegationPage:
    """Who decides for whom, now or later, newest first; `user` is on either side."""
    return services.accounts.people.delegations(user=user, all=all, limit=paging.limit, cursor=paging.cursor)


@router.post("", status_code=201)
async def create_delegation(body: CreateDelegation, response: Response, services: Services, by: By) -> Delegation:
    """Let somebody who may decide do so for you while you are away; as an admin, also for somebody else."""
    wanted = NewDelegation(
        from_user=by.name if body.from_user is None else body.from_user.strip().lower(),
        to_user=body.to_user.strip().lower(),
        until=body.until,
        starts_at=body.starts_at,
        reason=body.reason,
    )
    name = await services.accounts.delegations.create(wanted, by)
    response.headers["Location"] = f"/api/delegations/{name}"
    return await run_in_threadpool(services.accounts.people.delegation, name)


@router.get("/{delegation_id}")
def get_delegation(delegation_id: DelegationId, services: Services) -> Delegation:
    """A delegation."""
    return services.accounts.people.delegation(delegation_id)


@router.delete("/{delegation_id}")
async def end_delegation(delegation_id: DelegationId, services: Services, by: By) -> Delegation:
    """End a delegation before its time: yours, one that you have, or as an admin any."""
    await services.accounts.delegations.end(delegation_id, by)
    return await run_in_threadpool(services.accounts.people.delegation, delegation_id)
