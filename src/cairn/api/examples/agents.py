"""An agent of the library."""

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


def document() -> dict[str, Any]:
    return {
        "name": "reviewer",
        "title": "Reviewer",
        "role": "You find what others missed.",
        "task_prompt": "Review the text and list what is missing.",
        "output_schema": {"type": "object", "required": ["missing"]},
    }


def agent() -> LibraryAgent:
    return LibraryAgent(
        **document(),
        description="",
        system_prompt=None,
        model=None,
        model_settings={},
        tools=None,
        input_schema=None,
        revision=2,
        is_builtin=False,
        overrides_builtin=False,
        updated_at=_AT,
        updated_by="admin",
        used_by=[
            AgentUsage(pipeline_id="5b1e6c0e-53b4-4a8f-9d3e-1f2a3b4c5d6e", pipeline_name="Business goals to design")
        ],
        used_count=1,
    )


def agents() -> LibraryAgentPage:
    return LibraryAgentPage(items=[agent()], next_cursor=None)


def schema() -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}


def saved_agent() -> SavedLibraryAgent:
    return SavedLibraryAgent(**dict(agent()), warnings=[])


def revisions() -> LibraryAgentRevisionPage:
    return LibraryAgentRevisionPage(
        items=[LibraryAgentRevision(revision=2, document=document(), created_at=_AT, created_by="admin")],
        next_cursor=None,
    )
