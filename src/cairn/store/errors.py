"""Why the store does not do what it was asked. Nothing has changed when one of these is raised."""

from __future__ import annotations

from sqlalchemy.exc import DataError, DontWrapMixin, IntegrityError, ProgrammingError, SQLAlchemyError


class StoreError(Exception, DontWrapMixin):
    """What the store refuses by itself; faults of the database stay SQLAlchemy's."""


class LostRace(StoreError):
    """Somebody else changed the run since it was loaded: load it and decide again."""


class StaleDispatch(StoreError):
    """The execution is not in the dispatch and state that it was loaded in."""


class Unstorable(StoreError):
    """A value that not every database can hold."""


class MissingBlob(StoreError):
    """No content is stored under this checksum."""


class DamagedBlob(StoreError):
    """The stored content does not have its checksum any more."""


class NewerDatabase(StoreError):
    """The database was written by a newer version of Cairn."""


class OldSqlite(StoreError):
    """The SQLite library of this Python lacks what Cairn needs."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy[0].upper()}{remedy[1:]}.")
        self.problem = problem
        self.remedy = remedy


class Closed(StoreError):
    """The database has been closed."""


class NotFound(StoreError):
    """Nothing has this id."""

    def __init__(self, what: str, id: str) -> None:
        self.message = f"There is no {what} {id}."
        super().__init__(self.message)
        self.what = what
        self.id = id


# The database does not answer, or another writer was faster: the same transaction may succeed later.
TRANSIENT_ERRORS = (SQLAlchemyError, LostRace, StaleDispatch)
# Takes precedence over TRANSIENT_ERRORS: the same transaction would fail again.
PERMANENT_ERRORS = (IntegrityError, DataError, ProgrammingError, Unstorable, MissingBlob, DamagedBlob)
