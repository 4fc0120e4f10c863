"""Save action types that admins declare."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from cairn.config.action_types import ActionTypeDeclaration
from cairn.store import Connection
from cairn.store import tables as t

C = t.action_types.c


def save_type(connection: Connection, name: str, declared: ActionTypeDeclaration, by: str, at: datetime) -> None:
    values = {"declaration": declared.document, "updated_at": at, "updated_by": by}
    if connection.execute(sa.update(t.action_types).where(C.name == name).values(values)).rowcount == 0:
        connection.execute(sa.insert(t.action_types).values(name=name, **values))


def remove_type(connection: Connection, name: str) -> bool:
    """False if there is no such type."""
    return connection.execute(sa.delete(t.action_types).where(C.name == name)).rowcount == 1
