"""Who is signed in, and how the server does."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.services.actors import Role, Scope
from cairn.services.view import Instant, View


class SignInProvider(View):
    name: Annotated[str, Field(description="For `/api/sign-in/{provider}`.")]
    title: Annotated[str, Field(description="For its button.")]


class SignInOptions(View):
    """How people sign in, besides with a token."""

    password: Annotated[bool, Field(description="Somebody has one.")]
    providers: list[SignInProvider]


class Session(View):
    actor: Annotated[str, Field(description="Name of the user.")]
    display_name: str
    email: str
    roles: list[Role]
    groups: list[str]
    stands_for: Annotated[list[str], Field(description="Who is away and lets this user decide.")]
    scopes: Annotated[list[Scope] | None, Field(description="Of the token that is used; null narrows nothing.")]
    has_password: bool
    sign_in_ways: SignInOptions
    version: str
    data_dir: Annotated[str | None, Field(description="For admins.")] = None


class SignInRedirect(View):
    url: Annotated[str, Field(description="Of the identity provider.")]


class SignedIn(View):
    session: Session
    return_to: Annotated[str, Field(description="The page that the sign-in began at.")]


class DriftStatus(View):
    """What the last look at the folder tree found."""

    checked_at: Instant
    repaired: int
    moved_aside: int


class Health(View):
    status: Literal["ok"] = "ok"
    version: str
    database: Literal["sqlite", "postgresql"]
    drift: DriftStatus | None = None
