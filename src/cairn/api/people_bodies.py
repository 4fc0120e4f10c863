"""What requests about people, tokens and secrets carry."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AwareDatetime, Field, model_validator

from cairn.api.bodies import Body
from cairn.api.parameters import Text
from cairn.services.actors import Role, Scope
from cairn.services.identity.tokens import LONGEST_OWN
from cairn.services.identity.users import UserChange, UserSpec

Line = Annotated[Text, Field(max_length=1000)]
Name = Annotated[Text, Field(max_length=200, description="Small letters, digits and . _ - + @; it never changes.")]
Email = Annotated[Text, Field(max_length=300, description="Empty for none; no two users have the same.")]
Roles = Annotated[list[Annotated[Role, Field(strict=False)]], Field(max_length=10)]
Names = Annotated[list[Annotated[Text, Field(max_length=200)]], Field(max_length=1000)]
Scopes = Annotated[
    list[Annotated[Scope, Field(strict=False)]] | None,
    Field(max_length=10, description="What it may be used for; null is all."),
]
Secret = Annotated[str, Field(max_length=512)]  # never in an answer or a log: texts that do not fit are not repeated


class SignIn(Body):
    """With a token, or with a name and a password."""

    token: Secret | None = None
    name: Annotated[Text | None, Field(max_length=300, description="Of the user, or the address.")] = None
    password: Annotated[str | None, Field(max_length=2048)] = None

    @model_validator(mode="after")
    def names_one_way(self) -> Self:
        by_password = self.name is not None and self.password is not None
        if (self.token is not None) == by_password:
            raise ValueError("Give `token`, or `name` with `password`")
        return self


class ChangePassword(Body):
    current: Annotated[str, Field(max_length=2048, description="Empty for who has none yet.")] = ""
    new: Annotated[str, Field(max_length=2048)]


class BeginSignIn(Body):
    return_to: Annotated[str, Field(max_length=2000, description="A page of this server to come back to.")] = "/"


class FinishSignIn(Body):
    code: Annotated[str, Field(max_length=4096, description="As the provider gave it to the page.")]
    state: Annotated[str, Field(max_length=4096, description="As the provider gave it to the page.")]


class CreateUser(Body):
    name: Name
    display_name: Line = ""
    email: Email = ""
    roles: Roles = Field(default_factory=list[Role])
    groups: Names = Field(default_factory=list[str])

    @property
    def wanted(self) -> UserSpec:
        roles = tuple(role.value for role in self.roles)
        return UserSpec(self.name, self.display_name, self.email, roles, _names(self.groups))


class UpdateUser(Body):
    """What is left out stays as it is."""

    display_name: Line | None = None
    email: Email | None = None
    roles: Roles | None = None
    groups: Names | None = None

    @property
    def wanted(self) -> UserChange:
        roles = None if self.roles is None else tuple(role.value for role in self.roles)
        groups = None if self.groups is None else _names(self.groups)
        return UserChange(self.display_name, self.email, roles, groups)


class CreateGroup(Body):
    name: Name
    description: Line = ""
    members: Names = Field(default_factory=list[str])


class UpdateGroup(Body):
    """What is left out stays as it is."""

    description: Line | None = None
    members: Names | None = None


class Invite(CreateUser):
    """Somebody new; or with the name alone, somebody who is here and sets a new password."""

    valid_hours: Annotated[int, Field(ge=1, le=720)] = 72


class LookAtInvitation(Body):
    token: Secret


class AcceptInvitation(Body):
    token: Secret
    password: Annotated[str, Field(max_length=2048)]
    display_name: Line | None = None


class UpdateMe(Body):
    display_name: Annotated[Line, Field(description="How you are shown; empty is your name.")]


class CreateOwnToken(Body):
    name: Annotated[Line, Field(description="What it is for.")]
    scopes: Scopes = None
    valid_days: Annotated[int, Field(ge=1, le=LONGEST_OWN.days)] = 90


class CreateToken(Body):
    name: Annotated[Line, Field(description="What it is for.")]
    user: Annotated[Text | None, Field(max_length=200, description="Whose it is; your own unless said.")] = None
    scopes: Scopes = None
    valid_days: Annotated[int | None, Field(ge=1, le=3650, description="Null is for ever.")] = 90


class CreateDelegation(Body):
    to_user: Annotated[Text, Field(max_length=200, description="Who decides meanwhile.")]
    until: Annotated[AwareDatetime, Field(strict=False)]
    starts_at: Annotated[AwareDatetime | None, Field(strict=False, description="Null is now.")] = None
    from_user: Annotated[Text | None, Field(max_length=200, description="Who is away; yourself unless said.")] = None
    reason: Line = ""


class PutSecret(Body):
    value: Annotated[str, Field(min_length=4, max_length=65_536, json_schema_extra={"writeOnly": True})]


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip().lower() for name in given))
