"""Why Cairn cannot start, in one readable line."""

from __future__ import annotations

from sqlalchemy.exc import DatabaseError, OperationalError

from cairn.adapters.database_lock import DatabaseInUse
from cairn.adapters.key_file import WrongKey
from cairn.store import NewerDatabase, OldSqlite

CANNOT_START = (DatabaseInUse, NewerDatabase, OldSqlite, DatabaseError, ImportError, WrongKey)


def explain(error: Exception) -> str:
    match error:
        case OperationalError():
            return f"the database cannot be reached: {_first(error)}"
        case DatabaseError():
            return f"the database cannot be read: {_first(error)}"
        case ImportError():
            return f"a module of CAIRN_FUNCTIONS cannot be imported: {error}"
        case _:
            return str(error)


def _first(error: DatabaseError) -> str:
    return str(error.orig).strip().splitlines()[0]
