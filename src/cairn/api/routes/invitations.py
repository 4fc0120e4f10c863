"""Invitations."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.authentication import client_of, refuse_foreign, set_cookie
from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import identity as examples
from cairn.api.operations import ADMIN, OPEN, operation, operation_router
from cairn.api.parameters import InvitationId, Paging
from cairn.api.requests.sign_in import AcceptInvitationRequest, CreateInvitationRequest, PreviewInvitationRequest
from cairn.api.routes.session import session_view
from cairn.services.identity.views import InvitationPage, InvitationPreview, NewInvitation, Session

router = operation_router("/api/invitations", "Invitations")


@router.get("")
@operation(ADMIN, response_example=examples.invitations)
def list_invitations(
    services: Services,
    paging: Paging,
    all: Annotated[bool, Query(description="Include accepted, revoked and expired invitations.")] = False,
) -> InvitationPage:
    """List open invitations, newest first."""
    return services.identity.queries.list_invitations(all=all, limit=paging.limit, cursor=paging.cursor)


@router.post("", status_code=201)
@operation(
    ADMIN,
    idempotent=False,
    errors=(404, 409),
    request_example=examples.create_invitation_request,
    response_example=examples.created_invitation,
)
async def create_invitation(body: CreateInvitationRequest, services: Services, actor: CurrentActor) -> NewInvitation:
    """Invite a user. Only this response contains the link. It works once and replaces earlier links."""
    created = await services.identity.invitations.create(body.spec, body.valid_hours, actor)
    invitation = await run_in_threadpool(services.identity.queries.get_invitation, created.invitation_id)
    return NewInvitation(**dict(invitation), token=created.token, path=f"/welcome#invitation={created.token}")


@router.delete("/{invitation_id}", status_code=204)
@operation(ADMIN)
async def revoke_invitation(invitation_id: InvitationId, services: Services, actor: CurrentActor) -> None:
    """Revoke an invitation."""
    await services.identity.invitations.revoke(invitation_id, actor)


@router.post("/preview")
@operation(
    OPEN,
    idempotent=False,
    errors=(401, 403, 404, 409, 410, 429),
    request_example=examples.preview_invitation_request,
    response_example=examples.invitation_preview,
)
async def preview_invitation(body: PreviewInvitationRequest, request: Request, services: Services) -> InvitationPreview:
    """Get the user that an invitation is for. This doesn't use it up."""
    refuse_foreign(request)
    invitation = await services.identity.invitations.preview(body.token, client_of(request))
    return InvitationPreview(
        user=invitation.user,
        display_name=invitation.display_name,
        email=invitation.email,
        expires_at=invitation.expires_at,
    )


@router.post("/accept")
@operation(
    OPEN,
    idempotent=False,
    errors=(401, 403, 404, 409, 410, 429),
    request_example=examples.accept_invitation_request,
    response_example=examples.session,
)
async def accept_invitation(
    body: AcceptInvitationRequest, request: Request, response: Response, services: Services
) -> Session:
    """Set a password and sign in. The invitation can't be used again."""
    refuse_foreign(request)
    signed_in = await services.identity.invitations.accept(
        body.token, body.password, body.display_name, client_of(request)
    )
    set_cookie(response, request, signed_in.secret)
    return await run_in_threadpool(session_view, services, signed_in.actor)
