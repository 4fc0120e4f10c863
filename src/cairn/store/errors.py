"""Errors of the store. Nothing was changed when one of these is raised."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.exc import (
    DataError,
    DontWrapMixin,
    IntegrityError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)


class StoreError(Exception, DontWrapMixin):
    """Base class of the store's own errors. Database errors are SQLAlchemy's."""


class LostRace(StoreError):
    """The row was changed since it was loaded. Load it and try again."""


class StaleDispatch(StoreError):
    """The report comes from a dispatch that is over."""


class Unstorable(StoreError):
    """At least one of the supported databases can't store the value."""


class MissingBlob(StoreError):
    """No content is stored under this checksum."""


class DamagedBlob(StoreError):
    """The stored content doesn't match its checksum."""


class UnsupportedSchema(StoreError):
    """The database has a schema that this version of Cairn can neither use nor upgrade."""

    def __init__(self, url: URL, version: str, *, is_newer: bool) -> None:
        if url.get_backend_name() == "sqlite":
            location = f"The data folder {Path(url.database or '').parent}"
            alternative = "Choose another folder with --data-dir or CAIRN_DATA_DIR, or move this one away"
        else:
            location = f"The database {url.render_as_string(hide_password=True)}"
            alternative = "Choose another database with CAIRN_DATABASE_URL"
        created_by = "a newer version" if is_newer else "an earlier development version"
        self.problem = (
            f"{location} was created by {created_by} of Cairn (schema {version}), and this version can't open it"
        )
        self.hint = f"Install the newer version, or restore a backup. {alternative}" if is_newer else alternative
        super().__init__(f"{self.problem}. {self.hint}. Your data was not changed.")
        self.is_newer = is_newer


class OldSqlite(StoreError):
    """The SQLite library of this Python is too old."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(f"{problem}. {hint[0].upper()}{hint[1:]}.")
        self.problem = problem
        self.hint = hint


class DatabaseClosed(StoreError):
    """The database has been closed."""


class NotFound(StoreError):
    """There is no object of this kind with this id."""

    def __init__(self, kind: str, id: str) -> None:
        self.message = f"There is no {kind} {id}."
        super().__init__(self.message)
        self.kind = kind
        self.id = id


DatabaseUnavailable = OperationalError  # the database can't be reached or can't be written to

# The database is unavailable, or another writer was faster. The same transaction may succeed later.
TRANSIENT_ERRORS = (SQLAlchemyError, LostRace, StaleDispatch)
# Takes precedence over TRANSIENT_ERRORS: the same transaction would fail again.
PERMANENT_ERRORS = (IntegrityError, DataError, ProgrammingError, Unstorable, MissingBlob, DamagedBlob)
