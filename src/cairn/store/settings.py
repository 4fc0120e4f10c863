"""Settings of the installation, by key."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from cairn.store.tables import settings

S = settings.c


def read_setting(connection: sa.Connection, key: str) -> Any:
    """Return None if the setting is missing."""
    return connection.execute(sa.select(S.value).where(S.key == key)).scalar_one_or_none()


def save_setting(connection: sa.Connection, key: str, value: Any) -> None:
    updated = connection.execute(sa.update(settings).where(S.key == key).values(value=value))
    if updated.rowcount == 0:
        connection.execute(sa.insert(settings).values(key=key, value=value))
