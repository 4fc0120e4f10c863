"""Find stale executions, which read an artifact that has been replaced or removed since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa

from cairn.core.states import ExecutionState
from cairn.services.paging import Query, Row
from cairn.services.rework.views import StaleInput
from cairn.store import Connection
from cairn.store import tables as t

_C = t.artifact_consumption.c
_A = t.artifacts.c
_E = t.checkpoint_executions.alias("consumer").c
_P = t.checkpoint_executions.alias("producer").c
_R = t.pipeline_runs.c
_S = t.checkpoint_executions.c
RESULTS = (ExecutionState.COMPLETED.value, ExecutionState.AWAITING_COMPLETION_APPROVAL.value)  # states with a result

# Only the dispatch that produced the result counts, and within its own run only earlier checkpoints: a rework also
# reads the artifacts that it replaces, and those made from them.
_READ: Query = (
    sa.select(
        _C.execution_id.label("consumer_id"),
        _A.artifact_record_id,
        _A.artifact_name,
        _A.format,
        _A.checksum,
        _P.execution_id,
        _P.run_id,
        _P.pass_number,
        _P.key,
        _P.ordinal,
        _P.checkpoint_id,
        _P.checkpoint_name,
        _P.archived_by,
        _R.archived_by.label("run_archived_by"),
    )
    .select_from(t.artifact_consumption)
    .join(_E.execution_id.table, (_E.execution_id == _C.execution_id) & (_E.dispatch_number == _C.dispatch_number))
    .join(t.artifacts, _A.artifact_record_id == _C.artifact_record_id)
    .join(_P.execution_id.table, _P.execution_id == _A.execution_id)
    .join(t.pipeline_runs, _R.run_id == _P.run_id)
    .where(
        _E.state.in_(RESULTS),
        _E.archived_by.is_(None),
        sa.or_(_P.run_id != _E.run_id, _P.checkpoint_position < _E.checkpoint_position),
    )
    .order_by(_C.consumed_at, _P.checkpoint_position, _A.artifact_name)
)


def of_executions(connection: Connection, execution_ids: Sequence[str]) -> dict[str, list[StaleInput]]:
    """Stale inputs by execution. Executions without stale inputs are omitted."""
    if not execution_ids:
        return {}
    return _stale(connection, _READ.where(_C.execution_id.in_(execution_ids)))


def of_run(connection: Connection, run_id: str) -> dict[str, list[StaleInput]]:
    return _stale(connection, _READ.where(_E.run_id == run_id))


def _stale(connection: Connection, query: Query) -> dict[str, list[StaleInput]]:
    read = connection.execute(query).all()
    current = _current_executions(connection, {row.run_id for row in read})
    contents = _contents(connection, {row.execution_id for row in current.values()})
    found: defaultdict[str, list[StaleInput]] = defaultdict(list)
    for row in read:
        producer = current.get((row.run_id, row.pass_number, row.key))
        if _is_up_to_date(row, producer, contents):
            continue
        found[row.consumer_id].append(
            StaleInput(
                artifact_record_id=row.artifact_record_id,
                artifact_name=row.artifact_name,
                execution_id=row.execution_id,
                checkpoint_id=row.checkpoint_id,
                checkpoint_name=row.checkpoint_name,
                replaced_by=producer.execution_id if producer is not None and row.run_archived_by is None else None,
            )
        )
    return dict(found)


def _is_up_to_date(row: Row, producer: Row | None, contents: Mapping[str, set[tuple[str, str, str]]]) -> bool:
    """Whether the current artifact has the same content, even if another execution produced it."""
    if producer is None or row.run_archived_by is not None:
        return False
    if producer.execution_id == row.execution_id:
        return True
    return (row.artifact_name, row.format, row.checksum) in contents.get(producer.execution_id, set())


def _current_executions(connection: Connection, run_ids: Iterable[str]) -> dict[tuple[str, int, str], Row]:
    """The completed execution with the current artifacts, by run, pass and checkpoint."""
    query = (
        sa.select(_S.run_id, _S.pass_number, _S.key, _S.execution_id)
        .where(_S.run_id.in_(tuple(run_ids)), _S.state == ExecutionState.COMPLETED.value, _S.archived_by.is_(None))
        .order_by(_S.ordinal)
    )
    return {(row.run_id, row.pass_number, row.key): row for row in connection.execute(query)}


def _contents(connection: Connection, execution_ids: Iterable[str]) -> dict[str, set[tuple[str, str, str]]]:
    query = sa.select(_A.execution_id, _A.artifact_name, _A.format, _A.checksum).where(
        _A.execution_id.in_(tuple(execution_ids)), _A.promoted_to_permanent_at.is_not(None), _A.superseded_at.is_(None)
    )
    found: defaultdict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for row in connection.execute(query):
        found[row.execution_id].add((row.artifact_name, row.format, row.checksum))
    return found
