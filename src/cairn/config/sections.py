"""Settings that are tables of their own."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, SecretStr, field_validator, model_validator

if TYPE_CHECKING:
    from cairn.ports.identity import ProviderPolicy, Registration

RoleName = Literal["viewer", "editor", "approver", "admin"]


class OidcSettings(BaseModel):
    """An identity provider (OpenID Connect)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,30}$", description="How it is called in addresses and in the trail.")
    title: str = Field(default="", max_length=60, description="How its button is called; the name unless said.")
    issuer: str = Field(pattern=r"^https?://\S+$", description="Its address; `/.well-known/…` is read from there.")
    client_id: str = Field(description="How it knows this server.")
    client_secret: SecretStr | None = Field(
        default=None, description="What proves that; without it the secret `oidc-NAME` of the secret store, if any."
    )
    scopes: list[str] = Field(default=["openid", "email", "profile"], description="What is asked of it.")
    name_claim: str = Field(default="preferred_username", description="The claim that new users are named after.")
    groups_claim: str = Field(default="groups", description="The claim that lists somebody's groups.")
    roles: dict[str, list[RoleName]] | None = Field(
        default=None, description="Roles by its groups. Given, everybody's roles follow them at every sign-in."
    )
    default_roles: list[RoleName] = Field(default_factory=list[RoleName], description="Roles of everybody it signs in.")
    makes_users: bool = Field(default=False, description="Whether somebody who is not known here becomes a user.")
    domains: list[str] = Field(
        default_factory=list, description="Of addresses for which users are made; without any, for all."
    )
    trusts_email: bool = Field(
        default=False, description="Whether addresses are believed that it does not call verified."
    )

    @field_validator("name")
    @classmethod
    def is_no_other_way(cls, name: str) -> str:
        if name in ("token", "password", "invitation"):
            raise ValueError(f"{name} is another way to sign in")
        return name

    @property
    def registration(self) -> Registration:
        from cairn.ports.identity import Registration  # the command line does without

        return Registration(
            issuer=self.issuer,
            client_id=self.client_id,
            scopes=tuple(self.scopes),
            name_claim=self.name_claim,
            groups_claim=self.groups_claim,
            trusts_email=self.trusts_email,
        )

    @property
    def policy(self) -> ProviderPolicy:
        from cairn.ports.identity import ProviderPolicy

        return ProviderPolicy(
            name=self.name,
            title=self.title or self.name,
            makes_users=self.makes_users,
            domains=tuple(domain.lower() for domain in self.domains),
            default_roles=tuple(self.default_roles),
            roles=None if self.roles is None else {group: tuple(roles) for group, roles in self.roles.items()},
        )


class ModelProviderSettings(BaseModel):
    """Where a provider of models is, and which key is its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str = Field(
        default="",
        pattern=r"^[a-z0-9-]*$",
        description="The provider that it is like, such as `openai-chat`; for a name of one's own.",
    )
    base_url: str | None = Field(
        default=None, pattern=r"^https?://\S+$", description="Its address; OpenAI's and those like it end in `/v1`."
    )
    key: str | None = Field(
        default=None, description="The secret, or else the environment variable, that holds its key."
    )
    objects: Literal["tool", "schema"] | None = Field(
        default=None,
        description="How it is asked for an object: by a tool, or by a schema for its text (`response_format`), which"
        " servers such as llama.cpp and vLLM hold any model to. Unless said, the way that its models are known for.",
    )


class ModelPriceSettings(BaseModel):
    """What a model costs, in US dollars for a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Decimal = Field(ge=0, description="What it reads.")
    output: Decimal = Field(ge=0, description="What it writes.")
    cache_read: Decimal | None = Field(
        default=None, ge=0, description="What it reads from its cache; as input unless said."
    )
    cache_write: Decimal | None = Field(default=None, ge=0, description="What it puts there; as input unless said.")


class McpSettings(BaseModel):
    """A server of tools for agents (MCP): a program that is started for each execution, or an address."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str | None = Field(default=None, description="The program; it speaks over its standard input and output.")
    args: list[str] = Field(default_factory=list, description="What it is called with.")
    env: dict[str, str] = Field(
        default_factory=dict[str, str], description="Its environment; `secret:NAME` is a secret of the secret store."
    )
    url: str | None = Field(default=None, pattern=r"^https?://\S+$", description="Its address instead.")
    headers: dict[str, str] = Field(
        default_factory=dict[str, str], description="Sent with each request; `secret:NAME` as above."
    )
    timeout_seconds: PositiveInt = Field(default=60, description="What a call may take.")

    @model_validator(mode="after")
    def is_one_of_two(self) -> McpSettings:
        if (self.command is None) == (self.url is None):
            raise ValueError("a server has a command or a url, one of the two")
        return self
