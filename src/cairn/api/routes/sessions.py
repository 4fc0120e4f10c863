"""Open sessions."""

from __future__ import annotations

from cairn.api.dependencies import CurrentActor, CurrentSessionId, Services
from cairn.api.examples import identity as examples
from cairn.api.operations import OWN, operation, operation_router
from cairn.api.parameters import Paging, SessionId, UserQuery
from cairn.services.actors import Actor
from cairn.services.errors import Forbidden
from cairn.services.identity.views import EndedSessions, OpenSessionPage

router = operation_router("/api/sessions", "Sessions")


@router.get("")
@operation(OWN, response_example=examples.open_sessions)
def list_sessions(
    services: Services, paging: Paging, actor: CurrentActor, current: CurrentSessionId, user: UserQuery = None
) -> OpenSessionPage:
    """List your open sessions, newest first. Admins can list those of other users."""
    _check_own(actor, user)
    return services.identity.queries.list_sessions(
        user=user or actor.name, current=current, limit=paging.limit, cursor=paging.cursor
    )


@router.delete("/{session_id}", status_code=204)
@operation(OWN)
async def end_session(session_id: SessionId, services: Services, actor: CurrentActor) -> None:
    """End one of your sessions. Admins can end any session."""
    await services.identity.sessions.end(session_id, actor)


@router.delete("")
@operation(OWN, response_example=examples.ended_sessions)
async def end_sessions(
    services: Services, actor: CurrentActor, current: CurrentSessionId, user: UserQuery = None
) -> EndedSessions:
    """End all your other sessions or, as an admin, all sessions of another user."""
    _check_own(actor, user)
    return EndedSessions(
        count=await services.identity.sessions.end_all(user or actor.name, actor, except_session_id=current)
    )


def _check_own(actor: Actor, user: str | None) -> None:
    if user not in (None, actor.name) and not actor.is_admin:
        raise Forbidden("You can only view and end your own sessions.")
