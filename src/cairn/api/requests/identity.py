"""Bodies of requests about users, groups, tokens and delegations."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, Field

from cairn.api.parameters import Text
from cairn.api.request_body import RequestBody
from cairn.services.actors import Role, Scope
from cairn.services.identity.tokens import MAX_OWN_LIFETIME
from cairn.services.identity.users import UserSpec, UserUpdate

Line = Annotated[Text, Field(max_length=1000)]
Name = Annotated[Text, Field(max_length=200, description="Small letters, digits and . _ - + @; it never changes.")]
Email = Annotated[Text, Field(max_length=300, description="Empty for none; no two users have the same.")]
Roles = Annotated[list[Annotated[Role, Field(strict=False)]], Field(max_length=10)]
Names = Annotated[list[Annotated[Text, Field(max_length=200)]], Field(max_length=1000)]
Scopes = Annotated[
    list[Annotated[Scope, Field(strict=False)]] | None,
    Field(max_length=10, description="What it may be used for; null is all."),
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
    """What is left out stays as it is."""

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
    """What is left out stays as it is."""

    description: Line | None = None
    members: Names | None = None


class UpdateAccountRequest(RequestBody):
    display_name: Annotated[Line, Field(description="How you are shown; empty is your name.")]


class CreateOwnTokenRequest(RequestBody):
    name: Annotated[Line, Field(description="What it is for.")]
    scopes: Scopes = None
    valid_days: Annotated[int, Field(ge=1, le=MAX_OWN_LIFETIME.days)] = 90


class CreateTokenRequest(RequestBody):
    name: Annotated[Line, Field(description="What it is for.")]
    user: Annotated[Text | None, Field(max_length=200, description="Whose it is; your own unless said.")] = None
    scopes: Scopes = None
    valid_days: Annotated[int | None, Field(ge=1, le=3650, description="Null is for ever.")] = 90


class CreateDelegationRequest(RequestBody):
    to_user: Annotated[Text, Field(max_length=200, description="Who decides meanwhile.")]
    ends_at: Annotated[AwareDatetime, Field(strict=False)]
    starts_at: Annotated[AwareDatetime | None, Field(strict=False, description="Null is now.")] = None
    from_user: Annotated[Text | None, Field(max_length=200, description="Who is away; yourself unless said.")] = None
    reason: Line = ""


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip().lower() for name in given))
