"""Prepared statements return the same rows and errors as SQLAlchemy."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from cairn.store import Database
from cairn.store.column_types import Text
from cairn.store.errors import Unstorable
from cairn.store.prepared_statements import PreparedQuery, insert_into
from cairn.store.tables import definition_revisions, pipelines
from tests.store.samples import create_run, make_document

_INSERT = insert_into(pipelines)
_BY_ID = PreparedQuery(sa.select(pipelines).where(pipelines.c.pipeline_id == sa.bindparam("id", type_=Text())))
_FIRST = PreparedQuery(
    sa.select(pipelines.c.pipeline_id, pipelines.c.revision.label("number"))
    .where(pipelines.c.revision == 1, pipelines.c.pipeline_id == sa.bindparam("id", type_=Text()))
    .limit(1)
)
_UPDATE_RETURNING = PreparedQuery(
    sa.update(pipelines)
    .where(pipelines.c.pipeline_id == sa.bindparam("id", type_=Text()))
    .values(last_run_version=pipelines.c.last_run_version + 10)
    .returning(pipelines.c.last_run_version)
)


@pytest.fixture
def pipeline_id(database: Database) -> str:
    document = make_document("a", "b")
    create_run(database, document)
    return document["pipeline_id"]


def test_rows_equal_those_of_sqlalchemy(database: Database, pipeline_id: str) -> None:
    """This includes times, JSON, booleans and NULL."""

    def run_both(connection: sa.Connection) -> tuple[Any, Any]:
        query = sa.select(pipelines).where(pipelines.c.pipeline_id == pipeline_id)
        return _BY_ID.all(connection, {"id": pipeline_id}), connection.execute(query).all()

    [prepared], [ordinary] = database.read(run_both)
    assert prepared._asdict() == ordinary._asdict()
    assert (prepared.created_at.tzinfo, type(prepared.checkpoint_order)) == (UTC, list)
    assert database.read(lambda c: _BY_ID.first(c, {"id": "nobody"})) is None


def test_statements_can_contain_fixed_values(database: Database, pipeline_id: str) -> None:
    found = database.read(lambda c: _FIRST.first(c, {"id": pipeline_id}))
    assert found is not None
    assert (found.pipeline_id, found.number) == (pipeline_id, 1)


def test_an_update_can_return_rows(database: Database, pipeline_id: str) -> None:
    before = database.read(lambda c: _BY_ID.all(c, {"id": pipeline_id}))[0].last_run_version
    updated = database.transact_now(lambda c: _UPDATE_RETURNING.all(c, {"id": pipeline_id}))
    assert [row.last_run_version for row in updated] == [before + 10]


def test_errors_equal_those_of_sqlalchemy(database: Database, pipeline_id: str) -> None:
    row = database.read(lambda c: _BY_ID.all(c, {"id": pipeline_id}))[0]._asdict()
    with pytest.raises(IntegrityError):
        database.transact_now(lambda c: _INSERT.run(c, row))
    with pytest.raises(Unstorable, match="NUL"):
        database.transact_now(lambda c: _INSERT.run(c, {**row, "pipeline_id": "other", "pipeline_name": "a\0b"}))
    broken = PreparedQuery(sa.select(definition_revisions.c.digest, sa.column("nowhere", sa.Text())))
    with pytest.raises(DBAPIError):
        database.read(lambda c: broken.all(c, {}))


def test_a_time_without_a_zone_is_rejected(database: Database, pipeline_id: str) -> None:
    row = database.read(lambda c: _BY_ID.all(c, {"id": pipeline_id}))[0]._asdict()
    row |= {"pipeline_id": "other", "created_at": datetime(2026, 1, 1)}  # noqa: DTZ001
    with pytest.raises(Unstorable):
        database.transact_now(lambda c: _INSERT.run(c, row))
