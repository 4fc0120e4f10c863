"""Signing in and out, and the server's health."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

import cairn
from cairn.api.admission import COOKIE, bearer, is_foreign, is_same_origin, set_cookie, visitor_of
from cairn.api.bodies import SignIn
from cairn.api.guarding import Guarded
from cairn.api.wiring import By, Services
from cairn.services.access import LIFETIME
from cairn.services.actors import Actor, Role
from cairn.services.errors import Forbidden
from cairn.services.views.sessions import DriftReport, Health, Session

router = APIRouter(prefix="/api", route_class=Guarded, tags=["Entry"])
_SECONDS = int(LIFETIME.total_seconds())


@router.get("/health")
def get_health(services: Services) -> Health:
    """Whether the server is up, and what its last look at the folder tree found."""
    drift = services.keeper.last
    return Health(
        version=cairn.__version__,
        database=services.database.kind,
        drift=drift
        and DriftReport(checked_at=drift.checked_at, repaired=drift.repaired, moved_aside=drift.moved_aside),
    )


@router.post("/session")
async def sign_in(body: SignIn, request: Request, response: Response, services: Services) -> Session:
    """Sign in with a token. The session is held by a cookie."""
    if is_foreign(request):
        raise Forbidden("Signing in is only possible from the server's own pages.")
    signing_in, visitor = services.accounts.signing_in, visitor_of(request)
    signed_in = await signing_in.with_token(body.token, visitor)
    set_cookie(response, request, signed_in.secret, _SECONDS)
    return _session(services, signed_in.actor)


@router.get("/session")
async def get_session(request: Request, response: Response, services: Services, by: By) -> Session:
    """Who is signed in."""
    secret = request.cookies.get(COOKIE)
    if secret and bearer(request) is None and (await services.access.session(secret)).renewed:
        set_cookie(response, request, secret, _SECONDS)
    return _session(services, by)


@router.delete("/session", status_code=204)
async def sign_out(request: Request, response: Response, services: Services) -> None:
    """End the session. Without one, nothing happens."""
    secret = request.cookies.get(COOKIE)
    if secret:
        if not is_same_origin(request):
            raise Forbidden("Signing out is only possible from the server's own pages.")
        await services.access.sign_out(secret)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


def _session(services: Any, actor: Actor) -> Session:
    roles = [role for role in Role if role.value in actor.roles]
    is_admin = Role.ADMIN.value in actor.roles
    folder = str(services.settings.data_dir.resolve()) if is_admin else None
    return Session(actor=actor.name, roles=roles, version=cairn.__version__, data_dir=folder)
