"""Response shapes of users, groups, invitations, tokens, sessions, delegations and secrets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.services.actors import Role, Scope
from cairn.services.view import Id, Instant, Page, View

Name = Annotated[str, Field(description="Username. It never changes.")]
Scopes = Annotated[
    list[Scope] | None, Field(description="What the token or session can be used for. Null means no restriction.")
]


class Person(View):
    """A user, as everyone can see them."""

    name: Name
    display_name: str
    groups: list[str]
    can_decide: Annotated[bool, Field(description="Whether the user has the approver or admin role.")]


class PersonPage(Page[Person]):
    """Users by name, as everyone can see them."""


class User(View):
    name: Name
    display_name: str
    email: Annotated[str, Field(description="Empty if unknown.")]
    roles: list[Role]
    groups: list[str]
    has_password: bool
    providers: Annotated[list[str], Field(description="Identity providers that this user signs in with.")]
    is_invited: Annotated[bool, Field(description="Whether the user has an open invitation.")]
    created_at: Instant
    created_by: str
    last_signed_in_at: Annotated[Instant | None, Field(description="Time of the last sign-in.")]
    deleted_at: Instant | None


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
    is_open: Annotated[bool, Field(description="Whether the invitation can still be accepted.")]


class InvitationPage(Page[Invitation]):
    """Invitations, newest first."""


class NewInvitation(Invitation):
    """A new invitation, with its token, which is shown only once."""

    token: str
    path: Annotated[str, Field(description="Path of the invitation page on this server. Send it to the user.")]


class InvitationPreview(View):
    """The user that an invitation is for."""

    user: Name
    display_name: str
    email: str
    expires_at: Instant


class Token(View):
    token_id: Id
    user: Name
    name: Annotated[str, Field(description="What the token is for.")]
    scopes: Scopes
    created_at: Instant
    created_by: str
    expires_at: Instant | None
    last_used_at: Annotated[Instant | None, Field(description="Time of the last use, accurate to five minutes.")]
    revoked_at: Instant | None
    is_valid: bool


class TokenPage(Page[Token]):
    """Tokens, newest first."""


class CreatedToken(Token):
    """A new token, with its secret, which is shown only once."""

    token: str


class OpenSession(View):
    session_id: Id
    user: Name
    signed_in_with: Annotated[str, Field(description="`token`, `password`, `invitation`, or the provider's name.")]
    scopes: Scopes
    address: str
    user_agent: str
    created_at: Instant
    expires_at: Instant
    is_current: Annotated[bool, Field(description="Whether this request uses the session.")]


class OpenSessionPage(Page[OpenSession]):
    """Sessions, newest first."""


class EndedSessions(View):
    count: int


class Delegation(View):
    delegation_id: Id
    from_user: Annotated[str, Field(description="User who is away.")]
    to_user: Annotated[str, Field(description="User who decides for them.")]
    reason: str
    starts_at: Instant
    ends_at: Instant
    created_at: Instant
    created_by: str
    ended_at: Annotated[Instant | None, Field(description="Time when it was ended early.")]
    ended_by: str | None
    is_active: Annotated[bool, Field(description="Whether it applies now.")]


class DelegationPage(Page[Delegation]):
    """Delegations, newest first."""


class Secret(View):
    """A secret, without its value, which is never returned."""

    name: str
    created_at: Instant
    created_by: str
    updated_at: Instant
    updated_by: str
    is_readable: Annotated[bool, Field(description="False if its encryption key is missing.")]


class SecretPage(Page[Secret]):
    """Secrets, by name."""


class SecretRotation(View):
    count: Annotated[int, Field(description="Number of secrets that were encrypted again.")]


class SignInProvider(View):
    name: Annotated[str, Field(description="Name in `/api/sign-in/{provider}`.")]
    title: Annotated[str, Field(description="Label of its button.")]


class SignInOptions(View):
    """Ways to sign in, besides a token."""

    password: Annotated[bool, Field(description="Whether any user has a password.")]
    providers: list[SignInProvider]


class Session(View):
    actor: Annotated[str, Field(description="Username.")]
    display_name: str
    email: str
    roles: list[Role]
    groups: list[str]
    acting_for: Annotated[list[str], Field(description="Users who have delegated their decisions to this user.")]
    scopes: Annotated[list[Scope] | None, Field(description="Scopes of the token in use. Null means no restriction.")]
    has_password: bool
    sign_in_options: SignInOptions
    version: str
    data_dir: Annotated[str | None, Field(description="Data folder of the server, for admins only.")] = None


class SignInRedirect(View):
    url: Annotated[str, Field(description="Page of the identity provider to open in the browser.")]


class SignedIn(View):
    session: Session
    return_to: Annotated[str, Field(description="Page where the sign-in started.")]


class DriftStatus(View):
    """Result of the last check of the folder tree."""

    checked_at: Instant
    rewritten: int
    moved_aside: int


class Health(View):
    status: Literal["ok"] = "ok"
    version: str
    database: Literal["sqlite", "postgresql"]
    drift: DriftStatus | None = None
