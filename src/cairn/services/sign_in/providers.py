"""Sign in with an identity provider: redirect the user, verify the response, and find or create the user."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

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
from cairn.services.identity.name_rules import MAX_NAME_LENGTH, email_of, name_of
from cairn.services.identity.records import lock_user
from cairn.services.identity.users import UserSpec, UserUpdate, check_name_is_free, create_user, update_user
from cairn.services.sign_in import queries, records
from cairn.services.sign_in.service import SignInClient, SignInResult, SignInService
from cairn.store.errors import NotFound

TICKET_SECONDS = 600  # to sign in at the provider and return
_UNKNOWN_SIGN_IN = "This sign-in was started in another browser or has expired. Start again."


@dataclass(frozen=True, slots=True)
class SignInStarted:
    url: str  # of the provider
    ticket: str  # for a cookie: only the browser that started the sign-in can finish it


@dataclass(frozen=True, slots=True)
class SignInFinished:
    signed_in: SignInResult
    return_to: str


class IdentityProviders:
    def __init__(
        self,
        admin_changes: AdminChanges,
        sign_in: SignInService,
        providers: Mapping[str, tuple[ProviderPolicy, IdentityProvider]],
    ) -> None:
        self._changes = admin_changes
        self._sign_in = sign_in
        self._providers = providers
        self._fernet = Fernet(Fernet.generate_key())  # pending sign-ins end with the process

    @property
    def policies(self) -> list[ProviderPolicy]:
        return [policy for policy, _ in self._providers.values()]

    async def start(self, name: str, return_to: str, redirect_uri: str) -> SignInStarted:
        _, provider = self._provider(name)
        request = SignInRequest(redirect_uri, *(secrets.token_urlsafe(48) for _ in range(3)))
        ticket: dict[str, Any] = {
            "provider": name,
            "return_to": local_page(return_to),
            "redirect_uri": redirect_uri,
            "state": request.state,
            "nonce": request.nonce,
            "verifier": request.verifier,
        }
        try:
            url = await provider.address(request)
        except IdentityProviderError as error:
            raise _upstream_error(name, error) from None
        return SignInStarted(url, self._fernet.encrypt(encode_json(ticket)).decode())

    async def finish(self, name: str, code: str, state: str, ticket: str, client: SignInClient) -> SignInFinished:
        policy, provider = self._provider(name)
        async with self._sign_in.rate_limited(client.address, name):
            started = self._decrypt(ticket)
            if started["provider"] != name or not hmac.compare_digest(started["state"].encode(), state.encode()):
                raise Unauthenticated(_UNKNOWN_SIGN_IN)
            request = SignInRequest(started["redirect_uri"], started["state"], started["nonce"], started["verifier"])
            try:
                identity = await provider.identify(request, code)
            except NotIdentified as error:
                raise Unauthenticated(f"{policy.title} did not sign you in: {error}. Start again.") from None
            except IdentityProviderError as error:
                raise _upstream_error(name, error) from None
        actor = Actor(f"provider:{name}")
        user, roles = await self._changes.apply(lambda change: _find_or_create_user(change, policy, identity), actor)
        if not roles:  # checked after the change, so that roles the provider has removed stay removed
            raise Forbidden("You have no role. Ask an admin for a role, or to add you to the right group.")
        return SignInFinished(await self._sign_in.open_session(user, name, client), started["return_to"])

    def _provider(self, name: str) -> tuple[ProviderPolicy, IdentityProvider]:
        if name not in self._providers:
            raise NotFound("identity provider", repr(name)[:80])
        return self._providers[name]

    def _decrypt(self, ticket: str) -> dict[str, str]:
        try:
            content = decode_json(self._fernet.decrypt(ticket.encode(), ttl=TICKET_SECONDS))
        except (InvalidToken, UnicodeEncodeError):
            raise Unauthenticated(_UNKNOWN_SIGN_IN) from None
        return cast("dict[str, str]", content)


def _upstream_error(name: str, error: IdentityProviderError) -> UpstreamError:
    return UpstreamError(f"The identity provider {name} failed: {error}.")


def local_page(address: str) -> str:
    """The path of a page of this server. Any other address is rejected, to prevent open redirects."""
    parts = urlsplit(address) if address.isprintable() and " " not in address else None
    is_local = parts is not None and not parts.scheme and not parts.netloc and re.match(r"/(?![/\\])", address)
    if not is_local or "\\" in address or len(address) > 2000:
        raise InvalidInput([("/return_to", "Enter the path of a page of this server, such as /approvals.")])
    return address


# Users
def _find_or_create_user(change: AdminChange, policy: ProviderPolicy, identity: Identity) -> tuple[str, list[str]]:
    """Find the user, or link or create one if the policy allows it. Return the name and roles."""
    user = queries.user_by_identity(change.connection, policy.name, identity.subject)
    if user is None:
        user = queries.user_by_email(change.connection, identity.email) or _create_user(change, policy, identity)
        records.link_identity(change.connection, policy.name, identity.subject, user, change.at)
        change.record("identity_linked", user=user, provider=policy.name)
    if lock_user(change.connection, user).deleted_at is not None:
        raise Forbidden("Your account has been deleted. Ask an admin.")
    if policy.roles is not None and user != ADMIN.name:
        update_user(change, user, UserUpdate(roles=_roles(policy, identity)))
    return user, cast("list[str]", lock_user(change.connection, user).roles)


def _create_user(change: AdminChange, policy: ProviderPolicy, identity: Identity) -> str:
    domain = identity.email.rpartition("@")[2]
    if not policy.create_users or (policy.domains and domain not in policy.domains):
        raise Forbidden(f"No account is linked to your sign-in with {policy.title}. Ask an admin for an invitation.")
    try:
        email = email_of(identity.email)
    except InvalidInput:
        email = ""
    roles = _roles(policy, identity)
    return create_user(change, UserSpec(_free_name(change, identity), identity.display_name[:200], email, roles))


def _free_name(change: AdminChange, identity: Identity) -> str:
    """The provider's name for the user, or their email address, with a number if it is taken."""
    plain = re.sub(r"[^a-z0-9._@+-]+", "-", (identity.name or identity.email).lower()).strip("._@+-")
    stem = plain[: MAX_NAME_LENGTH - 5].strip("._@+-") or "user"
    for number in range(1, 1000):
        name = stem if number == 1 else f"{stem}-{number}"
        try:
            check_name_is_free(change.connection, name_of(name))
        except InvalidInput:
            continue
        return name
    raise Forbidden("No username is available for you. Ask an admin for an invitation.")


def _roles(policy: ProviderPolicy, identity: Identity) -> tuple[str, ...]:
    mapped: list[Any] = [role for group in identity.groups for role in (policy.roles or {}).get(group, ())]
    return tuple(sorted({*policy.default_roles, *mapped}))
