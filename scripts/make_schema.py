"""Write the initial schema from the tables, as SQL for each database."""

from __future__ import annotations

from itertools import groupby

import sqlalchemy as sa
from sqlalchemy.schema import ExecutableDDLElement

from cairn.store.migrations.upgrade import INITIAL_SCHEMA
from cairn.store.tables import metadata

DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}


def statements(driver: str) -> list[str]:
    collected: list[str] = []

    def collect(statement: ExecutableDDLElement, *_: object, **__: object) -> None:
        lines = str(statement.compile(dialect=engine.dialect)).strip().splitlines()
        ddl = "\n".join(line.replace("\t", "  ").rstrip() for line in lines)
        collected.append(ddl.replace(")\n WITHOUT", ") WITHOUT"))

    engine = sa.create_mock_engine(f"{driver}://", collect)
    metadata.create_all(engine, checkfirst=False)
    return with_sorted_indexes(collected)


def with_sorted_indexes(ddl: list[str]) -> list[str]:
    """Sort the indexes of each table, because a table has them as a set."""
    ordered: list[str] = []
    for is_index, group in groupby(ddl, lambda each: each.startswith(("CREATE INDEX", "CREATE UNIQUE INDEX"))):
        ordered += sorted(group) if is_index else group
    return ordered


def main() -> None:
    for database, driver in DRIVERS.items():
        file = INITIAL_SCHEMA / f"{database}.sql"
        file.write_text("".join(f"{statement};\n\n" for statement in statements(driver)).removesuffix("\n"))
        print(f"wrote {file}")


if __name__ == "__main__":
    main()
