"""Signing in and out, and the server's health."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request, Response
from starlette.concurrency import run_in_threadpool

import cairn
from cairn.api.admission import (
    COOKIE,
    TICKET,
    bearer,
    is_same_origin,
    refuse_foreign,
    set_cookie,
    set_ticket,
    visitor_of,
)
from cairn.api.guarding import operations
from cairn.api.people_bodies import BeginSignIn, ChangePassword, FinishSignIn, SignIn
from cairn.api.session_views import session_view, sign_in_ways
from cairn.api.wiring import By, Services, UsedSession
from cairn.services.errors import Forbidden
from cairn.services.identity.session_views import DriftStatus, Health, Session, SignedIn, SignInOptions, SignInRedirect

router = operations("/api", "Entry")
ProviderName = Annotated[str, Path(max_length=100, description="An identity provider of the settings.")]


@router.get("/health")
def get_health(services: Services) -> Health:
    """Whether the server is up, and what its last look at the folder tree found."""
    drift = services.keeper.last
    return Health(
        version=cairn.__version__,
        database=services.database.kind,
        drift=drift
        and DriftStatus(checked_at=drift.checked_at, repaired=drift.repaired, moved_aside=drift.moved_aside),
    )


@router.post("/session")
async def sign_in(body: SignIn, request: Request, response: Response, services: Services) -> Session:
    """Sign in with a token, or with a name and a password. The session is held by a cookie."""
    refuse_foreign(request)
    signing_in, visitor = services.accounts.signing_in, visitor_of(request)
    if body.token is not None:
        signed_in = await signing_in.with_token(body.token, visitor)
    else:
        signed_in = await signing_in.with_password(body.name or "", body.password or "", visitor)
    set_cookie(response, request, signed_in.secret)
    return await run_in_threadpool(session_view, services, signed_in.actor)


@router.get("/session")
async def get_session(request: Request, response: Response, services: Services, by: By) -> Session:
    """Who is signed in."""
    secret = request.cookies.get(COOKIE)
    if secret and bearer(request) is None and (await services.access.session(secret)).renewed:
        set_cookie(response, request, secret)
    return await run_in_threadpool(session_view, services, by)


@router.delete("/session", status_code=204)
async def sign_out(request: Request, response: Response, services: Services) -> None:
    """End the session. Without one, nothing happens."""
    secret = request.cookies.get(COOKIE)
    if secret:
        if not is_same_origin(request):
            raise Forbidden("Signing out is only possible from the server's own pages.")
        await services.access.sign_out(secret)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


@router.put("/session/password", status_code=204)
async def change_password(body: ChangePassword, services: Services, by: By, current: UsedSession) -> None:
    """Set your own password. Your other sessions end."""
    await services.accounts.sessions.change_password(by, current=body.current, new=body.new, but=current)


# ---- identity providers ----------------------------------------------------------------------------------
@router.get("/sign-in")
def get_sign_in_ways(services: Services) -> SignInOptions:
    """How people sign in here, besides with a token."""
    return sign_in_ways(services)


@router.post("/sign-in/{provider}")
async def begin_sign_in(
    provider: ProviderName, body: BeginSignIn, request: Request, response: Response, services: Services
) -> SignInRedirect:
    """Begin to sign in with an identity provider: let the browser go to `url`."""
    refuse_foreign(request)
    back = f"{services.settings.public_url or request.base_url}".rstrip("/") + f"/sign-in/{provider}"
    begun = await services.accounts.providers.begin(provider, body.return_to, back)
    set_ticket(response, request, begun.ticket)
    return SignInRedirect(url=begun.url)


@router.post("/sign-in/{provider}/finish")
async def finish_sign_in(
    provider: ProviderName, body: FinishSignIn, request: Request, response: Response, services: Services
) -> SignedIn:
    """Finish: the page `/sign-in/{provider}`, to which the provider sends the browser, hands over what it was given."""
    refuse_foreign(request)
    ticket = request.cookies.get(TICKET, "")
    done = await services.accounts.providers.finish(provider, body.code, body.state, ticket, visitor_of(request))
    set_cookie(response, request, done.signed_in.secret)
    response.delete_cookie(TICKET, path="/api/sign-in", httponly=True, samesite="strict")
    session = await run_in_threadpool(session_view, services, done.signed_in.actor)
    return SignedIn(session=session, return_to=done.return_to)
