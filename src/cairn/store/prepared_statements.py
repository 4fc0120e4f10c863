"""Statements that are compiled once per dialect and sent straight to the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql import Executable, Select
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.types import TypeEngine

from cairn.store.column_types import Instant, Json, Text, check_text

Bind: TypeAlias = Callable[[Mapping[str, Any]], Any]
Convert: TypeAlias = Callable[[Any], Any]


def execute_raw(connection: sa.Connection, sql: str, parameters: Any) -> int:
    """Run a statement on the driver's connection and return the number of changed rows."""
    try:
        pooled: Any = connection.connection
        cursor = pooled.dbapi_connection.cursor()
        cursor.execute(sql, parameters)
        if cursor.description:
            cursor.fetchall()
        return cursor.rowcount
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped_error(connection, sql, parameters, error) from error


def begin_connection(engine: sa.Engine) -> sa.Connection:
    """Return a connection in a new transaction. It is closed if the transaction can't begin."""
    connection = engine.connect()
    try:
        connection.begin()
    except BaseException:
        connection.close()
        raise
    return connection


def commit(connection: sa.Connection) -> None:
    """Commit on the driver's connection, bypassing SQLAlchemy."""
    try:
        pooled: Any = connection.connection
        pooled.dbapi_connection.commit()
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped_error(connection, "COMMIT", (), error) from error


