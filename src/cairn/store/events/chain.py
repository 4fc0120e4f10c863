"""The audit trail: hash chains of events, one per run, one per pipeline, and a global one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa

from cairn.documents import canonical
from cairn.store.column_types import Text, as_text
from cairn.store.events.descriptions import describe
from cairn.store.prepared_statements import insert_into
from cairn.store.tables import chains, events, pipeline_runs, pipelines

GENESIS = ""  # the previous hash of the first event
GLOBAL = "global"  # the chain of events that belong to no pipeline
NO_PIPELINE = ""
IDS = ("pipeline_id", "run_id", "execution_id", "checkpoint_id", "approval_id", "rollback_id")

# The metadata is canonical JSON: the stored bytes are the hashed bytes.
_INSERT = insert_into(events, without=("id",), types={"metadata": Text()})


class EventRecord(NamedTuple):
    """An event before `seal` adds it to a chain."""

    type: str
    metadata: Mapping[str, Any]
    execution_id: str | None = None
    checkpoint_id: str | None = None
    approval_id: str | None = None
    rollback_id: str | None = None
    name: str | None = None  # of the checkpoint, for the description


class Chain(NamedTuple):
    """The end of a chain of events."""

    id: str  # of the run or the pipeline, or GLOBAL
    pipeline_id: str
    run_id: str | None
    seq: int
    head: str


def seal(chain: Chain, records: Iterable[EventRecord], actor: str, at: datetime) -> tuple[Chain, list[dict[str, Any]]]:
    """Return the new end of the chain and the rows of the events, each with the hash of the event before it."""
    seq, head, timestamp = chain.seq, chain.head, as_text(at)
    rows: list[dict[str, Any]] = []
    for event in records:
        seq += 1
        metadata = canonical(dict(event.metadata))
        row: dict[str, Any] = {
            "chain": chain.id,
            "seq": seq,
            "event_type": event.type,
            "pipeline_id": chain.pipeline_id,
            "run_id": chain.run_id,
            "execution_id": event.execution_id,
            "checkpoint_id": event.checkpoint_id,
            "approval_id": event.approval_id,
            "rollback_id": event.rollback_id,
            "timestamp": at,
            "actor": actor,
            "description": describe(event.type, event.name, event.metadata),
            "metadata": metadata.decode(),
            "previous_hash": head,
        }
        head = hash_of(row, timestamp, metadata)
        row["hash"] = head
        row["event_id"] = event_id_of(head)
        rows.append(row)
    return Chain(chain.id, chain.pipeline_id, chain.run_id, seq, head), rows


def hash_of(row: Mapping[str, Any], timestamp: str, metadata: bytes) -> str:
    """Return the SHA-256 of the row's fields and the previous hash, as canonical JSON."""
    fields = [
        row["previous_hash"],
        row["chain"],
        row["seq"],
        row["event_type"],
        timestamp,
        row["actor"],
        [row[name] for name in IDS],
        row["description"],
    ]
    # orjson's output for lists of strings and numbers is canonical.
    return hashlib.sha256(orjson.dumps(fields)[:-1] + b"," + metadata + b"]").hexdigest()


def event_id_of(hash: str) -> str:
    """Return the first half of the hash in the form of a UUID."""
    return f"{hash[:8]}-{hash[8:12]}-{hash[12:16]}-{hash[16:20]}-{hash[20:32]}"


def insert(connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
    if rows:
        _INSERT.run_many(connection, rows)


def append_pipeline_event(
    connection: sa.Connection,
    pipeline_id: str,
    type: str,
    actor: str,
    at: datetime,
    metadata: Mapping[str, Any] | None = None,
    *,
    checkpoint_id: str | None = None,
    name: str | None = None,
) -> str:
    """Append an event of a pipeline and return its id. `name`: the name of the checkpoint."""
    record = EventRecord(type, metadata or {}, checkpoint_id=checkpoint_id, name=name)
    c = pipelines.c
    row = _lock_row(connection, c.pipeline_id, pipeline_id, c.event_seq, c.event_head)
    chain = Chain(pipeline_id, pipeline_id, None, row.event_seq, row.event_head)
    sealed, rows = seal(chain, [record], actor, at)
    connection.execute(
        sa.update(pipelines).where(c.pipeline_id == pipeline_id).values(event_seq=sealed.seq, event_head=sealed.head)
    )
    insert(connection, rows)
    return rows[0]["event_id"]


def append_global_event(
    connection: sa.Connection, type: str, actor: str, at: datetime, metadata: Mapping[str, Any] | None = None
) -> str:
    """Append an event that belongs to no pipeline, such as a change of users or rules. Return its id."""
    row = _lock_row(connection, chains.c.chain, GLOBAL, chains.c.event_seq, chains.c.event_head)
    chain = Chain(GLOBAL, NO_PIPELINE, None, row.event_seq, row.event_head)
    sealed, rows = seal(chain, [EventRecord(type, metadata or {})], actor, at)
    connection.execute(
        sa.update(chains).where(chains.c.chain == GLOBAL).values(event_seq=sealed.seq, event_head=sealed.head)
    )
    insert(connection, rows)
    return rows[0]["event_id"]


def append_run_event(connection: sa.Connection, run_id: str, record: EventRecord, actor: str, at: datetime) -> str:
    """Append an event of a run that isn't caused by a command, and return its id. Loaded copies of the run go stale."""
    c = pipeline_runs.c
    row = _lock_row(connection, c.run_id, run_id, c.pipeline_id, c.event_seq, c.event_head, c.revision)
    sealed, rows = seal(Chain(run_id, row.pipeline_id, run_id, row.event_seq, row.event_head), [record], actor, at)
    connection.execute(
        sa.update(pipeline_runs)
        .where(c.run_id == run_id)
        .values(event_seq=sealed.seq, event_head=sealed.head, revision=row.revision + 1)
    )
    insert(connection, rows)
    return rows[0]["event_id"]


def _lock_row(connection: sa.Connection, key: sa.Column[Any], id: str, *columns: sa.Column[Any]) -> Any:
    """Read the row and lock it until the transaction ends. SQLite has only one writer and needs no lock."""
    return connection.execute(sa.select(*columns).where(key == id).with_for_update(key_share=True)).one()
