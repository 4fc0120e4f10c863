"""Sign in with an identity provider."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.authentication import TICKET, client_of, refuse_foreign, set_cookie, set_ticket
from cairn.api.dependencies import Services
from cairn.api.examples import identity as examples
from cairn.api.operations import OPEN, operation, operation_router
from cairn.api.requests.sign_in import FinishSignInRequest, StartSignInRequest
from cairn.api.routes.session import session_view, sign_in_options
from cairn.services.identity.views import SignedIn, SignInOptions, SignInRedirect

router = operation_router("/api", "Session")
ProviderName = Annotated[str, Path(max_length=100, description="Name of an identity provider in the settings.")]


@router.get("/sign-in")
@operation(OPEN, response_example=examples.sign_in_options)
def list_sign_in_options(services: Services) -> SignInOptions:
    """List the available sign-in methods besides a token."""
    return sign_in_options(services)


@router.post("/sign-in/{provider}")
@operation(
    OPEN,
    idempotent=False,
    errors=(401, 403, 409, 429, 502),
    request_example=examples.start_sign_in_request,
    response_example=examples.sign_in_redirect,
)
async def start_sign_in(
    provider: ProviderName, body: StartSignInRequest, request: Request, response: Response, services: Services
) -> SignInRedirect:
    """Start signing in with an identity provider. Open `url` in the browser."""
    refuse_foreign(request)
    redirect_url = f"{services.settings.public_url or request.base_url}".rstrip("/") + f"/sign-in/{provider}"
    started = await services.identity.providers.start(provider, body.return_to, redirect_url)
    set_ticket(response, request, started.ticket)
    return SignInRedirect(url=started.url)


@router.post("/sign-in/{provider}/finish")
@operation(
    OPEN,
    idempotent=False,
    errors=(401, 403, 409, 429, 502),
    request_example=examples.finish_sign_in_request,
    response_example=examples.signed_in,
)
async def finish_sign_in(
    provider: ProviderName, body: FinishSignInRequest, request: Request, response: Response, services: Services
) -> SignedIn:
    """Finish signing in. The page `/sign-in/{provider}` sends the provider's response."""
    refuse_foreign(request)
    ticket = request.cookies.get(TICKET, "")
    finished = await services.identity.providers.finish(provider, body.code, body.state, ticket, client_of(request))
    set_cookie(response, request, finished.signed_in.secret)
    response.delete_cookie(TICKET, path="/api/sign-in", httponly=True, samesite="strict")
    session = await run_in_threadpool(session_view, services, finished.signed_in.actor)
    return SignedIn(session=session, return_to=finished.return_to)
