"""Queries of events, for lists, streams and the verification of chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from cairn.services.engine.event_bus import ChangeHint
from cairn.services.events.views import BrokenLink, ChainVerification, Event, EventPage
from cairn.services.paging import Row, SortOrder, page
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.column_types import Text
from cairn.store.errors import NotFound
from cairn.store.events.chain import NO_PIPELINE
from cairn.store.events.verification import verify
from cairn.store.prepared_statements import PreparedQuery

V, E = t.events.c, t.checkpoint_executions.c
_NEWEST = SortOrder((V.id,), newest_first=True)


def list_events(connection: Connection, event_filter: EventFilter, limit: int, cursor: str | None) -> EventPage:
    conditions: list[sa.ColumnElement[bool]] = []
    if event_filter.run_id is not None:
        conditions.append(V.chain == event_filter.run_id)  # a run's events are one chain
    if event_filter.pipeline_id is not None:
        conditions.append(V.pipeline_id == event_filter.pipeline_id)
    if event_filter.is_global:
        conditions.append(V.pipeline_id == NO_PIPELINE)
    if event_filter.execution_id is not None:
        conditions.append(V.execution_id == event_filter.execution_id)
        query = sa.select(E.run_id).where(E.execution_id == event_filter.execution_id)
        if (run_id := connection.execute(query).scalar_one_or_none()) is not None:
            conditions.append(V.chain == run_id)  # indexed, unlike the execution id
    if event_filter.types:
        conditions.append(V.event_type.in_(event_filter.types))
    if event_filter.since is not None:
        conditions.append(V.timestamp >= event_filter.since)
    if event_filter.until is not None:
        conditions.append(V.timestamp < event_filter.until)
    found = page(connection, sa.select(t.events).where(*conditions), _NEWEST, limit, cursor)
    return EventPage(items=[event(row) for row in found.rows], next_cursor=found.next_cursor)


def event(row: Row) -> Event:
    return Event(
        event_id=row.event_id,
        event_type=row.event_type,
        pipeline_id=row.pipeline_id or None,
        run_id=row.run_id,
        execution_id=row.execution_id,
        checkpoint_id=row.checkpoint_id,
        approval_id=row.approval_id,
        rollback_id=row.rollback_id,
        timestamp=row.timestamp,
        actor=row.actor,
        description=row.description,
        metadata=row.metadata,
        seq=row.seq,
        hash=row.hash,
    )


def verify_events(connection: Connection, pipeline_id: str | None, run_id: str | None) -> ChainVerification:
    """Verify the chain of a run, the chains of a pipeline and its runs, or all chains."""
    if run_id is not None:
        chains: Sequence[str] | None = [existing_id(connection, t.pipeline_runs.c.run_id, "run", run_id)]
    elif pipeline_id is not None:
        own = existing_id(connection, t.pipelines.c.pipeline_id, "pipeline", pipeline_id)
        r = t.pipeline_runs.c
        chains = [own, *connection.execute(sa.select(r.run_id).where(r.pipeline_id == pipeline_id)).scalars()]
    else:
        chains = None
    results = [verify(connection, chain) for chain in chains] if chains is not None else [verify(connection, None)]
    broken = [
        BrokenLink(chain=link.chain, seq=link.seq, reason=link.reason) for result in results for link in result.broken
    ]
    return ChainVerification(
        is_valid=not broken,
        chains=sum(result.chains for result in results),
        events=sum(result.events for result in results),
        broken=broken,
    )


def existing_id(connection: Connection, column: sa.ColumnElement[str], resource: str, id: str) -> str:
    """Return the id. Raise NotFound if it doesn't exist."""
    if connection.execute(sa.select(column).where(column == id)).first() is None:
        raise NotFound(resource, id)
    return id


# Streams
_AFTER = PreparedQuery(  # each stream runs it after each change
    sa.select(t.events)
    .where(V.chain == sa.bindparam("run_id", type_=Text()), V.seq > sa.bindparam("seq", type_=sa.Integer()))
    .order_by(V.seq)
    .limit(sa.bindparam("limit", type_=sa.Integer()))
)


def events_after(connection: Connection, run_id: str, seq: int, limit: int) -> list[Event]:
    return [event(row) for row in _AFTER.all(connection, {"run_id": run_id, "seq": seq, "limit": limit})]


def last_seq_of_run(connection: Connection, run_id: str) -> int:
    """The sequence number of the run's newest event."""
    return connection.execute(sa.select(sa.func.max(V.seq)).where(V.chain == run_id)).scalar_one() or 0


def last_event(connection: Connection) -> int:
    return connection.execute(sa.select(sa.func.max(V.id))).scalar_one() or 0


def changes_after(connection: Connection, last: int, limit: int) -> tuple[int, list[ChangeHint]]:
    query = sa.select(V.id, V.pipeline_id, V.run_id, V.event_type).where(V.id > last).order_by(V.id).limit(limit)
    rows = connection.execute(query).all()
    changes = [ChangeHint(row.pipeline_id or None, row.run_id, row.event_type) for row in rows]
    return (rows[-1].id if rows else last), changes


@dataclass(frozen=True, slots=True)
class EventFilter:
    pipeline_id: str | None = None
    run_id: str | None = None
    execution_id: str | None = None
    types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    is_global: bool = False  # only events that belong to no pipeline


class EventQueries:
    """Each method reads one snapshot of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_events(self, event_filter: EventFilter, limit: int, cursor: str | None) -> EventPage:
        return self._database.read(lambda c: list_events(c, event_filter, limit, cursor))

    def verify_chains(self, pipeline_id: str | None = None, run_id: str | None = None) -> ChainVerification:
        """Verify the chain of a run, those of a pipeline and its runs, or all of them."""
        return self._database.read(lambda c: verify_events(c, pipeline_id, run_id))

    def last_event(self) -> int:
        return self._database.read(last_event)

    def changes_after(self, last: int, limit: int) -> tuple[int, list[ChangeHint]]:
        return self._database.read(lambda c: changes_after(c, last, limit))
