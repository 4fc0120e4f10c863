"""Actions in the ledger, without the runs that proposed them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from cairn.core.action import Action
from cairn.store import Database
from cairn.store import tables as t
from cairn.store.actions import ledger

DETAILS: dict[str, Any] = {
    "pipeline_id": "pipeline",
    "summary": "Transfer 5",
    "parameters": {"amount": 5},
    "content": {"amount": 5},
    "facts": {},
    "reasoning": "",
    "risk_reasons": [],
}


def insert(connection: sa.Connection, *actions: Action) -> None:
    for each in actions:
        ledger.insert_action(connection, each, DETAILS)


def save(database: Database, *actions: Action) -> None:
    database.transact_now(lambda c: insert(c, *actions))


def load(database: Database, action_id: str = "new") -> Action:
    return database.read(lambda c: ledger.load_action(c, action_id))


def change(database: Database, before: Action, after: Action, **details: Any) -> None:
    database.transact_now(lambda c: ledger.save_action(c, before, after, **details))


def states(database: Database) -> dict[str, str]:
    a = t.actions.c
    return {
        row.action_id: row.state for row in database.read(lambda c: c.execute(sa.select(a.action_id, a.state)).all())
    }
