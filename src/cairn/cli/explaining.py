"""Why Cairn cannot start, in one readable line."""

from __future__ import annotations

from sqlalchemy.exc import OperationalError

from cairn.adapters.database_lock import DatabaseHeld
from cairn.store import NewerDatabase

CANNOT_START = (DatabaseHeld, NewerDatabase, OperationalError, ImportError)


def explain(error: Exception) -> str:
    match error:
        case OperationalError():
            return f"the database cannot be reached: {str(error.orig).strip().splitlines()[0]}"
        case ImportError():
            return f"a module of CAIRN_FUNCTIONS cannot be imported: {error}"
        case _:
            return str(error)
