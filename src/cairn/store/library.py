"""Stored library agents, and the pipelines that use them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from cairn.store.column_types import Text
from cairn.store.tables import checkpoint_definitions, library_agents, pipelines

A, D, P = library_agents.c, checkpoint_definitions.c, pipelines.c
_USES_AGENT = '%"library_agent"%'


class AgentUse(NamedTuple):
    """A pipeline that uses a library agent."""

    agent: str
    pipeline_id: str
    pipeline_name: str


def newest(connection: sa.Connection, at: datetime | None = None) -> list[Any]:
    """Return the newest row of each agent, now or at a time in the past. Removed agents have no document."""
    latest = sa.select(A.name, sa.func.max(A.revision).label("revision")).group_by(A.name)
    chosen = (latest.where(A.updated_at <= at) if at is not None else latest).subquery()
    joined = sa.and_(A.name == chosen.c.name, A.revision == chosen.c.revision)
    return list(connection.execute(sa.select(library_agents).join(chosen, joined).order_by(A.name)))


def find(connection: sa.Connection, name: str) -> Any | None:
    """Return the newest row of an agent."""
    query = sa.select(library_agents).where(A.name == name).order_by(A.revision.desc()).limit(1)
    return connection.execute(query).one_or_none()


def add(
    connection: sa.Connection, name: str, revision: int, document: dict[str, Any] | None, at: datetime, by: str
) -> None:
    connection.execute(
        sa.insert(library_agents).values(name=name, revision=revision, document=document, updated_at=at, updated_by=by)
    )


def uses(connection: sa.Connection) -> list[AgentUse]:
    """Return the library agents used by current definitions, sorted by pipeline name."""
    query = (
        sa.select(D.execution, P.pipeline_id, P.pipeline_name)
        .join_from(checkpoint_definitions, pipelines, P.pipeline_id == D.pipeline_id)
        .where(
            D.removed_at.is_(None),
            P.deleted_at.is_(None),
            sa.type_coerce(D.execution, Text()).like(_USES_AGENT),
        )
        .order_by(P.pipeline_name, P.pipeline_id)
    )
    found = (
        AgentUse(name, row.pipeline_id, row.pipeline_name)
        for row in connection.execute(query)
        for name in _agent_names(row)
    )
    return list(dict.fromkeys(found))


def _agent_names(row: Any) -> Iterator[str]:
    execution: dict[str, Any] = row.execution
    config: dict[str, Any] = execution.get("agent_config", {})
    agents: list[dict[str, Any]] = [config.get("agent", {}), *config.get("agents", [])]
    yield from (agent["library_agent"] for agent in agents if "library_agent" in agent)