class Prepared:
    """A statement that bypasses SQLAlchemy's cache of compiled statements.

    For small statements, looking up the compiled form costs more than running it.
    """

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, Bind]] = {}

    def run(self, connection: sa.Connection, values: Mapping[str, Any]) -> int:
        """Run the statement and return the number of changed rows."""
        sql, bind = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        return execute_raw(connection, sql, bind(values))

    def run_many(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        sql, bind = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        parameters = [bind(row) for row in rows]
        try:
            pooled: Any = connection.connection
            pooled.dbapi_connection.cursor().executemany(sql, parameters)
        except connection.dialect.loaded_dbapi.Error as error:
            raise _wrapped_error(connection, sql, parameters, error) from error

    def _compile(self, dialect: Dialect) -> tuple[str, Bind]:
        compiled = cast("Any", self._statement).compile(dialect=dialect)
        names = tuple(compiled.positiontup if compiled.positional else compiled.binds)
        converters = [
            (index, convert)
            for index, name in enumerate(names)
            if (convert := _converter(compiled.binds[name].type, dialect)) is not None
        ]
        bind = _binder(names, converters)
        fixed = {name: parameter.value for name, parameter in compiled.binds.items() if not parameter.required}
        if fixed:
            bind = _with(fixed, bind)
        if not compiled.positional:
            bind = _named(names, bind)
        self._compiled[dialect.name] = str(compiled), bind
        return self._compiled[dialect.name]


class PreparedQuery(Prepared):
    """A prepared statement that returns rows as named tuples."""

    def __init__(self, statement: Select[*tuple[Any, ...]] | UpdateBase) -> None:
        super().__init__(statement)
        columns = statement.exported_columns
        self._types = [column.type for column in columns]
        self._row = cast("Any", NamedTuple)("Row", [(name, Any) for name in list(columns.keys())])
        self._converters: dict[str, list[tuple[int, Convert]]] = {}

    def first(self, connection: sa.Connection, values: Mapping[str, Any]) -> Any | None:
        rows = self.all(connection, values)
        return rows[0] if rows else None

    def all(self, connection: sa.Connection, values: Mapping[str, Any]) -> list[Any]:
        sql, bind = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        parameters = bind(values)
        try:
            pooled: Any = connection.connection
            cursor = pooled.dbapi_connection.cursor()
            cursor.execute(sql, parameters)
            return self._rows(cursor, connection.dialect)
        except connection.dialect.loaded_dbapi.Error as error:
            raise _wrapped_error(connection, sql, parameters, error) from error

    def _rows(self, cursor: DBAPICursor, dialect: Dialect) -> list[Any]:
        converters = self._converters.get(dialect.name)
        if converters is None:
            converters = self._converters[dialect.name] = list(self._conversions(cursor, dialect))
        found = cursor.fetchall()
        return list(map(self._row._make, [_converted(row, converters) for row in found] if converters else found))

    def _conversions(self, cursor: DBAPICursor, dialect: Dialect) -> Iterator[tuple[int, Convert]]:
        for index, (column, described) in enumerate(zip(self._types, cursor.description, strict=True)):
            if isinstance(column, Text):
                continue  # no conversion
            if isinstance(column, Instant | Json):  # without the overhead of SQLAlchemy's wrapper
                yield index, column.reader(dialect)
            elif (convert := column.dialect_impl(dialect).result_processor(dialect, described[1])) is not None:
                yield index, convert


def insert_into(table: sa.Table, *, without: tuple[str, ...] = (), types: Mapping[str, Any] | None = None) -> Prepared:
    """Prepare an INSERT of all columns except `without`. Parameters are named after the columns."""
    return Prepared(sa.insert(table).values(_binds(table, [c.name for c in table.c if c.name not in without], types)))


def insert_once(table: sa.Table, *, without: tuple[str, ...] = ()) -> Mapping[str, Prepared]:
    """Prepare an INSERT that ignores conflicts, by dialect."""
    values = _binds(table, [c.name for c in table.c if c.name not in without])
    return {
        "sqlite": Prepared(sqlite.insert(table).values(values).on_conflict_do_nothing()),
        "postgresql": Prepared(postgresql.insert(table).values(values).on_conflict_do_nothing()),
    }


class PreparedUpdate:
    """Updates of one table, prepared once per set of changed columns. `where` lists the columns of the condition."""

    def __init__(self, table: sa.Table, *where: str) -> None:
        self._table = table
        self._where = [table.c[name] == sa.bindparam(f"where_{name}", type_=table.c[name].type) for name in where]
        self._prepared: dict[tuple[str, ...], Prepared] = {}

    def run(self, connection: sa.Connection, changes: Mapping[str, Any], where: Mapping[str, Any]) -> int:
        columns = tuple(changes)
        prepared = self._prepared.get(columns)
        if prepared is None:
            prepared = Prepared(sa.update(self._table).where(*self._where).values(_binds(self._table, columns)))
            self._prepared[columns] = prepared
        return prepared.run(connection, {**changes, **{f"where_{name}": value for name, value in where.items()}})


def _binds(
    table: sa.Table, columns: Sequence[str], types: Mapping[str, Any] | None = None
) -> dict[str, sa.BindParameter[Any]]:
    return {name: sa.bindparam(name, type_=(types or {}).get(name, table.c[name].type)) for name in columns}


def _wrapped_error(connection: sa.Connection, sql: str, parameters: Any, error: Any) -> BaseException:
    """Wrap the driver's error as SQLAlchemy does, and invalidate a lost connection."""
    dialect = connection.dialect
    if dialect.is_disconnect(error, cast("Any", connection.connection.dbapi_connection), None):
        connection.invalidate(error)
    return cast("Any", DBAPIError).instance(sql, parameters, error, dialect.loaded_dbapi.Error, dialect=dialect)


def _converter(type: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    """Return the conversion of a parameter. Drivers accept numbers, booleans and bytes. `_binder` checks text."""
    if isinstance(type, Text | sa.Boolean | sa.Numeric | sa.Integer | sa.LargeBinary):
        return None
    if isinstance(type, Instant | Json):  # without the overhead of SQLAlchemy's wrapper
        return type.writer(dialect)
    return type.dialect_impl(dialect).bind_processor(dialect)


def _binder(names: tuple[str, ...], converters: list[tuple[int, Convert]]) -> Bind:
    pick: Callable[[Mapping[str, Any]], tuple[Any, ...]] = (
        itemgetter(*names) if len(names) > 1 else lambda values: tuple(values[name] for name in names)
    )

    def bind(values: Mapping[str, Any]) -> tuple[Any, ...]:
        row = pick(values)
        texts = [value for value in row if value.__class__ is str]
        if "\0" in (text := "".join(texts)) or not text.isascii():
            for text in texts:
                check_text(text)
        return _converted(row, converters) if converters else row

    return bind


def _converted(values: Sequence[Any], converters: list[tuple[int, Convert]]) -> tuple[Any, ...]:
    """Convert all values except None."""
    row = list(values)
    for index, convert in converters:
        if (value := row[index]) is not None:
            row[index] = convert(value)
    return tuple(row)


def _with(fixed: Mapping[str, Any], bind: Bind) -> Bind:
    """Add the values that are part of the statement."""
    return lambda values: bind({**fixed, **values})


def _named(names: tuple[str, ...], bind: Bind) -> Bind:
    return lambda values: dict(zip(names, bind(values), strict=True))
