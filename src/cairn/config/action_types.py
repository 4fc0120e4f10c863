"""An action type as an admin declares it, in the settings or on the page of action types."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from cairn.core.destinations import HostPattern

Effect = Literal["reads", "sends", "changes"]
Risk = Literal["low", "medium", "high", "critical"]
TYPE_NAME = re.compile(r"[a-z0-9_.:/-]{1,100}")


class ActionTypeDeclaration(BaseModel):
    """An action type of the catalogue. Omitted fields of a built-in type are as built in."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    title: str = Field(
        default="",
        max_length=200,
        description="Title of its approvals. `{{ NAME }}` is replaced by a parameter, and text in `[ ]` is left out if"
        " a parameter in it is missing: `Refund {{ amount }}[ to {{ account }}]`.",
    )
    description: str = Field(default="", max_length=1000, description="Description for agents and people.")
    parameters_schema: dict[str, Any] | bool | None = Field(
        default=None,
        alias="schema",
        description="JSON Schema of the parameters. Parameters that it doesn't name are refused. Default: any"
        " parameters.",
    )
    effect: Effect = Field(
        default="changes",
        description="What it does outside of Cairn: `reads` (only from places that you trust), `sends` (its parameters"
        " reach others) or `changes`.",
    )
    risk_level: Risk = Field(
        default="high",
        description="Lowest risk level of its actions. Proposers and pipelines can only raise it. Without a rule,"
        " actions of low risk need no approval.",
    )
    identity: list[str] | None = Field(
        default=None,
        max_length=50,
        description="Parameters that make two actions the same, such as amount and account. Default: all parameters.",
    )
    amount: str | None = Field(default=None, max_length=200, description="Parameter with the amount.")
    currency: str | None = Field(default=None, max_length=200, description="Parameter with the currency.")
    hosts: list[str] | None = Field(
        default=None,
        max_length=100,
        description="Hosts that its requests can reach, or domains that its emails can be sent to: `api.example.com`,"
        " `*.example.com` or `http://intranet:8080`. Without a scheme, only https is allowed. Default: any host.",
    )
    reversible: str = Field(
        default="no",
        pattern=r"^(yes|no|by: ?[a-z0-9_.:/-]{1,100})$",
        description="Whether it can be undone: `yes`, `no`, or `by: TYPE` if an action of another type undoes it.",
    )
    idempotent: bool = Field(
        default=False,
        description="Whether its receiver ignores a request whose `Idempotency-Key` it has already processed. Then"
        " Cairn sends a request again if its outcome is unknown.",
    )

    @field_validator("hosts")
    @classmethod
    def check_hosts(cls, hosts: list[str] | None) -> list[str] | None:
        return None if hosts is None else [str(HostPattern.parse(host)) for host in hosts]

    @field_validator("parameters_schema")
    @classmethod
    def check_schema(cls, schema: dict[str, Any] | bool | None) -> dict[str, Any] | bool | None:
        from cairn.definitions import compile_schema  # slow to import, and the command line does not need it

        if schema is not None:
            compile_schema(schema)
        return schema

    @property
    def document(self) -> dict[str, Any]:
        """The fields that were set."""
        return self.model_dump(mode="json", exclude_unset=True)
