"""Response shapes of tools."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from cairn.core.states import ActionEffect
from cairn.ports.tools import ErrorOutcome
from cairn.services.view import Id, Instant, Page, View


class ToolState(StrEnum):
    NEW = "new"
    LISTED = "listed"
    CHANGED = "changed"
    UNSEEN = "unseen"


class ToolUse(View):
    pipeline_id: Id
    pipeline_name: str


class ToolChange(View):
    """A difference between the tool that an admin listed and the tool that the server offers now."""

    field: Annotated[str, Field(description="`server`, `environment`, `description`, `schema` or `annotations`.")]
    before: Any
    after: Any


class ToolGrant(View):
    """What an admin allows the tool to do."""

    effect: ActionEffect
    hosts: list[str]
    url_argument: str | None
    may_skip_approval: bool
    error_outcome: ErrorOutcome
    pipelines: list[Id]
    updated_at: Instant
    updated_by: str


class Tool(View):
    """A tool of another program that agents can use, or the web search."""

    name: Annotated[str, Field(description="`mcp:SERVER/TOOL`, or `web_search`.")]
    state: Annotated[
        ToolState,
        Field(
            description="`new`: no admin has listed it. `listed`: its grant counts. `changed`: it differs from what an"
            " admin listed, so its grant doesn't count. `unseen`: a definition names it, but its server has not"
            " offered it yet."
        ),
    ]
    effect: Annotated[ActionEffect, Field(description="The effect that counts now.")]
    server: Annotated[str | None, Field(description="Its server's command with arguments, or its URL.")]
    digest: Annotated[str | None, Field(description="Identifies the version that its server offers.")]
    description: Annotated[str, Field(description="Written by its server.")]
    input_schema: Annotated[dict[str, Any] | None, Field(description="JSON Schema of its arguments.")]
    annotations: Annotated[dict[str, Any], Field(description="Claims of its server. They grant nothing.")]
    seen_at: Annotated[Instant | None, Field(description="When its server first offered this version.")]
    grant: ToolGrant | None
    changes: list[ToolChange]
    unpinned: Annotated[
        str | None, Field(description="Why calls of its server can't pass without approval, or null if they can.")
    ]
    used_by: Annotated[list[ToolUse], Field(description="Pipelines whose agents can use it, at most 20.")]


class ToolPage(Page[Tool]):
    """Tools, by name."""


class ServerProblem(View):
    server: str
    message: str


class ToolDiscovery(View):
    """The result of starting all MCP servers."""

    tools: Annotated[int, Field(description="Number of tools that the servers offer.")]
    problems: Annotated[list[ServerProblem], Field(description="Servers that could not be started.")]
