"""Queries of tools: what servers offer, what admins allow, and which pipelines use them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

import sqlalchemy as sa

from cairn.core.states import ActionEffect
from cairn.documents import digest
from cairn.ports.tools import MCP_PREFIX, ErrorOutcome, OfferedTool, ToolGrant, ToolPin
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.tools.tool_effects import effect_of, state_of, unpinned_reason
from cairn.services.actions.action_type import ActionType
from cairn.services.agent_library.service import agents_at
from cairn.services.tools import views
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.column_types import Text
from cairn.store.errors import NotFound

T, G, D, P = t.offered_tools.c, t.tool_grants.c, t.checkpoint_definitions.c, t.pipelines.c
WEB_SEARCH = "web_search"
MAX_USES = 20


class SeenTool(NamedTuple):
    """An offered tool, and when its server first offered this version."""

    offered: OfferedTool
    seen_at: datetime


class StoredGrant(NamedTuple):
    grant: ToolGrant
    server: str | None
    updated_at: datetime
    updated_by: str


class _Use(NamedTuple):
    tool: str  # as the definition names it: with mcp:SERVER, all tools of a server
    pipeline_id: str
    pipeline_name: str


# Rows
def offered_tools(connection: Connection, names: Collection[str] | None = None) -> dict[str, SeenTool]:
    query = sa.select(t.offered_tools).order_by(T.name)
    rows = connection.execute(query if names is None else query.where(T.name.in_(names)))
    return {row.name: SeenTool(_offered(row), row.seen_at) for row in rows}


def _offered(row: Any) -> OfferedTool:
    stored: dict[str, Any] = row.definition
    return OfferedTool(
        row.name, row.server, row.server_digest, stored["description"], stored["schema"], stored["annotations"]
    )


def stored_grants(connection: Connection, names: Collection[str] | None = None) -> dict[str, StoredGrant]:
    query = sa.select(t.tool_grants).order_by(G.name)
    rows = connection.execute(query if names is None else query.where(G.name.in_(names)))
    return {row.name: StoredGrant(_grant(row), row.server, row.updated_at, row.updated_by) for row in rows}


def _grant(row: Any) -> ToolGrant:
    return ToolGrant(
        name=row.name,
        effect=ActionEffect(row.effect),
        pin=ToolPin(row.server_digest, row.tool_digest) if row.tool_digest is not None else None,
        definition=row.definition,
        hosts=tuple(row.hosts),
        url_argument=row.url_argument,
        may_skip_approval=row.may_skip_approval,
        error_outcome=ErrorOutcome(row.error_outcome),
        pipelines=tuple(row.pipelines),
    )


def tool_type(connection: Connection, name: str) -> ActionType:
    """The action type of a tool, with the effect that an admin has listed it with."""
    grant = stored_grants(connection, [name]).get(name)
    effect = grant.grant.effect if grant is not None else ActionEffect.CHANGES
    return ActionType(name, title=name, effect=effect, executor="tool", source="tool")


def unknown_pipelines(connection: Connection, pipeline_ids: Collection[str]) -> list[str]:
    """Those that don't exist or are deleted."""
    query = sa.select(P.pipeline_id).where(P.pipeline_id.in_(pipeline_ids), P.deleted_at.is_(None))
    known = {row.pipeline_id for row in connection.execute(query)}
    return [pipeline_id for pipeline_id in pipeline_ids if pipeline_id not in known]


# Uses
def _uses(connection: Connection) -> list[_Use]:
    """The tools that current definitions name, also through library agents."""
    query = (
        sa.select(D.execution, P.pipeline_id, P.pipeline_name)
        .join_from(t.checkpoint_definitions, t.pipelines, P.pipeline_id == D.pipeline_id)
        .where(
            D.removed_at.is_(None),
            P.deleted_at.is_(None),
            sa.type_coerce(D.execution, Text()).like('%"agent_config"%'),
        )
        .order_by(P.pipeline_name, P.pipeline_id)
    )
    agents = agents_at(connection)
    library = {name: agent.tools or () for name, agent in agents.items()}
    uses = (
        _Use(tool, row.pipeline_id, row.pipeline_name)
        for row in connection.execute(query)
        for tool in _tool_names(row.execution, library)
        if tool.startswith(MCP_PREFIX) or tool == WEB_SEARCH
    )
    return list(dict.fromkeys(uses))


def _tool_names(execution: Any, library: Mapping[str, Sequence[str]]) -> Iterator[str]:
    config: dict[str, Any] = cast("dict[str, Any]", execution).get("agent_config") or {}
    agents: list[dict[str, Any]] = [config, config.get("agent") or {}, *(config.get("agents") or [])]
    for agent in agents:
        yield from agent.get("tools") or ()
        if agent.get("tools") is None:
            yield from library.get(agent.get("library_agent") or "", ())


