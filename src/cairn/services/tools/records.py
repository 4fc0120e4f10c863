"""Save what servers offer, and what admins allow."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from cairn.ports.tools import OfferedTool, ToolGrant
from cairn.store import Connection
from cairn.store import tables as t

T, G = t.offered_tools.c, t.tool_grants.c


def save_offered(connection: Connection, tools: Sequence[OfferedTool], at: datetime) -> None:
    """Create or replace the offered tools. Two executions may see a new tool at the same moment."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    for tool in tools:
        values = {
            "server": tool.server,
            "server_digest": tool.pin.server,
            "tool_digest": tool.pin.tool,
            "definition": tool.definition,
            "seen_at": at,
        }
        statement = insert(t.offered_tools).values(name=tool.name, **values)
        connection.execute(statement.on_conflict_do_update(index_elements=[T.name], set_=values))


def save_grant(connection: Connection, grant: ToolGrant, server: str | None, at: datetime, by: str) -> None:
    """Create or replace a grant."""
    values = {
        "effect": grant.effect.value,
        "hosts": list(grant.hosts),
        "url_argument": grant.url_argument,
        "may_skip_approval": grant.may_skip_approval,
        "error_outcome": grant.error_outcome.value,
        "pipelines": list(grant.pipelines),
        "server": server,
        "server_digest": grant.pin.server if grant.pin is not None else None,
        "tool_digest": grant.pin.tool if grant.pin is not None else None,
        "definition": dict(grant.definition),
        "updated_at": at,
        "updated_by": by,
    }
    if connection.execute(sa.update(t.tool_grants).where(G.name == grant.name).values(values)).rowcount == 0:
        connection.execute(sa.insert(t.tool_grants).values(name=grant.name, **values))


def remove_grant(connection: Connection, name: str) -> bool:
    return connection.execute(sa.delete(t.tool_grants).where(G.name == name)).rowcount == 1
