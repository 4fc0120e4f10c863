"""Checks a data folder before opening it: whether its database is readable and has a supported schema version."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DatabaseError, OperationalError

from cairn.adapters.database_lock import DatabaseInUse
from cairn.adapters.key_file import InvalidEncryptionKey
from cairn.cli.server_location import has_data
from cairn.cli.settings import read_settings, silence_logs
from cairn.services.doctor.views import HealthCheck, HealthReport
from cairn.store import Database, OldSqlite, UnsupportedSchema
from cairn.store.database import schema_version


def check_before_opening(folder: Path, *, repair: bool) -> dict[str, Any] | None:
    """A health report if the folder should not be opened now. Opening it would upgrade an older schema."""
    silence_logs()
    settings = read_settings(data_dir=folder)
    if settings.database_url is None and not has_data(folder):
        return None  # opening it reports this
    try:
        with closing(Database(settings.effective_database_url)) as database:
            version = database.schema_version
            if version is not None:
                schema_version.check(version, database.url)
    except UnsupportedSchema as error:
        return _report(HealthCheck(name="schema", status="error", detail=error.problem, hint=error.hint))
    except OldSqlite as error:
        return _report(HealthCheck(name="sqlite", status="error", detail=error.problem, hint=error.hint))
    except (DatabaseError, OSError) as error:
        detail = explain(error) if isinstance(error, DatabaseError) else str(error)
        return _report(HealthCheck(name="database", status="error", detail=detail, hint="Restore a backup."))
    if version == schema_version.newest() or repair:
        return None
    detail = f"version {version or 'none'}, but this Cairn needs {schema_version.newest()}"
    hint = "Start the server or run `cairn doctor --repair` to upgrade it."
    return _report(HealthCheck(name="schema", status="warning", detail=detail, hint=hint))


def _report(check: HealthCheck) -> dict[str, Any]:
    report = HealthReport(checked_at=datetime.now(UTC), healthy=check.status != "error", checks=[check])
    return report.model_dump(mode="json")


STARTUP_ERRORS = (DatabaseInUse, UnsupportedSchema, OldSqlite, DatabaseError, ImportError, InvalidEncryptionKey)


def explain(error: Exception) -> str:
    match error:
        case OperationalError():
            return f"Can't connect to the database: {_first_line(error)}"
        case DatabaseError():
            return f"Can't read the database: {_first_line(error)}"
        case ImportError():
            return f"Can't import a module from CAIRN_FUNCTIONS: {error}"
        case _:
            return str(error)


def _first_line(error: DatabaseError) -> str:
    return str(error.orig).strip().splitlines()[0]
