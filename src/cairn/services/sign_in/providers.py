"""Signing in with an identity provider: there, back, and which user it is."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken

from cairn.documents import decode_json, encode_json
from cairn.ports.identity import (
    Identity,
    IdentityProvider,
    IdentityProviderError,
    NotIdentified,
    ProviderPolicy,
    SignInRequest,
)
from cairn.services.actors import ADMIN, Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import Forbidden, InvalidInput, Unauthenticated, UpstreamError
from cairn.services.identity.name_rules import LONGEST_NAME, email_of, name_of
from cairn.services.identity.users import UserChange, UserSpec, change_user, check_free, find, make_user
from cairn.services.sign_in.service import SignInClient, SignInResult, SignInService
from cairn.store import tables as t
from cairn.store.errors import NotFound

X, U = t.user_identities, t.users
TICKET_SECONDS = 600  # from leaving for the provider to coming back
_LOST = "This sign-in was not begun in this browser, or too long ago. Begin again."


@dataclass(frozen=True, slots=True)
class SignInStarted:
    url: str  # of the provider
    ticket: str  # for a cookie: only the browser that began comes back


@dataclass(frozen=True, slots=True)
class SignInFinished:
    signed_in: SignInResult
    return_to: str


class IdentityProviders:
    def __init__(
        self,
        admin_changes: AdminChanges,
        signing_in: SignInService,
        known: Mapping[str, tuple[ProviderPolicy, IdentityProvider]],
    ) -> None:
        self._changes = admin_changes
        self._signing_in = signing_in
        self._known = known
        self._seal = Fernet(Fernet.generate_key())  # a sign-in that is under way does not outlast the process

    @property
    def offered(self) -> list[ProviderPolicy]:
        return [policy for policy, _ in self._known.values()]

    async def begin(self, name: str, return_to: str, redirect_uri: str) -> SignInStarted:
        _, provider = self._named(name)
        trip = SignInRequest(redirect_uri, *(secrets.token_urlsafe(48) for _ in range(3)))
        kept: dict[str, Any] = {"provider": name, "return_to": inner_page(return_to), "redirect_uri": redirect_uri}
        kept |= {"state": trip.state, "nonce": trip.nonce, "verifier": trip.verifier}
        try:
            url = await provider.address(trip)
        except IdentityProviderError as fault:
            raise UpstreamError(_told(name, fault)) from None
        return SignInStarted(url, self._seal.encrypt(encode_json(kept)).decode())

    async def finish(self, name: str, code: str, state: str, ticket: str, visitor: SignInClient) -> SignInFinished:
        policy, provider = self._named(name)
        async with self._signing_in.guarded(visitor.address, name):
            kept = self._opened(ticket)
            if kept["provider"] != name or not hmac.compare_digest(kept["state"].encode(), state.encode()):
                raise Unauthenticated(_LOST)
            trip = SignInRequest(kept["redirect_uri"], kept["state"], kept["nonce"], kept["verifier"])
            try:
                identity = await provider.identify(trip, code)
            except NotIdentified as error:
                raise Unauthenticated(f"{policy.title} did not sign you in: {error}. Begin again.") from None
            except IdentityProviderError as fault:
                raise UpstreamError(_told(name, fault)) from None
        by = Actor(f"provider:{name}")
        user, roles = await self._changes.apply(lambda change: _user_of(change, policy, identity), by)
        if not roles:  # what the provider's groups have taken away stays taken away
            raise Forbidden("You have no role here: ask an admin for one, or to be put into the right group.")
        return SignInFinished(await self._signing_in.open(user, name, visitor), kept["return_to"])

    def _named(self, name: str) -> tuple[ProviderPolicy, IdentityProvider]:
        if name not in self._known:
            raise NotFound("identity provider", repr(name)[:80])
        return self._known[name]

    def _opened(self, ticket: str) -> dict[str, str]:
        try:
            kept = decode_json(self._seal.decrypt(ticket.encode(), ttl=TICKET_SECONDS))
        except (InvalidToken, UnicodeEncodeError):
            raise Unauthenticated(_LOST) from None
        return cast("dict[str, str]", kept)


def _told(name: str, fault: IdentityProviderError) -> str:
    return f"The identity provider {name} does not do its part: {fault}."


def inner_page(address: str) -> str:
    """An address inside this server's own pages; anything else is refused."""
    parts = urlsplit(address) if address.isprintable() and " " not in address else None
    is_inner = parts is not None and not parts.scheme and not parts.netloc and re.match(r"/(?![/\\])", address)
    if not is_inner or "\\" in address or len(address) > 2000:
        raise InvalidInput([("/return_to", "This has to be a page of this server, such as /approvals.")])
    return address


# ---- who it is -------------------------------------------------------------------------------------------
def _user_of(change: AdminChange, policy: ProviderPolicy, identity: Identity) -> tuple[str, list[str]]:
    """The user, made or linked where that is allowed, with the roles that the provider's groups give."""
    linked = sa.select(X.c.user_name).where(X.c.provider == policy.name, X.c.subject == identity.subject)
    user = change.connection.execute(linked).scalar_one_or_none()
    if user is None:
        user = _by_address(change, identity) or _made(change, policy, identity)
        row = {"provider": policy.name, "subject": identity.subject, "user_name": user, "created_at": change.at}
        change.connection.execute(sa.insert(X).values(row))
        change.record("identity_linked", user=user, provider=policy.name)
    if find(change.connection, user).removed_at is not None:
        raise Forbidden("You have been removed here: ask an admin.")
    if policy.roles is not None and user != ADMIN.name:
        change_user(change, user, UserChange(roles=_roles(policy, identity)))
    return user, cast("list[str]", find(change.connection, user).roles)


def _by_address(change: AdminChange, identity: Identity) -> str | None:
    known = sa.select(U.c.name).where(U.c.email == identity.email, U.c.email != "")
    return change.connection.execute(known).scalar_one_or_none()


def _made(change: AdminChange, policy: ProviderPolicy, identity: Identity) -> str:
    domain = identity.email.rpartition("@")[2]
    if not policy.create_users or (policy.domains and domain not in policy.domains):
        raise Forbidden(f"{policy.title} knows you, and nobody here does: ask an admin for an invitation.")
    try:
        email = email_of(identity.email)
    except InvalidInput:
        email = ""
    roles = _roles(policy, identity)
    return make_user(change, UserSpec(_free_name(change, identity), identity.display_name[:200], email, roles))


def _free_name(change: AdminChange, identity: Identity) -> str:
    """By what the provider calls them, else by their address; numbered if that is taken."""
    plain = re.sub(r"[^a-z0-9._@+-]+", "-", (identity.name or identity.email).lower()).strip("._@+-")
    stem = plain[: LONGEST_NAME - 5].strip("._@+-") or "user"
    for number in range(1, 1000):
        name = stem if number == 1 else f"{stem}-{number}"
        try:
            check_free(change.connection, name_of(name))
        except InvalidInput:
            continue
        return name
    raise Forbidden("There is no name left for you here: ask an admin for an invitation.")


def _roles(policy: ProviderPolicy, identity: Identity) -> tuple[str, ...]:
    mapped: list[Any] = [role for group in identity.groups for role in (policy.roles or {}).get(group, ())]
    return tuple(sorted({*policy.default_roles, *mapped}))
