"""Somebody else who says who people are: an identity provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a provider has signed in."""

    subject: str  # by which the provider knows them, for ever
    email: str  # empty unless the provider vouches for it
    name: str
    display_name: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SignInRequest:
    """What a sign-in takes along to the provider and back."""

    redirect_uri: str
    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Registration:
    """How this program is known to a provider, and which claims say what."""

    issuer: str
    client_id: str
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    name_claim: str = "preferred_username"
    groups_claim: str = "groups"
    trust_unverified_email: bool = False  # also an address that the provider does not call verified


@dataclass(frozen=True, slots=True)
class ProviderPolicy:
    """Whom a provider may sign in, and what they may do."""

    name: str
    title: str
    create_users: bool = False
    domains: tuple[str, ...] = ()  # of addresses for which users are made; none is any
    default_roles: tuple[str, ...] = ()
    roles: Mapping[str, tuple[str, ...]] | None = None  # by the provider's groups; given, they follow every sign-in


class IdentityProviderError(Exception):
    """The provider cannot be reached, or does not answer as it should."""


class NotIdentified(Exception):
    """The provider does not say who it is, or what it says cannot be believed."""


class IdentityProvider(Protocol):
    async def address(self, request: SignInRequest) -> str:
        """Where the browser goes."""
        ...

    async def identify(self, request: SignInRequest, code: str) -> Identity:
        """Who it is that came back with the code."""
        ...
