"""Tools of other programs."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.core.states import ActionEffect
from cairn.ports.tools import ErrorOutcome, ToolPin
from cairn.services.tools import views as v

_DIGEST = ToolPin("example", "example").digest


def tool() -> v.Tool:
    return v.Tool(
        name="mcp:files/read_text_file",
        state=v.ToolState.LISTED,
        effect=ActionEffect.READS,
        server="npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /srv/reports",
        digest=_DIGEST,
        description="Read the complete contents of a file as text.",
        input_schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        annotations={"read_only_hint": True},
        seen_at=story.at(-600),
        grant=v.ToolGrant(
            effect=ActionEffect.READS,
            hosts=[],
            url_argument=None,
            may_skip_approval=False,
            error_outcome=ErrorOutcome.UNKNOWN,
            pipelines=[],
            updated_at=story.at(-500),
            updated_by="admin",
        ),
        changes=[],
        unpinned=None,
        used_by=[v.ToolUse(pipeline_id=story.id_of("pipeline"), pipeline_name="Refunds")],
    )


def tools() -> v.ToolPage:
    return story.page(v.ToolPage, tool())


def put_tool_request() -> dict[str, Any]:
    return {"effect": "reads", "digest": _DIGEST}


def discovery() -> v.ToolDiscovery:
    problem = v.ServerProblem(server="wiki", message="The MCP server wiki is not available: it does not respond.")
    return v.ToolDiscovery(tools=14, problems=[problem])
