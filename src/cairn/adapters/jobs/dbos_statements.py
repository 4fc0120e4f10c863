"""Jobs of one kind, enqueued by the very statements that DBOS itself would send.

A lane is enqueued in most transactions that start something. DBOS builds its statements anew each time, which takes
longer than everything else in the transaction; here it is asked once, and its statements are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

import sqlalchemy as sa
from dbos import DBOSClient
from sqlalchemy import event

from cairn.store.prepared_statements import send

Parameters = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PreparedEnqueue:
    """A statement, and where in its parameters the values stand that differ from job to job."""

    sql: str
    parameters: Parameters
    own: Mapping[Any, str]  # by place or name

    def filled(self, values: Mapping[str, Any]) -> Parameters:
        if isinstance(self.parameters, Mapping):
            return {**self.parameters, **{place: values[what] for place, what in self.own.items()}}
        row = list(self.parameters)
        for place, what in self.own.items():
            row[place] = values[what]
        return tuple(row)


class EnqueueStatements:
    def __init__(self, client: DBOSClient, options: Mapping[str, Any]) -> None:
        self._client = client
        self._options = options
        self._statements: tuple[PreparedEnqueue, ...] = ()

    def learn(self, engine: sa.Engine) -> None:
        """Have DBOS enqueue one job, look at what it sends, and take it back."""
        sent: list[tuple[str, Parameters]] = []

        def note(_connection: Any, _cursor: Any, sql: str, parameters: Any, *_: Any) -> None:
            sent.append((sql, parameters))

        job = f"template:{uuid4()}"
        with engine.connect() as connection, connection.begin() as transaction:
            event.listen(connection, "before_cursor_execute", note)
            self._client.enqueue_in_transaction(connection, self._of(job), "", "")
            event.remove(connection, "before_cursor_execute", note)
            transaction.rollback()
        inputs = self._inputs(job, "", "")
        self._statements = tuple(_kept(sql, parameters, job, inputs) for sql, parameters in sent)
        whole = {what for statement in self._statements for what in statement.own.values()}
        if whole != {"job", "inputs", "creator"}:
            raise RuntimeError("this version of DBOS enqueues in a way that Cairn does not know")

    def enqueue(self, connection: sa.Connection, job: str, *arguments: str) -> None:
        """A repeated id is a no-op."""
        values = {"job": job, "inputs": self._inputs(job, *arguments), "creator": str(uuid4())}
        for statement in self._statements:
            send(connection, statement.sql, statement.filled(values))

    def _inputs(self, job: str, *arguments: str) -> str:
        return cast("Any", self._client)._build_enqueue_status(self._of(job), *arguments)[1]["inputs"]  # noqa: SLF001

    def _of(self, job: str) -> Any:
        return {**self._options, "workflow_id": job}


def _kept(sql: str, parameters: Parameters, job: str, inputs: str) -> PreparedEnqueue:
    places = parameters.items() if isinstance(parameters, Mapping) else enumerate(parameters)
    own: dict[Any, str] = {}
    for place, value in places:
        if value == job:
            own[place] = "job"
        elif value == inputs:
            own[place] = "inputs"
        elif _is_uuid(value):
            own[place] = "creator"
    return PreparedEnqueue(sql, parameters, own)


def _is_uuid(value: Any) -> bool:
    """The mark by which DBOS knows its own insert is the only one among the values."""
    return isinstance(value, str) and len(value) == 36 and value.count("-") == 4
