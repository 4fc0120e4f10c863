"""What lets people in: invitations, tokens and sessions."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.admission import refuse_foreign, set_cookie, visitor_of
from cairn.api.guarding import operations
from cairn.api.parameters import InvitationId, Paging, SessionId, TokenId, UserQuery
from cairn.api.people_bodies import AcceptInvitation, CreateToken, Invite, LookAtInvitation
from cairn.api.session_views import session_view
from cairn.api.wiring import By, Services, UsedSession
from cairn.services.actors import Actor
from cairn.services.errors import Forbidden
from cairn.services.identity.session_views import Session
from cairn.services.identity.tokens import TokenSpec as Wanted
from cairn.services.identity.views import (
    CreatedToken,
    EndedSessions,
    InvitationPage,
    InvitationPreview,
    NewInvitation,
    OpenSessionPage,
    Token,
    TokenPage,
)

router = operations("/api", "Letting in")


# ---- invitations -----------------------------------------------------------------------------------------
@router.get("/invitations")
def list_invitations(
    services: Services,
    paging: Paging,
    all: Annotated[bool, Query(description="Also those that were accepted, taken back or are too old.")] = False,
) -> InvitationPage:
    """Open invitations, newest first."""
    return services.accounts.people.invitations(all=all, limit=paging.limit, cursor=paging.cursor)


@router.post("/invitations", status_code=201)
async def create_invitation(body: Invite, services: Services, by: By) -> NewInvitation:
    """Invite somebody; the link is in this answer alone, works once and takes the place of earlier ones."""
    made = await services.accounts.invitations.invite(body.wanted, body.valid_hours, by)
    kept = await run_in_threadpool(services.accounts.people.invitation, made.invitation_id)
    return NewInvitation(**dict(kept), token=made.token, path=f"/welcome#invitation={made.token}")


@router.delete("/invitations/{invitation_id}", status_code=204)
async def revoke_invitation(invitation_id: InvitationId, services: Services, by: By) -> None:
    """Take an invitation back."""
    await services.accounts.invitations.revoke(invitation_id, by)


@router.post("/invitations/preview")
async def preview_invitation(body: LookAtInvitation, request: Request, services: Services) -> InvitationPreview:
    """Whom an invitation is for. It stays open."""
    refuse_foreign(request)
    found = await services.accounts.invitations.look(body.token, visitor_of(request))
    return InvitationPreview(
        user=found.user, display_name=found.display_name, email=found.email, expires_at=found.expires_at
    )


@router.post("/invitations/accept")
async def accept_invitation(
    body: AcceptInvitation, request: Request, response: Response, services: Services
) -> Session:
    """Set a password and be signed in. The invitation is used up."""
    refuse_foreign(request)
    signed_in = await services.accounts.invitations.accept(
        body.token, body.password, body.display_name, visitor_of(request)
    )
    set_cookie(response, request, signed_in.secret)
    return await run_in_threadpool(session_view, services, signed_in.actor)


# ---- tokens ----------------------------------------------------------------------------------------------
@router.get("/tokens")
def list_tokens(
    services: Services,
    paging: Paging,
    user: UserQuery = None,
    all: Annotated[bool, Query(description="Also those that are no longer valid.")] = False,
) -> TokenPage:
    """Tokens that are valid, newest first; never their texts."""
    return services.accounts.people.tokens(user=user, all=all, limit=paging.limit, cursor=paging.cursor)


@router.post("/tokens", status_code=201)
async def create_token(body: CreateToken, services: Services, by: By) -> CreatedToken:
    """Make a token for a user. Its text is in this answer alone."""
    scopes = None if body.scopes is None else tuple(scope.value for scope in body.scopes)
    user = by.name if body.user is None else body.user.strip().lower()
    made = await services.accounts.tokens.create(Wanted(user, body.name, scopes, body.valid_days), by)
    kept = await run_in_threadpool(services.accounts.people.token, made.token_id)
    return CreatedToken(**dict(kept), token=made.token)


@router.delete("/tokens/{token_id}")
async def revoke_token(token_id: TokenId, services: Services, by: By) -> Token:
    """Revoke a token: it lets nobody in from now on, nor do sessions that were opened with it."""
    await services.accounts.tokens.revoke(token_id, by)
    return await run_in_threadpool(services.accounts.people.token, token_id)


# ---- sessions --------------------------------------------------------------------------------------------
@router.get("/sessions")
def list_sessions(
    services: Services, paging: Paging, by: By, current: UsedSession, user: UserQuery = None
) -> OpenSessionPage:
    """Your open sessions, newest first; an admin also sees another user's."""
    _check_own(by, user)
    return services.accounts.people.sessions(
        user=user or by.name, current=current, limit=paging.limit, cursor=paging.cursor
    )


@router.delete("/sessions/{session_id}", status_code=204)
async def end_session(session_id: SessionId, services: Services, by: By) -> None:
    """End one of your sessions; an admin may end any."""
    await services.accounts.sessions.end(session_id, by)


@router.delete("/sessions")
async def end_sessions(services: Services, by: By, current: UsedSession, user: UserQuery = None) -> EndedSessions:
    """End all your other sessions, or as an admin all of another user's."""
    _check_own(by, user)
    return EndedSessions(count=await services.accounts.sessions.end_all(user or by.name, by, but=current))


def _check_own(by: Actor, user: str | None) -> None:
    if user not in (None, by.name) and not by.is_admin:
        raise Forbidden(f"{by.name} may see and end their own sessions only.")
