"""Delegations: users who decide for others who are away."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
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
    all: Annotated[bool, Query(description="Include delegations that have ended.")] = False,
) -> DelegationPage:
    """List current and future delegations, newest first. `user` matches both sides."""
    return services.identity.queries.list_delegations(user=user, all=all, limit=paging.limit, cursor=paging.cursor)


@router.post("", status_code=201)
@operation(OWN, request_example=examples.create_delegation_request, response_example=examples.delegation)
async def create_delegation(
    body: CreateDelegationRequest, response: Response, services: Services, actor: CurrentActor
) -> Delegation:
    """Delegate your decisions to another approver while you are away. Admins can also delegate for others."""
    spec = DelegationSpec(
        from_user=actor.name if body.from_user is None else body.from_user.strip().lower(),
        to_user=body.to_user.strip().lower(),
        ends_at=body.ends_at,
        starts_at=body.starts_at,
        reason=body.reason,
    )
    name = await services.identity.delegations.create(spec, actor)
    response.headers["Location"] = f"/api/delegations/{name}"
    return await run_in_threadpool(services.identity.queries.get_delegation, name)


@router.get("/{delegation_id}")
@operation(READ, response_example=examples.delegation)
def get_delegation(delegation_id: DelegationId, services: Services) -> Delegation:
    """Get a delegation."""
    return services.identity.queries.get_delegation(delegation_id)


@router.delete("/{delegation_id}")
@operation(OWN, response_example=examples.delegation)
async def end_delegation(delegation_id: DelegationId, services: Services, actor: CurrentActor) -> Delegation:
    """End a delegation early: one you gave or received or, as an admin, any."""
    await services.identity.delegations.end(delegation_id, actor)
    return await run_in_threadpool(services.identity.queries.get_delegation, delegation_id)
