"""The agent library as people see it."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.definitions import builtin_agents
from cairn.documents import encode_yaml
from cairn.services.agent_library.service import SHOWN, WHAT, StoredAgent, standings
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

    def list(self, search: str | None, limit: int, cursor: str | None) -> LibraryAgentPage:
        """By name; `search` has words that all occur in its name, title, description or role."""
        return self._read(lambda c: _list(c, search, limit, cursor))

    def get(self, name: str) -> LibraryAgent:
        return self._read(lambda c: _shown(_find(c, name), library.uses(c)))

    def text(self, name: str) -> tuple[str, int]:
        """As its author would write it, in YAML, and its revision."""
        found = self._read(lambda c: _find(c, name))
        return encode_yaml(found.agent.document), found.revision

    def revisions(self, name: str, limit: int, cursor: str | None) -> LibraryAgentRevisionPage:
        return self._read(lambda c: _revisions(c, name, limit, cursor))


def _list(connection: Connection, search: str | None, limit: int, cursor: str | None) -> LibraryAgentPage:
    wanted = (search or "").casefold().split()
    found = [
        one
        for name, one in standings(connection).items()
        if (cursor is None or name > cursor) and all(word in _words(one) for word in wanted)
    ]
    uses = library.uses(connection)
    items = [_shown(one, uses) for one in found[:limit]]
    return LibraryAgentPage(items=items, next_cursor=items[-1].name if len(found) > limit else None)


def _find(connection: Connection, name: str) -> StoredAgent:
    found = standings(connection).get(name)
    if found is None:
        raise NotFound(WHAT, name)
    return found


def _revisions(connection: Connection, name: str, limit: int, cursor: str | None) -> LibraryAgentRevisionPage:
    if name not in builtin_agents() and library.find(connection, name) is None:
        raise NotFound(WHAT, name)
    found = page(connection, sa.select(t.library_agents).where(A.name == name), _NEWEST, limit, cursor)
    items = [
        LibraryAgentRevision(
            revision=row.revision, document=row.document, changed_at=row.updated_at, changed_by=row.updated_by
        )
        for row in found.rows
    ]
    return LibraryAgentRevisionPage(items=items, next_cursor=found.next_cursor)


def _words(one: StoredAgent) -> str:
    agent = one.agent
    return " ".join((agent.name, agent.display_name, agent.description, agent.role or "")).casefold()


def _shown(one: StoredAgent, uses: list[library.AgentUse]) -> LibraryAgent:
    agent = one.agent
    named = [use for use in uses if use.agent == agent.name]
    users = [AgentUsage(pipeline_id=use.pipeline_id, pipeline_name=use.pipeline_name) for use in named]
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
        revision=one.revision,
        is_ready_made=one.revision == 0,
        replaces_ready_made=one.revision > 0 and agent.name in builtin_agents(),
        updated_at=one.updated_at,
        updated_by=one.updated_by,
        used_by=users[:SHOWN],
        used_count=len(users),
    )
