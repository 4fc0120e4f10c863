"""Who decides for whom meanwhile."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import By, Services
from cairn.api.examples import identity as examples
from cairn.api.operations import OWN, READ, operation, operation_router
from cairn.api.parameters import DelegationId, Paging, UserQuery
from cairn.api.requests.identity import CreateDelegationRequest
from cairn.services.identity.delegations import DelegationSpec
from cairn.services.identity.views import Delegation, DelegationPage

router = operation_router("/api/delegations", "People")


@router.get("")
@operation(READ, response_example=examples.delegations)
def list_delegations(
    services: Services,
    paging: Paging,
    user: UserQuery = None,
    all: Annotated[bool, Query(description="Also those that are over.")] = False,
) -> DelegationPage:
    """Who decides for whom, now or later, newest first; `user` is on either side."""
    return services.accounts.queries.delegations(user=user, all=all, limit=paging.limit, cursor=paging.cursor)


@router.post("", status_code=201)
@operation(OWN, request_example=examples.create_delegation_request, response_example=examples.delegation)
async def create_delegation(
    body: CreateDelegationRequest, response: Response, services: Services, by: By
) -> Delegation:
    """Let somebody who may decide do so for you while you are away; as an admin, also for somebody else."""
    spec = DelegationSpec(
        from_user=by.name if body.from_user is None else body.from_user.strip().lower(),
        to_user=body.to_user.strip().lower(),
        ends_at=body.ends_at,
        starts_at=body.starts_at,
        reason=body.reason,
    )
    name = await services.accounts.delegations.create(spec, by)
    response.headers["Location"] = f"/api/delegations/{name}"
    return await run_in_threadpool(services.accounts.queries.delegation, name)


@router.get("/{delegation_id}")
@operation(READ, response_example=examples.delegation)
def get_delegation(delegation_id: DelegationId, services: Services) -> Delegation:
    """A delegation."""
    return services.accounts.queries.delegation(delegation_id)


@router.delete("/{delegation_id}")
@operation(OWN, response_example=examples.delegation)
async def end_delegation(delegation_id: DelegationId, services: Services, by: By) -> Delegation:
    """End a delegation before its time: yours, one that you have, or as an admin any."""
    await services.accounts.delegations.end(delegation_id, by)
    return await run_in_threadpool(services.accounts.queries.delegation, delegation_id)
