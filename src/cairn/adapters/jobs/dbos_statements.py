"""Enqueue jobs with the SQL statements that DBOS itself sends, captured once.

Most transactions that start something enqueue a lane. DBOS rebuilds its statements for each job, which takes longer
than the rest of the transaction. See docs/decisions/0021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

import sqlalchemy as sa
from dbos import DBOSClient
from sqlalchemy import event

from cairn.store.prepared_statements import execute_raw

Parameters = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PreparedEnqueue:
    """A captured statement, and the parameters that vary from job to job."""

    sql: str
    parameters: Parameters
    variables: Mapping[Any, str]  # position or name of a parameter: "job", "inputs" or "creator"

    def with_values(self, values: Mapping[str, Any]) -> Parameters:
        if isinstance(self.parameters, Mapping):
            return {**self.parameters, **{key: values[name] for key, name in self.variables.items()}}
        row = list(self.parameters)
        for key, name in self.variables.items():
            row[key] = values[name]
        return tuple(row)


class EnqueueStatements:
    def __init__(self, client: DBOSClient, options: Mapping[str, Any]) -> None:
        self._client = client
        self._options = options
        self._statements: tuple[PreparedEnqueue, ...] = ()

    def prepare(self, engine: sa.Engine) -> None:
        """Capture the statements of a job that DBOS enqueues in a transaction that is rolled back."""
        sent: list[tuple[str, Parameters]] = []

        def record_statement(_connection: Any, _cursor: Any, sql: str, parameters: Any, *_: Any) -> None:
            sent.append((sql, parameters))

        job = f"template:{uuid4()}"
        with engine.connect() as connection, connection.begin() as transaction:
            event.listen(connection, "before_cursor_execute", record_statement)
            self._client.enqueue_in_transaction(connection, self._job_options(job), "", "")
            event.remove(connection, "before_cursor_execute", record_statement)
            transaction.rollback()
        inputs = self._inputs(job, "", "")
        self._statements = tuple(_prepared_enqueue(sql, parameters, job, inputs) for sql, parameters in sent)
        variable_names = {name for statement in self._statements for name in statement.variables.values()}
        if variable_names != {"job", "inputs", "creator"}:
            raise RuntimeError("Cairn does not support this version of DBOS: its enqueue statements have changed.")

    def enqueue(self, connection: sa.Connection, job: str, *arguments: str) -> None:
        """Enqueue a job. Does nothing if its id exists."""
        values = {"job": job, "inputs": self._inputs(job, *arguments), "creator": str(uuid4())}
        for statement in self._statements:
            execute_raw(connection, statement.sql, statement.with_values(values))

    def _inputs(self, job: str, *arguments: str) -> str:
        return cast("Any", self._client)._build_enqueue_status(self._job_options(job), *arguments)[1]["inputs"]  # noqa: SLF001

    def _job_options(self, job: str) -> Any:
        return {**self._options, "workflow_id": job}


def _prepared_enqueue(sql: str, parameters: Parameters, job: str, inputs: str) -> PreparedEnqueue:
    pairs = parameters.items() if isinstance(parameters, Mapping) else enumerate(parameters)
    variables: dict[Any, str] = {}
    for key, value in pairs:
        if value == job:
            variables[key] = "job"
        elif value == inputs:
            variables[key] = "inputs"
        elif _is_uuid(value):
            variables[key] = "creator"
    return PreparedEnqueue(sql, parameters, variables)


def _is_uuid(value: Any) -> bool:
    """The id with which DBOS recognizes its own insert is the only UUID among the values."""
    return isinstance(value, str) and len(value) == 36 and value.count("-") == 4
