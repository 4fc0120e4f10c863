"""Request bodies for tools."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.api.parameters import Text
from cairn.api.request_body import Id, RequestBody
from cairn.core.states import ActionEffect
from cairn.ports.tools import ErrorOutcome
from cairn.services.tools.service import ToolGrantSpec


class PutToolRequest(RequestBody):
    effect: Annotated[
        ActionEffect,
        Field(
            strict=False,
            description="`reads`: reads from a place that its settings name. `sends`: an argument reaches a place that"
            " the arguments choose, as with a search or a GET request. `changes`: changes something.",
        ),
    ]
    digest: Annotated[
        Text | None,
        Field(max_length=64, description="The digest of the version that you have seen. 412 if the tool has changed."),
    ] = None
    hosts: Annotated[
        list[Text],
        Field(
            max_length=100,
            description="Hosts that a tool with the effect `sends` may reach without approval, such as"
            " `api.example.com` or `*.example.com`.",
        ),
    ] = Field(default_factory=list[str])
    url_argument: Annotated[
        Text | None, Field(max_length=200, description="The argument that contains the URL, if there are hosts.")
    ] = None
    may_skip_approval: Annotated[
        bool,
        Field(description="Whether checkpoints may skip approval with `tool_approval: never`."),
    ] = False
    error_outcome: Annotated[
        ErrorOutcome,
        Field(
            strict=False,
            description="What an error result of a tool that changes something means: `failed` if nothing was changed,"
            " `unknown` if something may have been changed.",
        ),
    ] = ErrorOutcome.UNKNOWN
    pipelines: Annotated[
        list[Id],
        Field(max_length=500, description="Only for `web_search`: pipelines that may use the model provider's search."),
    ] = Field(default_factory=list[str])

    @property
    def spec(self) -> ToolGrantSpec:
        return ToolGrantSpec(
            effect=self.effect,
            digest=self.digest,
            hosts=tuple(self.hosts),
            url_argument=self.url_argument,
            may_skip_approval=self.may_skip_approval,
            error_outcome=self.error_outcome,
            pipelines=tuple(self.pipelines),
        )
