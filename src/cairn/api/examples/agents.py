"""An agent of the library, as in the docs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from cairn.services.agent_library.views import (
    AgentUsage,
    LibraryAgent,
    LibraryAgentPage,
    LibraryAgentRevision,
    LibraryAgentRevisionPage,
    SavedLibraryAgent,
)

_AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
_WRITTEN: dict[str, Any] = {
    "name": "reviewer",
    "title": "Reviewer",
    "role": "You look for what was missed.",
    "task_prompt": "Review the text and say what is missing.",
    "output_schema": {"type": "object", "required": ["missing"]},
}
_REVIEWER = LibraryAgent(
    **_WRITTEN,
    description="",
    system_prompt=None,
    model=None,
    model_settings={},
    tools=None,
    input_schema=None,
    revision=2,
    is_ready_made=False,
    replaces_ready_made=False,
    updated_at=_AT,
    updated_by="admin",
    used_by=[AgentUsage(pipeline_id="5b1e6c0e-53b4-4a8f-9d3e-1f2a3b4c5d6e", pipeline_name="Business goals to design")],
    used_count=1,
)

REQUESTS: dict[str, Any] = {"put_agent": _WRITTEN}
RESPONSES: dict[str, Any] = {
    "list_agents": LibraryAgentPage(items=[_REVIEWER], next_cursor=None),
    "get_agent_schema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
    "get_agent": _REVIEWER,
    "put_agent": SavedLibraryAgent(**dict(_REVIEWER), warnings=[]),
    "remove_agent": None,
    "list_agent_revisions": LibraryAgentRevisionPage(
        items=[LibraryAgentRevision(revision=2, document=_WRITTEN, changed_at=_AT, changed_by="admin")],
        next_cursor=None,
    ),
}
