"""Statements that are compiled once for each database and then run as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.sql import Executable

Bind = Callable[[Mapping[str, Any]], Any]


class Prepared:
    """A statement without result columns. Saves what SQLAlchemy spends on finding the compiled form again."""

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, Bind]] = {}

    def run(self, connection: sa.Connection, values: Mapping[str, Any]) -> int:
        """Run it and say how many rows it changed."""
        sql, bind = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        return connection.exec_driver_sql(sql, bind(values)).rowcount

    def run_many(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        sql, bind = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        connection.exec_driver_sql(sql, [bind(row) for row in rows])

    def _compile(self, dialect: Dialect) -> tuple[str, Bind]:
        compiled = cast("Any", self._statement).compile(dialect=dialect)
        names: list[str] = list(compiled.positiontup if compiled.positional else compiled.binds)
        steps = [(name, _processor(compiled.binds[name], dialect)) for name in names]
        bind = _by_position(steps) if compiled.positional else _by_name(steps)
        self._compiled[dialect.name] = str(compiled), bind
        return self._compiled[dialect.name]


def insert_into(table: sa.Table, *, without: tuple[str, ...] = (), types: Mapping[str, Any] | None = None) -> Prepared:
    """A row with every column but some; each value is named as its column."""
    return Prepared(sa.insert(table).values(_binds(table, [c.name for c in table.c if c.name not in without], types)))


class PreparedUpdate:
    """Updates of one table, prepared once for each set of columns that changes. `where` names its values `was_…`."""

    def __init__(self, table: sa.Table, *where: str) -> None:
        self._table = table
        self._where = [table.c[name] == sa.bindparam(f"was_{name}", type_=table.c[name].type) for name in where]
        self._prepared: dict[tuple[str, ...], Prepared] = {}

    def run(self, connection: sa.Connection, changes: Mapping[str, Any], was: Mapping[str, Any]) -> int:
        columns = tuple(changes)
        prepared = self._prepared.get(columns)
        if prepared is None:
            prepared = Prepared(sa.update(self._table).where(*self._where).values(_binds(self._table, columns)))
            self._prepared[columns] = prepared
        return prepared.run(connection, {**changes, **{f"was_{name}": value for name, value in was.items()}})


def _binds(
    table: sa.Table, columns: Sequence[str], types: Mapping[str, Any] | None = None
) -> dict[str, sa.BindParameter[Any]]:
    return {name: sa.bindparam(name, type_=(types or {}).get(name, table.c[name].type)) for name in columns}


def _processor(parameter: sa.BindParameter[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    return parameter.type.dialect_impl(dialect).bind_processor(dialect)


def _by_position(steps: list[tuple[str, Callable[[Any], Any] | None]]) -> Bind:
    return lambda values: tuple([process(values[name]) if process else values[name] for name, process in steps])


def _by_name(steps: list[tuple[str, Callable[[Any], Any] | None]]) -> Bind:
    return lambda values: {name: process(values[name]) if process else values[name] for name, process in steps}
