"""Response shapes of the agent library."""

from __future__ import annotations

from typing import Any

from cairn.services.view import Id, Instant, Page, View


class AgentUsage(View):
    pipeline_id: Id
    pipeline_name: str


class LibraryAgent(View):
    """An agent for checkpoints. `revision` is 0 for a built-in one. `used_by` has at most 20 pipelines."""

    name: str
    title: str
    description: str
    role: str | None
    system_prompt: str | None
    task_prompt: str | None
    model: str | None
    model_settings: dict[str, Any]
    tools: list[str] | None  # null: the tools of the checkpoint
    input_schema: dict[str, Any] | bool | None
    output_schema: dict[str, Any] | bool | None
    revision: int
    is_builtin: bool  # provided by Cairn
    overrides_builtin: bool  # saved under the name of a built-in agent
    updated_at: Instant | None
    updated_by: str | None
    used_by: list[AgentUsage]
    used_count: int


class SavedLibraryAgent(LibraryAgent):
    """A saved agent, with warnings about the pipelines that have errors with it."""

    warnings: list[str]


class LibraryAgentPage(Page[LibraryAgent]):
    """Agents, by name."""


class LibraryAgentRevision(View):
    """A revision of an agent. Without a document, the agent was deleted."""

    revision: int
    document: dict[str, Any] | None
    created_at: Instant
    created_by: str


class LibraryAgentRevisionPage(Page[LibraryAgentRevision]):
    """Revisions, newest first."""
