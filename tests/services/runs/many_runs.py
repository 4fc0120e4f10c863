"""Insert many runs directly into the tables."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import sqlalchemy as sa

from cairn.store import Database
from cairn.store import tables as t

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def id_for(of: str) -> str:
    return str(uuid5(NAMESPACE_OID, of))


def insert_runs(database: Database, pipelines: int, runs_each: int) -> list[str]:
    """Insert pipelines whose runs each have one execution waiting for approval. Returns the pipeline ids."""
    names = [id_for(f"pipeline {n}") for n in range(pipelines)]

    def body(connection: sa.Connection) -> None:
        connection.execute(sa.insert(t.pipelines), [_pipeline(own, n, runs_each) for n, own in enumerate(names)])
        connection.execute(sa.insert(t.checkpoint_definitions), [_checkpoint(own) for own in names])
        places = [(own, version) for version in range(1, runs_each + 1) for own in names]
        connection.execute(sa.insert(t.pipeline_runs), [_run(own, v, n) for n, (own, v) in enumerate(places)])
        connection.execute(
            sa.insert(t.checkpoint_executions), [_execution(own, v, n) for n, (own, v) in enumerate(places)]
        )
        connection.execute(sa.insert(t.model_calls), [_call(own, v, n) for n, (own, v) in enumerate(places)])
        connection.execute(sa.insert(t.approvals), [_approval(own, v, n) for n, (own, v) in enumerate(places)])

    database.transact_now(body)
    return names


def at(minutes: int) -> datetime:
    return BEGIN + timedelta(minutes=minutes)


def _complete_row(table: sa.Table, values: dict[str, Any]) -> dict[str, Any]:
    """Return a complete row. Missing columns are null, or empty if they can't be."""
    plain: dict[type[Any], Any] = {int: 0, bool: False, float: 0.0}
    row: dict[str, Any] = {}
    for column in table.c:
        if column.name in values:
            row[column.name] = values[column.name]
        elif column.nullable:
            row[column.name] = None
        else:
            try:
                row[column.name] = plain.get(column.type.python_type, "")
            except NotImplementedError:
                row[column.name] = []
    return row


def _pipeline(id: str, number: int, runs: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "pipeline_id": id,
        "pipeline_name": f"Pipeline {number}",
        "pipeline_definition_version": 1,
        "revision": 1,
        "checkpoint_order": [id_for(f"checkpoint of {id}")],
        "last_run_version": runs,
        "created_at": at(number),
        "updated_at": at(number),
        "created_by": "admin",
    }
    return _complete_row(t.pipelines, values)


def _checkpoint(pipeline_id: str) -> dict[str, Any]:
    values: dict[str, Any] = {
        "checkpoint_id": id_for(f"checkpoint of {pipeline_id}"),
        "pipeline_id": pipeline_id,
        "key": "goals",
        "checkpoint_name": "Goals",
        "created_at": BEGIN,
        "updated_at": BEGIN,
    }
    return _complete_row(t.checkpoint_definitions, values)


def _run(pipeline_id: str, version: int, number: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "run_id": id_for(f"run {pipeline_id} {version}"),
        "pipeline_id": pipeline_id,
        "pipeline_definition_version": 1,
        "definition_revision": 1,
        "run_version": version,
        "status": "in_progress",
        "pass_number": 1,
        "total_checkpoints": 1,
        "created_by": "admin",
        "created_at": at(number),
        "started_at": at(number),
        "rollbacks": [],
    }
    return _complete_row(t.pipeline_runs, values)


def _execution(pipeline_id: str, version: int, number: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "execution_id": id_for(f"execution {pipeline_id} {version}"),
        "run_id": id_for(f"run {pipeline_id} {version}"),
        "checkpoint_id": id_for(f"checkpoint of {pipeline_id}"),
        "key": "goals",
        "checkpoint_name": "Goals",
        "folder": "checkpoint_0_goals",
        "pass_number": 1,
        "ordinal": 1,
        "definition_revision": 1,
        "status": "waiting_approval_to_start",
        "state": "waiting_approval_to_start",
        "attempt_number": 1,
        "max_attempts": 1,
        "outputs": [],
        "created_at": at(number),
    }
    return _complete_row(t.checkpoint_executions, values)


def _call(pipeline_id: str, version: int, number: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "call_id": number + 1,
        "pipeline_id": pipeline_id,
        "run_id": id_for(f"run {pipeline_id} {version}"),
        "execution_id": id_for(f"execution {pipeline_id} {version}"),
        "checkpoint_id": id_for(f"checkpoint of {pipeline_id}"),
        "checkpoint_key": "goals",
        "number": 1,
        "purpose": "work",
        "model": "fake:large",
        "input_tokens": number,
        "cost_nano_usd": number if number % 2 else None,
        "day": at(number).date().isoformat(),
        "called_at": at(number),
    }
    return _complete_row(t.model_calls, values)


def _approval(pipeline_id: str, version: int, number: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "approval_id": id_for(f"approval {pipeline_id} {version}"),
        "run_id": id_for(f"run {pipeline_id} {version}"),
        "execution_id": id_for(f"execution {pipeline_id} {version}"),
        "pipeline_id": pipeline_id,
        "kind": "start",
        "status": "pending",
        "digest": "d",
        "required_approvals": 2 if number % 5 == 0 else 1,
        "requested_at": at(number),
        "expires_at": at(100_000 - number // 8) if number % 2 else None,  # four at a time
    }
    return _complete_row(t.approvals, values)
