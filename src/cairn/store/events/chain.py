"""The trail: events sealed into chains, one for each run, one for each pipeline, and one for all else."""

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

GENESIS = ""  # what stands before the first event of a chain
GLOBAL = "global"  # the chain of what belongs to no pipeline
NO_PIPELINE = ""
IDS = ("pipeline_id", "run_id", "execution_id", "checkpoint_id", "approval_id", "rollback_id")

# The metadata comes in its canonical spelling: it is hashed and stored as the same bytes.
_INSERT = insert_into(events, without=("id",), types={"metadata": Text()})


class EventRecord(NamedTuple):
    """What is to be told; its place in a chain comes from `seal`."""

    type: str
    metadata: Mapping[str, Any]
    execution_id: str | None = None
    checkpoint_id: str | None = None
    approval_id: str | None = None
    rollback_id: str | None = None
    name: str | None = None  # of the checkpoint, for the description


class Chain(NamedTuple):
    """Where a chain of events stands."""

    id: str  # of the run or the pipeline, or GLOBAL
    pipeline_id: str
    run_id: str | None
    seq: int
    head: str


def seal(chain: Chain, told: Iterable[EventRecord], actor: str, at: datetime) -> tuple[Chain, list[dict[str, Any]]]:
    """Rows for the events, each bound to the one before it, and where the chain stands then."""
    seq, head, moment = chain.seq, chain.head, as_text(at)
    rows: list[dict[str, Any]] = []
    for event in told:
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
        head = hash_of(row, moment, metadata)
        row["hash"] = head
        row["event_id"] = event_id_of(head)
        rows.append(row)
    return Chain(chain.id, chain.pipeline_id, chain.run_id, seq, head), rows


def hash_of(row: Mapping[str, Any], moment: str, metadata: bytes) -> str:
    """SHA-256 of the canonical JSON of everything that the row says, with the hash before it."""
    said = [
        row["previous_hash"],
        row["chain"],
        row["seq"],
        row["event_type"],
        moment,
        row["actor"],
        [row[name] for name in IDS],
        row["description"],
    ]
    # A list of texts and numbers is canonical as orjson writes it.
    return hashlib.sha256(orjson.dumps(said)[:-1] + b"," + metadata + b"]").hexdigest()


def event_id_of(hash: str) -> str:
    """The first half of the hash, spelled as a UUID."""
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
    """Tell of something that happened to a pipeline; `name` is the checkpoint's. Returns the event's id."""
    told = EventRecord(type, metadata or {}, checkpoint_id=checkpoint_id, name=name)
    c = pipelines.c
    row = _take(connection, c.pipeline_id, pipeline_id, c.event_seq, c.event_head)
    chain = Chain(pipeline_id, pipeline_id, None, row.event_seq, row.event_head)
    sealed, rows = seal(chain, [told], actor, at)
    connection.execute(
        sa.update(pipelines).where(c.pipeline_id == pipeline_id).values(event_seq=sealed.seq, event_head=sealed.head)
    )
    insert(connection, rows)
    return rows[0]["event_id"]


def append_global_event(
    connection: sa.Connection, type: str, actor: str, at: datetime, metadata: Mapping[str, Any] | None = None
) -> str:
    """Tell of something that belongs to no pipeline, such as a change of users or rules. Returns the event's id."""
    row = _take(connection, chains.c.chain, GLOBAL, chains.c.event_seq, chains.c.event_head)
    chain = Chain(GLOBAL, NO_PIPELINE, None, row.event_seq, row.event_head)
    sealed, rows = seal(chain, [EventRecord(type, metadata or {})], actor, at)
    connection.execute(
        sa.update(chains).where(chains.c.chain == GLOBAL).values(event_seq=sealed.seq, event_head=sealed.head)
    )
    insert(connection, rows)
    return rows[0]["event_id"]


def append_run_event(connection: sa.Connection, run_id: str, told: EventRecord, actor: str, at: datetime) -> str:
    """Tell of something that happened to a run beside its commands. Whoever holds the run loaded loads it again."""
    c = pipeline_runs.c
    row = _take(connection, c.run_id, run_id, c.pipeline_id, c.event_seq, c.event_head, c.revision)
    sealed, rows = seal(Chain(run_id, row.pipeline_id, run_id, row.event_seq, row.event_head), [told], actor, at)
    connection.execute(
        sa.update(pipeline_runs)
        .where(c.run_id == run_id)
        .values(event_seq=sealed.seq, event_head=sealed.head, revision=row.revision + 1)
    )
    insert(connection, rows)
    return rows[0]["event_id"]


def _take(connection: sa.Connection, key: sa.Column[Any], id: str, *columns: sa.Column[Any]) -> Any:
    """The row as it stands; on PostgreSQL nobody else changes it before the transaction ends."""
    return connection.execute(sa.select(*columns).where(key == id).with_for_update(key_share=True)).one()
