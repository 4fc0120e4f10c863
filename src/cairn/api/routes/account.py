"""Your own account: display name and tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import identity as examples
from cairn.api.operations import OWN, operation, operation_router
from cairn.api.parameters import Paging, TokenId
from cairn.api.requests.identity import CreateOwnTokenRequest, UpdateAccountRequest
from cairn.api.routes.session import session_view
from cairn.services.identity.tokens import TokenSpec
from cairn.services.identity.users import UserUpdate
from cairn.services.identity.views import CreatedToken, Session, Token, TokenPage

router = operation_router("/api/me", "Your account")


@router.put("")
@operation(OWN, request_example=examples.update_account_request, response_example=examples.session)
async def update_me(body: UpdateAccountRequest, services: Services, actor: CurrentActor) -> Session:
    """Change your display name. Your username never changes, because decisions refer to it."""
    await services.identity.users.update(actor.name, UserUpdate(display_name=body.display_name), actor)
    return await run_in_threadpool(session_view, services, actor)


@router.get("/tokens")
@operation(OWN, response_example=examples.tokens)
def list_own_tokens(
    services: Services,
    paging: Paging,
    actor: CurrentActor,
    all: Annotated[bool, Query(description="Include invalid tokens.")] = False,
) -> TokenPage:
    """List your valid tokens, newest first, without their secrets."""
    return services.identity.queries.list_tokens(user=actor.name, all=all, limit=paging.limit, cursor=paging.cursor)


@router.post("/tokens", status_code=201)
@operation(
    OWN,
    idempotent=False,
    errors=(404, 409),
    request_example=examples.create_own_token_request,
    response_example=examples.created_token,
)
async def create_own_token(body: CreateOwnTokenRequest, services: Services, actor: CurrentActor) -> CreatedToken:
    """Create a token for yourself, limited to what your roles allow. Only this response contains its secret.

    If you create it with a token, it can do no more than that token and ends with it.
    """
    scopes = None if body.scopes is None else tuple(scope.value for scope in body.scopes)
    created = await services.identity.tokens.create_own(
        TokenSpec(actor.name, body.name, scopes, body.valid_days), actor
    )
    token = await run_in_threadpool(services.identity.queries.get_token, created.token_id)
    return CreatedToken(**dict(token), token=created.token)


@router.delete("/tokens/{token_id}")
@operation(OWN, response_example=examples.token)
async def revoke_own_token(token_id: TokenId, services: Services, actor: CurrentActor) -> Token:
    """Revoke one of your tokens. Sessions that were started with it end."""
    await services.identity.tokens.revoke_own(token_id, actor)
    return await run_in_threadpool(services.identity.queries.get_token, token_id)
