"""Users, groups, invitations, tokens, sessions, delegations and secrets, as they are shown."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.services.actors import Role, Scope
from cairn.services.view import Id, Instant, Page, View

Name = Annotated[str, Field(description="Of the user; it never changes.")]
Scopes = Annotated[list[Scope] | None, Field(description="What it may be used for; null narrows nothing.")]


class Person(View):
    """Somebody who can be named where people are asked."""

    name: Name
    display_name: str
    groups: list[str]
    can_decide: Annotated[bool, Field(description="Has the role approver or admin.")]


class PersonPage(Page[Person]):
    """People, by name."""


class User(View):
    name: Name
    display_name: str
    email: Annotated[str, Field(description="Empty for none.")]
    roles: list[Role]
    groups: list[str]
    has_password: bool
    providers: Annotated[list[str], Field(description="Identity providers that sign this user in.")]
    is_invited: Annotated[bool, Field(description="An invitation is open.")]
    created_at: Instant
    created_by: str
    signed_in_at: Annotated[Instant | None, Field(description="The last time.")]
    removed_at: Instant | None


class UserPage(Page[User]):
    """Users, by name."""


class Group(View):
    name: str
    description: str
    members: list[str]
    created_at: Instant
    created_by: str


class GroupPage(Page[Group]):
    """Groups, by name."""


class Invitation(View):
    invitation_id: Id
    user: Name
    created_at: Instant
    created_by: str
    expires_at: Instant
    accepted_at: Instant | None
    revoked_at: Instant | None
    is_open: Annotated[bool, Field(description="It can still be accepted.")]


class InvitationPage(Page[Invitation]):
    """Invitations, newest first."""


class NewInvitation(Invitation):
    """An invitation with what is shown only once."""

    token: str
    path: Annotated[str, Field(description="Where it is accepted, on this server: send it to whom it is for.")]


class InvitationPreview(View):
    """Whom an invitation is for."""

    user: Name
    display_name: str
    email: str
    expires_at: Instant


class Token(View):
    token_id: Id
    user: Name
    name: Annotated[str, Field(description="What it is for.")]
    scopes: Scopes
    created_at: Instant
    created_by: str
    expires_at: Instant | None
    last_used_at: Annotated[Instant | None, Field(description="To within five minutes.")]
    revoked_at: Instant | None
    is_valid: bool


class TokenPage(Page[Token]):
    """Tokens, newest first."""


class CreatedToken(Token):
    """A token with what is shown only once."""

    token: str


class OpenSession(View):
    session_id: Id
    user: Name
    signed_in_with: Annotated[str, Field(description="`token`, `password`, `invitation`, or a provider's name.")]
    scopes: Scopes
    address: str
    user_agent: str
    created_at: Instant
    expires_at: Instant
    is_current: Annotated[bool, Field(description="This request uses it.")]


class OpenSessionPage(Page[OpenSession]):
    """Sessions, newest first."""


class EndedSessions(View):
    count: int


class Delegation(View):
    delegation_id: Id
    from_user: Annotated[str, Field(description="Who is away.")]
    to_user: Annotated[str, Field(description="Who decides meanwhile.")]
    reason: str
    starts_at: Instant
    until: Instant
    created_at: Instant
    created_by: str
    ended_at: Annotated[Instant | None, Field(description="Before its time.")]
    ended_by: str | None
    is_in_force: bool


class DelegationPage(Page[Delegation]):
    """Delegations, newest first."""


class Secret(View):
    """A secret without its value, which is never given back."""

    name: str
    created_at: Instant
    created_by: str
    changed_at: Instant
    changed_by: str
    is_readable: Annotated[bool, Field(description="False: it was encrypted with a key that is not there.")]


class SecretPage(Page[Secret]):
    """Secrets, by name."""


class SecretRotation(View):
    count: Annotated[int, Field(description="Secrets that were encrypted anew.")]


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