# Views
class ToolQueries:
    def __init__(self, database: Database, policy: AgentPolicy) -> None:
        self._read = database.read
        self._policy = policy

    def list_tools(self, state: views.ToolState | None, limit: int, cursor: str | None) -> views.ToolPage:
        found = [
            tool
            for tool in self._read(self._tools)
            if (state is None or tool.state is state) and (cursor is None or tool.name > cursor)
        ]
        shown = found[:limit]
        return views.ToolPage(items=shown, next_cursor=shown[-1].name if len(found) > limit else None)

    def get_tool(self, name: str) -> views.Tool:
        tool = next((tool for tool in self._read(self._tools) if tool.name == name), None)
        if tool is None:
            raise NotFound("tool", repr(name)[:200])
        return tool

    def unlisted(self) -> tuple[list[str], list[str]]:
        """The tools that pipelines use without a grant, and those whose grant doesn't count any more."""
        tools = [tool for tool in self._read(self._tools) if tool.used_by and tool.name != WEB_SEARCH]
        return (
            [tool.name for tool in tools if tool.state in (views.ToolState.NEW, views.ToolState.UNSEEN)],
            [tool.name for tool in tools if tool.state is views.ToolState.CHANGED],
        )

    def _tools(self, connection: Connection) -> list[views.Tool]:
        offered, grants, uses = offered_tools(connection), stored_grants(connection), _uses(connection)
        names = {*offered, *grants, *(use.tool for use in uses if not _is_known_server(use.tool, offered))}
        if self._policy.search.mode != "off":
            names.add(WEB_SEARCH)
        return [self._view(name, offered.get(name), grants.get(name), uses) for name in sorted(names)]

    def _view(self, name: str, seen: SeenTool | None, stored: StoredGrant | None, uses: Sequence[_Use]) -> views.Tool:
        grant = stored.grant if stored is not None else None
        server_name = name.removeprefix(MCP_PREFIX).partition("/")[0]
        used_by = dict.fromkeys(
            (use.pipeline_id, use.pipeline_name) for use in uses if use.tool in (name, f"{MCP_PREFIX}{server_name}")
        )
        server = self._policy.mcp_servers.get(server_name) if name != WEB_SEARCH else None
        offered = seen.offered if seen is not None else None
        return views.Tool(
            name=name,
            state=_state(name, offered, grant),
            effect=_effect(name, offered, grant),
            server=self._server(name, offered),
            digest=offered.pin.digest if offered is not None else None,
            description=offered.description if offered is not None else "",
            input_schema=dict(offered.schema) if offered is not None else None,
            annotations=dict(offered.annotations) if offered is not None else {},
            seen_at=seen.seen_at if seen is not None else None,
            grant=_grant_view(stored) if stored is not None else None,
            changes=list(_changes(offered, stored)) if offered is not None and stored is not None else [],
            unpinned=unpinned_reason(server) if server is not None else None,
            used_by=[
                views.ToolUse(pipeline_id=pipeline_id, pipeline_name=pipeline_name)
                for pipeline_id, pipeline_name in list(used_by)[:MAX_USES]
            ],
        )

    def _server(self, name: str, offered: OfferedTool | None) -> str | None:
        if name != WEB_SEARCH:
            return offered.server if offered is not None else None
        return self._policy.search.url if self._policy.search.mode == "backend" else None


def _is_known_server(name: str, offered: Collection[str]) -> bool:
    """Whether a definition names a whole server whose tools are known."""
    return "/" not in name and any(tool.startswith(f"{name}/") for tool in offered)


def _state(name: str, offered: OfferedTool | None, grant: ToolGrant | None) -> views.ToolState:
    if name == WEB_SEARCH:
        return views.ToolState.LISTED if grant is not None else views.ToolState.NEW
    return views.ToolState.UNSEEN if offered is None else views.ToolState(state_of(offered, grant).value)


def _effect(name: str, offered: OfferedTool | None, grant: ToolGrant | None) -> ActionEffect:
    if name == WEB_SEARCH:
        return ActionEffect.SENDS
    return ActionEffect.CHANGES if offered is None else effect_of(offered, grant)


def _grant_view(stored: StoredGrant) -> views.ToolGrant:
    grant = stored.grant
    return views.ToolGrant(
        effect=grant.effect,
        hosts=list(grant.hosts),
        url_argument=grant.url_argument,
        may_skip_approval=grant.may_skip_approval,
        error_outcome=grant.error_outcome,
        pipelines=list(grant.pipelines),
        updated_at=stored.updated_at,
        updated_by=stored.updated_by,
    )


def _changes(offered: OfferedTool, stored: StoredGrant) -> Iterator[views.ToolChange]:
    grant = stored.grant
    if stored.server != offered.server:
        yield views.ToolChange(field="server", before=stored.server, after=offered.server)
    elif grant.pin is not None and grant.pin.server != offered.pin.server:
        yield views.ToolChange(field="environment", before=None, after=None)
    for field, after in offered.definition.items():
        before = grant.definition.get(field)
        if digest(before) != digest(after):
            yield views.ToolChange(field=field, before=before, after=after)
