"""Authentication, permissions and same-origin checks of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import Request, Response

from cairn.services.actors import Actor, Permission
from cairn.services.errors import Forbidden, Unauthenticated
from cairn.services.sign_in.authentication import LIFETIME
from cairn.services.sign_in.providers import TICKET_SECONDS
from cairn.services.sign_in.service import SignInClient

if TYPE_CHECKING:
    from cairn.services.sign_in.authentication import Authentication

COOKIE = "cairn_session"
TICKET = "cairn_sign_in"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


async def authenticate(request: Request, authentication: Authentication, allowed: Permission) -> Actor:
    """The signed-in identity, if it has one of the roles. A token comes before a cookie."""
    token = bearer(request)
    secret = request.cookies.get(COOKIE)
    if token is not None:
        actor = await authentication.authenticate(token, address_of(request))
    elif secret:
        if request.method not in SAFE and not is_same_origin(request):
            raise Forbidden(
                "Sessions only work from the server's own pages. Other programs need `Authorization: Bearer`."
            )
        session = await authentication.session(secret)
        actor, request.state.session_id = session.actor, session.session_id
    else:
        raise Unauthenticated("Sign in first. Open the start link, or send `Authorization: Bearer` with a token.")
    require_permission(actor, allowed)
    return actor


def require_permission(actor: Actor, allowed: Permission) -> None:
    if actor.can(allowed):
        return
    if actor.scopes is not None and actor.scopes.isdisjoint(allowed.scopes):
        needed = " or ".join(sorted(allowed.scopes))
        raise Forbidden(f"This token lacks the scope {needed}. Use a token that has it.")
    needed = " or ".join(sorted(allowed.roles))
    raise Forbidden(f"You need the role {needed} to do this.")


def bearer(request: Request) -> str | None:
    """The token in the Authorization header, if there is one."""
    header = request.headers.get("authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("Only `Authorization: Bearer` with a token is supported.")
    return token.strip()


def is_same_origin(request: Request) -> bool:
    """Whether one of the server's own pages sent the request, according to the browser's headers."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is not None and names_host(origin, request)


def is_foreign(request: Request) -> bool:
    """Whether a page of another site sent the request."""
    return request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin") or (
        (origin := request.headers.get("origin")) is not None and not names_host(origin, request)
    )


def names_host(origin: str, request: Request) -> bool:
    try:
        return urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    except ValueError:
        return False


def client_of(request: Request) -> SignInClient:
    return SignInClient(address_of(request), request.headers.get("user-agent", ""))


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""


def refuse_foreign(request: Request) -> None:
    """Only the server's own pages and programs can sign in."""
    if is_foreign(request):
        raise Forbidden("You can only sign in from the server's own pages.")


def set_cookie(response: Response, request: Request, secret: str) -> None:
    _set(response, request, COOKIE, secret, int(LIFETIME.total_seconds()), "/")


def set_ticket(response: Response, request: Request, ticket: str) -> None:
    """Set the cookie that links the sign-in to the identity provider's response."""
    _set(response, request, TICKET, ticket, TICKET_SECONDS, "/api/sign-in")


def _set(response: Response, request: Request, name: str, value: str, seconds: int, path: str) -> None:
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, path=path, httponly=True, samesite="strict", secure=secure)
