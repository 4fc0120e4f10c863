"""Request bodies for secrets."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.api.parameters import Text
from cairn.api.request_body import RequestBody
from cairn.services.secret_uses import SecretUses


class PutSecretRequest(RequestBody):
    value: Annotated[str, Field(min_length=4, max_length=65_536, json_schema_extra={"writeOnly": True})]


class SetSecretUsesRequest(RequestBody):
    """What a secret may be used for in actions and tools. Empty lists allow nothing."""

    hosts: Annotated[
        list[Annotated[Text, Field(max_length=300)]],
        Field(
            max_length=100,
            description="Hosts that may receive it: `api.example.com`, `*.example.com` or `http://intranet:8080`."
            " Without a scheme, only https is allowed.",
        ),
    ]
    pipelines: Annotated[
        list[Annotated[Text, Field(max_length=300)]],
        Field(max_length=1000, description="Ids or names of the pipelines that may use it. `*`: all."),
    ]
    action_types: Annotated[
        list[Annotated[Text, Field(max_length=300)]],
        Field(max_length=100, description="Action types, or `mcp:SERVER` for the settings of an MCP server."),
    ]

    @property
    def uses(self) -> SecretUses:
        return SecretUses.of(self.hosts, self.pipelines, self.action_types)
