"""Request bodies for users, groups, tokens and delegations."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.api.parameters import Text, Time
from cairn.api.request_body import RequestBody
from cairn.services.actors import Role, Scope
from cairn.services.identity.tokens import MAX_OWN_LIFETIME
from cairn.services.identity.users import UserSpec, UserUpdate

Line = Annotated[Text, Field(max_length=1000)]
Name = Annotated[Text, Field(max_length=200, description="Lowercase letters, digits and . _ - + @. It never changes.")]
Email = Annotated[Text, Field(max_length=300, description="Email address, unique among users. Empty for none.")]
Roles = Annotated[list[Annotated[Role, Field(strict=False)]], Field(max_length=10)]
Names = Annotated[list[Annotated[Text, Field(max_length=200)]], Field(max_length=1000)]
Scopes = Annotated[
    list[Annotated[Scope, Field(strict=False)]] | None,
    Field(max_length=10, description="What it can be used for. Null: no restriction."),
]


class CreateUserRequest(RequestBody):
    name: Name
    display_name: Line = ""
    email: Email = ""
    roles: Roles = Field(default_factory=list[Role])
    groups: Names = Field(default_factory=list[str])

    @property
    def spec(self) -> UserSpec:
        roles = tuple(role.value for role in self.roles)
        return UserSpec(self.name, self.display_name, self.email, roles, _names(self.groups))


class UpdateUserRequest(RequestBody):
    """Omitted fields don't change."""

    display_name: Line | None = None
    email: Email | None = None
    roles: Roles | None = None
    groups: Names | None = None

    @property
    def change(self) -> UserUpdate:
        roles = None if self.roles is None else tuple(role.value for role in self.roles)
        groups = None if self.groups is None else _names(self.groups)
        return UserUpdate(self.display_name, self.email, roles, groups)


class CreateGroupRequest(RequestBody):
    name: Name
    description: Line = ""
    members: Names = Field(default_factory=list[str])


class UpdateGroupRequest(RequestBody):
    """Omitted fields don't change."""

    description: Line | None = None
    members: Names | None = None


class UpdateAccountRequest(RequestBody):
    display_name: Annotated[Line, Field(description="Display name. Empty: your username.")]


class CreateOwnTokenRequest(RequestBody):
    name: Annotated[Line, Field(description="What the token is for.")]
    scopes: Scopes = None
    valid_days: Annotated[int, Field(ge=1, le=MAX_OWN_LIFETIME.days)] = 90


class CreateTokenRequest(RequestBody):
    name: Annotated[Line, Field(description="What the token is for.")]
    user: Annotated[Text | None, Field(max_length=200, description="Owner of the token. Default: you.")] = None
    scopes: Scopes = None
    valid_days: Annotated[int | None, Field(ge=1, le=3650, description="Null: the token never expires.")] = 90


class CreateDelegationRequest(RequestBody):
    to_user: Annotated[Text, Field(max_length=200, description="User who decides for the one who is away.")]
    ends_at: Annotated[Time, Field(strict=False)]
    starts_at: Annotated[Time | None, Field(strict=False, description="Default: now.")] = None
    from_user: Annotated[Text | None, Field(max_length=200, description="User who is away. Default: you.")] = None
    reason: Line = ""


def _names(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip().lower() for name in names))
