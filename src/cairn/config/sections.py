"""Settings that are tables."""

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

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,30}$", description="Name in URLs and in the audit log.")
    title: str = Field(default="", max_length=60, description="Label of its sign-in button. Default: the name.")
    issuer: str = Field(
        pattern=r"^https?://\S+$", description="Issuer URL. Cairn reads `/.well-known/openid-configuration` from it."
    )
    client_id: str = Field(description="Client id of this server at the provider.")
    client_secret: SecretStr | None = Field(
        default=None, description="Client secret. Default: `oidc-NAME` in the secret store, if it exists."
    )
    scopes: list[str] = Field(default=["openid", "email", "profile"], description="Scopes to request.")
    name_claim: str = Field(default="preferred_username", description="Claim that contains the name of a new user.")
    groups_claim: str = Field(default="groups", description="Claim that lists the user's groups.")
    roles: dict[str, list[RoleName]] | None = Field(
        default=None, description="Roles by group of the provider. If set, every sign-in updates the user's roles."
    )
    default_roles: list[RoleName] = Field(
        default_factory=list[RoleName], description="Roles of every user who signs in with it."
    )
    create_users: bool = Field(default=False, description="Whether to create a user when an unknown person signs in.")
    domains: list[str] = Field(
        default_factory=list, description="Domains of email addresses that users are created for. Default: all."
    )
    trust_unverified_email: bool = Field(
        default=False, description="Whether to trust email addresses that the provider doesn't report as verified."
    )

    @field_validator("name")
    @classmethod
    def reject_reserved_name(cls, name: str) -> str:
        if name in ("token", "password", "invitation"):
            raise ValueError(f"{name} is a reserved name")
        return name

    @property
    def registration(self) -> Registration:
        from cairn.ports.identity import Registration  # slow to import, and the command line does not need it

        return Registration(
            issuer=self.issuer,
            client_id=self.client_id,
            scopes=tuple(self.scopes),
            name_claim=self.name_claim,
            groups_claim=self.groups_claim,
            trust_unverified_email=self.trust_unverified_email,
        )

    @property
    def policy(self) -> ProviderPolicy:
        from cairn.ports.identity import ProviderPolicy

        return ProviderPolicy(
            name=self.name,
            title=self.title or self.name,
            create_users=self.create_users,
            domains=tuple(domain.lower() for domain in self.domains),
            default_roles=tuple(self.default_roles),
            roles=None if self.roles is None else {group: tuple(roles) for group, roles in self.roles.items()},
        )


class ModelProviderSettings(BaseModel):
    """Address and key of a model provider."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str = Field(
        default="",
        pattern=r"^[a-z0-9-]*$",
        description="Provider with the same API, such as `openai-chat`. Required for a name of your own.",
    )
    base_url: str | None = Field(
        default=None,
        pattern=r"^https?://\S+$",
        description="Base URL. For OpenAI and compatible servers it ends in `/v1`.",
    )
    key: str | None = Field(
        default=None, description="Name of the secret, or of the environment variable, that holds the key."
    )
    structured_output: Literal["tool", "schema"] | None = Field(
        default=None,
        description="How to request a JSON object: with a tool call, or with a schema for the text (`response_format`),"
        " which servers such as llama.cpp and vLLM enforce for any model. Default: what the model is known to support.",
    )


class ModelPriceSettings(BaseModel):
    """Price of a model, in US dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Decimal = Field(ge=0, description="Price of input tokens.")
    output: Decimal = Field(ge=0, description="Price of output tokens.")
    cache_read: Decimal | None = Field(
        default=None, ge=0, description="Price of input tokens read from the cache. Default: as input."
    )
    cache_write: Decimal | None = Field(
        default=None, ge=0, description="Price of input tokens written to the cache. Default: as input."
    )


class McpSettings(BaseModel):
    """An MCP server with tools for agents: a program started for each execution, or a URL."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str | None = Field(default=None, description="Program to start. It communicates over stdin and stdout.")
    args: list[str] = Field(default_factory=list, description="Arguments of the program.")
    env: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="Environment of the program. `secret:NAME` refers to the secret store.",
    )
    url: str | None = Field(
        default=None, pattern=r"^https?://\S+$", description="URL of the server, instead of a program."
    )
    headers: dict[str, str] = Field(
        default_factory=dict[str, str], description="Headers of each request. `secret:NAME` works as in `env`."
    )
    timeout_seconds: PositiveInt = Field(default=60, description="Timeout of a call.")
    stateful: bool = Field(
        default=False,
        description="Whether calls depend on earlier calls in the same session. Calls that need approval are then"
        " refused, because an approved call is made in a new session.",
    )

    @model_validator(mode="after")
    def require_one_transport(self) -> McpSettings:
        if (self.command is None) == (self.url is None):
            raise ValueError("set either command or url")
        return self
