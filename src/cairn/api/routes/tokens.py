"""Tokens of all users."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import identity as examples
from cairn.api.operations import ADMIN, operation, operation_router
from cairn.api.parameters import Paging, TokenId, UserQuery
from cairn.api.requests.identity import CreateTokenRequest
from cairn.services.identity.tokens import TokenSpec
from cairn.services.identity.views import CreatedToken, Token, TokenPage

router = operation_router("/api/tokens", "Tokens")


@router.get("")
@operation(ADMIN, response_example=examples.tokens)
def list_tokens(
    services: Services,
    paging: Paging,
    user: UserQuery = None,
    all: Annotated[bool, Query(description="Include invalid tokens.")] = False,
) -> TokenPage:
    """List valid tokens, newest first, without their secrets."""
    return services.identity.queries.list_tokens(user=user, all=all, limit=paging.limit, cursor=paging.cursor)


@router.post("", status_code=201)
@operation(
    ADMIN,
    idempotent=False,
    errors=(404, 409),
    request_example=examples.create_token_request,
    response_example=examples.created_token,
)
async def create_token(body: CreateTokenRequest, services: Services, actor: CurrentActor) -> CreatedToken:
    """Create a token for a user. Only this response contains its secret."""
    scopes = None if body.scopes is None else tuple(scope.value for scope in body.scopes)
    user = actor.name if body.user is None else body.user.strip().lower()
    created = await services.identity.tokens.create(TokenSpec(user, body.name, scopes, body.valid_days), actor)
    token = await run_in_threadpool(services.identity.queries.get_token, created.token_id)
    return CreatedToken(**dict(token), token=created.token)


@router.delete("/{token_id}")
@operation(ADMIN, response_example=examples.token)
async def revoke_token(token_id: TokenId, services: Services, actor: CurrentActor) -> Token:
    """Revoke a token. Sessions that were started with it end."""
    await services.identity.tokens.revoke(token_id, actor)
    return await run_in_threadpool(services.identity.queries.get_token, token_id)
