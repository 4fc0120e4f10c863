"""What can be said of a folder before it is opened: a database that cannot be, or that is of another version."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DatabaseError, OperationalError

from cairn.adapters.database_lock import DatabaseInUse
from cairn.adapters.key_file import WrongKey
from cairn.cli.server_location import has_data
from cairn.cli.settings import quieten, read_settings
from cairn.services.doctor.views import HealthCheck, HealthReport
from cairn.store import Database, OldSqlite, UnsupportedSchema
from cairn.store.database import schema_version


def beforehand(folder: Path, *, repair: bool) -> dict[str, Any] | None:
    """A diagnosis if the folder had better not be opened; opening would bring an older schema up to date."""
    quieten()
    settings = read_settings(data_dir=folder)
    if settings.database_url is None and not has_data(folder):
        return None  # who opens it says so
    try:
        with closing(Database(settings.effective_database_url)) as database:
            version = database.schema_version
            if version is not None:
                schema_version.check(version, database.url)
    except UnsupportedSchema as error:
        return _unwell(HealthCheck(what="schema", verdict="fault", detail=error.problem, remedy=error.remedy))
    except OldSqlite as error:
        return _unwell(HealthCheck(what="sqlite", verdict="fault", detail=error.problem, remedy=error.remedy))
    except (DatabaseError, OSError) as error:
        told = explain(error) if isinstance(error, DatabaseError) else str(error)
        return _unwell(HealthCheck(what="database", verdict="fault", detail=told, remedy="go back to a backup"))
    if version == schema_version.newest() or repair:
        return None
    detail = f"version {version or 'none'}, but this Cairn needs {schema_version.newest()}"
    remedy = "start the server or run cairn doctor --repair to upgrade it"
    return _unwell(HealthCheck(what="schema", verdict="warning", detail=detail, remedy=remedy))


def _unwell(found: HealthCheck) -> dict[str, Any]:
    diagnosis = HealthReport(checked_at=datetime.now(UTC), well=found.verdict != "fault", findings=[found])
    return diagnosis.model_dump(mode="json")


CANNOT_START = (DatabaseInUse, UnsupportedSchema, OldSqlite, DatabaseError, ImportError, WrongKey)


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
