"""The agent library as it is shown."""

from __future__ import annotations

from typing import Any

from cairn.services.view import Id, Instant, Page, View


class AgentUsage(View):
    pipeline_id: Id
    pipeline_name: str


class LibraryAgent(View):
    """An agent that checkpoints refer to. `revision` is 0 for one as it came with Cairn; `used_by` names at most 20."""

    name: str
    title: str
    description: str
    role: str | None
    system_prompt: str | None
    task_prompt: str | None
    model: str | None
    model_settings: dict[str, Any]
    tools: list[str] | None  # null: those of the checkpoint
    input_schema: dict[str, Any] | bool | None
    output_schema: dict[str, Any] | bool | None
    revision: int
    is_ready_made: bool  # as it came with Cairn
    replaces_ready_made: bool  # saved under the name of one that came with Cairn: removed, that one is back
    updated_at: Instant | None
    updated_by: str | None
    used_by: list[AgentUsage]
    used_count: int


class SavedLibraryAgent(LibraryAgent):
    """As it was saved, with the pipelines that use it and do not fit it any more."""

    warnings: list[str]


class LibraryAgentPage(Page[LibraryAgent]):
    """Agents by name."""


class LibraryAgentRevision(View):
    """How an agent was; without a document it was removed."""

    revision: int
    document: dict[str, Any] | None
    changed_at: Instant
    changed_by: str


class LibraryAgentRevisionPage(Page[LibraryAgentRevision]):
    """Newest first."""
