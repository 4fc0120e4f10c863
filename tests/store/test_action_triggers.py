"""What the database itself enforces about the ledger of actions."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from cairn.core.states import ActionState
from cairn.store import Database
from cairn.store import tables as t
from cairn.store.actions import ledger
from tests.core.action_builders import NOON, action, refusal
from tests.core.spec_tables import ACTION_TRANSITIONS, transitions_of
from tests.store.action_samples import DETAILS, save, states

POSTGRESQL = [pytest.param("postgresql", marks=pytest.mark.postgres)]


def refused(database: Database, statement: Any, message: str) -> None:
    with pytest.raises(DBAPIError, match=message):
        database.transact_now(lambda c: c.execute(statement if not isinstance(statement, str) else sa.text(statement)))


def with_parts(database: Database) -> None:
    def fill(connection: sa.Connection) -> None:
        ledger.insert_action(connection, action(), DETAILS)
        ledger.insert_version(connection, action(), {"amount": 5}, "step", NOON)
        ledger.insert_refusal(connection, refusal(), "refusal")

    database.transact_now(fill)


def test_a_state_changes_only_as_the_table_says(database: Database) -> None:
    legal = {(state, to) for (state, _), to in transitions_of(ACTION_TRANSITIONS).items()}
    legal |= {(state.value, state.value) for state in ActionState}
    save(database, *(action(state.value, state, identity=state.value) for state in ActionState))

    def try_all(connection: sa.Connection) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        for state in ActionState:
            for to in ActionState:
                attempt = connection.begin_nested()
                try:
                    update = sa.update(t.actions).where(t.actions.c.action_id == state.value)
                    connection.execute(update.values(state=to.value))
                    found.add((state.value, to.value))
                except DBAPIError as error:
                    assert "cannot change to this state" in str(error)  # noqa: PT017 - the others are changed
                attempt.rollback()
        return found

    assert database.transact_now(try_all) == legal
    assert states(database) == {state.value: state.value for state in ActionState}


def test_other_columns_of_an_action_can_change_in_every_state(database: Database) -> None:
    save(database, *(action(state.value, state, identity=state.value) for state in ActionState))
    forgotten = sa.update(t.actions).values(content=None, result=None, reason="retention")
    assert database.transact_now(lambda c: c.execute(forgotten).rowcount) == len(ActionState)


@pytest.mark.parametrize("table", ["actions", "action_versions", "action_refusals"])
def test_nothing_is_deleted_from_the_ledger(database: Database, table: str) -> None:
    with_parts(database)
    refused(database, f"DELETE FROM {table}", "stay in the ledger")
    assert database.read(lambda c: c.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar()) == 1


@pytest.mark.parametrize("database_kind", POSTGRESQL)
@pytest.mark.parametrize("table", ["actions CASCADE", "action_versions", "action_refusals"])
def test_the_ledger_cannot_be_truncated(database: Database, table: str) -> None:
    refused(database, f"TRUNCATE {table}", "stay in the ledger")


def test_refusals_never_change(database: Database) -> None:
    with_parts(database)
    for column in t.action_refusals.c:
        value = getattr(refusal(), column.name, "other") if column.name == "at" else "revise"
        refused(database, sa.update(t.action_refusals).values({column.name: value}), "stay in the ledger")


@pytest.mark.parametrize("column", ["action_id", "version", "content_digest", "by", "at", "parameters"])
def test_a_version_never_changes(database: Database, column: str) -> None:
    with_parts(database)
    value = {"version": 2, "at": NOON.replace(hour=1), "parameters": {"amount": 6}}.get(column, "other")
    refused(
        database, sa.update(t.action_versions).values({column: value, "parameters": None} | {column: value}), "stay"
    )


def test_retention_removes_the_parameters_of_a_version(database: Database) -> None:
    with_parts(database)
    database.transact_now(lambda c: c.execute(sa.update(t.action_versions).values(parameters=None)))
    assert database.read(lambda c: c.execute(sa.select(t.action_versions.c.parameters)).scalar_one()) is None
