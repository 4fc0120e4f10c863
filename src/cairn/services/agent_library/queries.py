"""Queries of the agent library."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.definitions import builtin_agents
from cairn.documents import encode_yaml
from cairn.services.agent_library.service import MAX_LISTED_PIPELINES, RESOURCE, StoredAgent, stored_agents
from cairn.services.agent_library.views import (
    AgentUsage,
    LibraryAgent,
    LibraryAgentPage,
    LibraryAgentRevision,
    LibraryAgentRevisionPage,
)
from cairn.services.paging import SortOrder, page
from cairn.store import Connection, Database, library
from cairn.store import tables as t
from cairn.store.errors import NotFound

A = t.library_agents.c
_NEWEST = SortOrder((A.revision,), newest_first=True)


class AgentLibraryQueries:
    def __init__(self, database: Database) -> None:
        self._read = database.read

    def list_agents(self, search: str | None, limit: int, cursor: str | None) -> LibraryAgentPage:
        """List agents by name. Every word of `search` must occur in the name, title, description or role."""
        return self._read(lambda c: _list(c, search, limit, cursor))

    def get_agent(self, name: str) -> LibraryAgent:
        return self._read(lambda c: _view(_find(c, name), library.uses(c)))

    def get_text(self, name: str) -> tuple[str, int]:
        """The agent as YAML, and its revision."""
        stored = self._read(lambda c: _find(c, name))
        return encode_yaml(stored.agent.document), stored.revision

    def list_revisions(self, name: str, limit: int, cursor: str | None) -> LibraryAgentRevisionPage:
        return self._read(lambda c: _revisions(c, name, limit, cursor))


def _list(connection: Connection, search: str | None, limit: int, cursor: str | None) -> LibraryAgentPage:
    words = (search or "").casefold().split()
    found = [
        stored
        for name, stored in stored_agents(connection).items()
        if (cursor is None or name > cursor) and all(word in _search_text(stored) for word in words)
    ]
    uses = library.uses(connection)
    items = [_view(stored, uses) for stored in found[:limit]]
    return LibraryAgentPage(items=items, next_cursor=items[-1].name if len(found) > limit else None)


def _find(connection: Connection, name: str) -> StoredAgent:
    stored = stored_agents(connection).get(name)
    if stored is None:
        raise NotFound(RESOURCE, name)
    return stored


def _revisions(connection: Connection, name: str, limit: int, cursor: str | None) -> LibraryAgentRevisionPage:
    if name not in builtin_agents() and library.find(connection, name) is None:
        raise NotFound(RESOURCE, name)
    found = page(connection, sa.select(t.library_agents).where(A.name == name), _NEWEST, limit, cursor)
    items = [
        LibraryAgentRevision(
            revision=row.revision, document=row.document, created_at=row.updated_at, created_by=row.updated_by
        )
        for row in found.rows
    ]
    return LibraryAgentRevisionPage(items=items, next_cursor=found.next_cursor)


def _search_text(stored: StoredAgent) -> str:
    agent = stored.agent
    return " ".join((agent.name, agent.display_name, agent.description, agent.role or "")).casefold()


def _view(stored: StoredAgent, uses: list[library.AgentUse]) -> LibraryAgent:
    agent = stored.agent
    own_uses = [use for use in uses if use.agent == agent.name]
    users = [AgentUsage(pipeline_id=use.pipeline_id, pipeline_name=use.pipeline_name) for use in own_uses]
    return LibraryAgent(
        name=agent.name,
        title=agent.display_name,
        description=agent.description,
        role=agent.role,
        system_prompt=agent.system_prompt,
        task_prompt=agent.task_prompt,
        model=agent.model,
        model_settings=agent.model_settings,
        tools=None if agent.tools is None else list(agent.tools),
        input_schema=agent.input_schema,
        output_schema=agent.output_schema,
        revision=stored.revision,
        is_builtin=stored.revision == 0,
        overrides_builtin=stored.revision > 0 and agent.name in builtin_agents(),
        updated_at=stored.updated_at,
        updated_by=stored.updated_by,
        used_by=users[:MAX_LISTED_PIPELINES],
        used_count=len(users),
    )
