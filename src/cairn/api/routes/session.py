"""Sign in and out, and the current session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

import cairn
from cairn.api.authentication import COOKIE, bearer, client_of, is_same_origin, refuse_foreign, set_cookie
from cairn.api.dependencies import CurrentActor, CurrentSessionId, Services
from cairn.api.examples import identity as examples
from cairn.api.operations import OPEN, OWN, READ, operation, operation_router
from cairn.api.requests.sign_in import ChangePasswordRequest, CreateSessionRequest
from cairn.services.actors import Actor, Role, Scope
from cairn.services.errors import Forbidden
from cairn.services.identity.views import Session, SignInOptions, SignInProvider

if TYPE_CHECKING:
    from cairn.bootstrap import AppServices

router = operation_router("/api", "Session")


@router.post("/session")
@operation(
    OPEN,
    idempotent=False,
    errors=(401, 403, 429),
    request_example=examples.sign_in_request,
    response_example=examples.session,
)
async def sign_in(body: CreateSessionRequest, request: Request, response: Response, services: Services) -> Session:
    """Sign in with a token, or with a username and password. Sets a session cookie."""
    refuse_foreign(request)
    service, client = services.identity.sign_in, client_of(request)
    if body.token is not None:
        signed_in = await service.with_token(body.token, client)
    else:
        signed_in = await service.with_password(body.name or "", body.password or "", client)
    set_cookie(response, request, signed_in.secret)
    return await run_in_threadpool(session_view, services, signed_in.actor)


@router.get("/session")
@operation(READ, response_example=examples.session)
async def get_session(request: Request, response: Response, services: Services, actor: CurrentActor) -> Session:
    """Get the current session: user, roles and scopes."""
    secret = request.cookies.get(COOKIE)
    if secret and bearer(request) is None and (await services.authentication.session(secret)).renewed:
        set_cookie(response, request, secret)
    return await run_in_threadpool(session_view, services, actor)


@router.delete("/session", status_code=204)
@operation(OPEN, idempotent=False, errors=(403,))
async def sign_out(request: Request, response: Response, services: Services) -> None:
    """Sign out. Does nothing if you are not signed in."""
    secret = request.cookies.get(COOKIE)
    if secret:
        if not is_same_origin(request):
            raise Forbidden("You can only sign out from the server's own pages.")
        await services.authentication.sign_out(secret)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


@router.put("/session/password", status_code=204)
@operation(OWN, idempotent=False, errors=(404, 409), request_example=examples.change_password_request)
async def change_password(
    body: ChangePasswordRequest, services: Services, actor: CurrentActor, current: CurrentSessionId
) -> None:
    """Set your own password. Your other sessions end."""
    await services.identity.sessions.change_password(
        actor, current=body.current, new=body.new, except_session_id=current
    )


def session_view(services: AppServices, actor: Actor) -> Session:
    user = services.identity.queries.get_user(actor.name)
    return Session(
        actor=actor.name,
        display_name=user.display_name,
        email=user.email,
        roles=[role for role in Role if role.value in actor.roles],
        groups=sorted(actor.groups),
        acting_for=sorted(actor.acting_for),
        scopes=None if actor.scopes is None else [scope for scope in Scope if scope.value in actor.scopes],
        has_password=user.has_password,
        sign_in_options=sign_in_options(services),
        version=cairn.__version__,
        data_dir=str(services.settings.data_dir.resolve()) if actor.is_admin else None,
    )


def sign_in_options(services: AppServices) -> SignInOptions:
    offered = services.identity.providers.policies
    return SignInOptions(
        password=services.identity.queries.has_passwords(),
        providers=[SignInProvider(name=policy.name, title=policy.title) for policy in offered],
    )
