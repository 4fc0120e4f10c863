"""The id of the installation."""

from __future__ import annotations

from uuid import uuid4

from cairn.store import Connection, Database
from cairn.store.settings import read_setting, save_setting

INSTALLATION_ID = "installation_id"


async def installation_id(database: Database) -> str:
    """The id of this installation, which a backup of the database keeps. Created on first use."""

    def body(connection: Connection) -> str:
        known = read_setting(connection, INSTALLATION_ID)
        if known is None:
            known = str(uuid4())
            save_setting(connection, INSTALLATION_ID, known)
        return known

    return await database.transact(body)
