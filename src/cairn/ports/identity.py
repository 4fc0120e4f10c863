"""Sign-in through an identity provider (OpenID Connect)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Identity:
    """A user as the provider describes them."""

    subject: str  # the provider's permanent id for the user
    email: str  # empty unless the provider says that it is verified
    name: str
    display_name: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SignInRequest:
    """The values that link a provider's response to the sign-in that requested it."""

    redirect_uri: str
    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Registration:
    """Cairn's registration with a provider, and the claims to read."""

    issuer: str
    client_id: str
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    name_claim: str = "preferred_username"
    groups_claim: str = "groups"
    trust_unverified_email: bool = False  # accept addresses that the provider does not mark as verified


@dataclass(frozen=True, slots=True)
class ProviderPolicy:
    """Which users can sign in through a provider, and with which roles."""

    name: str
    title: str
    create_users: bool = False
    domains: tuple[str, ...] = ()  # email domains for which users are created; empty allows any
    default_roles: tuple[str, ...] = ()
    roles: Mapping[str, tuple[str, ...]] | None = None  # by the provider's groups; if set, updated at every sign-in


class IdentityProviderError(Exception):
    """The provider is unreachable or sent an invalid response."""


class NotIdentified(Exception):
    """The provider did not identify the user, or its answer failed verification."""


class IdentityProvider(Protocol):
    async def address(self, request: SignInRequest) -> str:
        """The URL to send the browser to."""
        ...

    async def identify(self, request: SignInRequest, code: str) -> Identity:
        """Exchange the code for the identity of the user."""
        ...
