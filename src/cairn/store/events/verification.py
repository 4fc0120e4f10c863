"""Verification of the audit trail: every event is present, unchanged and in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, cast

import sqlalchemy as sa

from cairn.store.column_types import Text, as_text
from cairn.store.events.chain import GENESIS, event_id_of, hash_of
from cairn.store.tables import chains, events, pipeline_runs, pipelines

_BATCH_SIZE = 1000


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """An event that is missing, changed or out of order."""

    chain: str
    seq: int
    reason: str


@dataclass(frozen=True, slots=True)
class VerificationResult:
    chains: int
    events: int
    broken: tuple[BrokenLink, ...]

    @property
    def is_valid(self) -> bool:
        return not self.broken


def verify(connection: sa.Connection, chain: str | None = None) -> VerificationResult:
    """Verify the chain of a run, of a pipeline or `global`, or all chains."""
    ends = _ends(connection, chain)
    broken: list[BrokenLink] = []
    chains = count = 0
    for chain_id, rows in groupby(_rows(connection, chain), itemgetter("chain")):
        chains += 1
        seq, head = 0, GENESIS
        for row in rows:
            count += 1
            broken.extend(BrokenLink(chain_id, row["seq"], reason) for reason in _errors(row, seq, head))
            seq, head = row["seq"], row["hash"]
        broken.extend(_end_errors(chain_id, ends.pop(chain_id, None), seq, head))
    for chain_id, end in ends.items():  # chains without any event
        chains += 1
        broken.extend(_end_errors(chain_id, end, 0, GENESIS))
    return VerificationResult(chains, count, tuple(broken))


def _rows(connection: sa.Connection, chain: str | None) -> Iterator[sa.RowMapping]:
    """Read events as they are stored, with the metadata as raw text."""
    raw = sa.type_coerce(events.c["metadata"], Text()).label("metadata")
    query: sa.Select[Any] = sa.select(*(raw if column.name == "metadata" else column for column in events.c))
    if chain is not None:
        query = query.where(events.c.chain == chain)
    query = query.order_by(events.c.chain, events.c.seq)
    return iter(connection.execute(query, execution_options={"yield_per": _BATCH_SIZE}).mappings())


def _ends(connection: sa.Connection, chain: str | None) -> dict[str, tuple[int, str]]:
    """Read the end of each chain, as recorded with its run or pipeline, or in `chains`."""
    found: dict[str, tuple[int, str]] = {}
    keys = ((pipeline_runs, "run_id"), (pipelines, "pipeline_id"), (chains, "chain"))
    for table, key in ((table, table.c[name]) for table, name in keys):
        query = sa.select(key, table.c.event_seq, table.c.event_head).where(table.c.event_seq > 0)
        if chain is not None:
            query = query.where(key == chain)
        found |= {row[0]: (row[1], row[2]) for row in connection.execute(query)}
    return found


def _errors(row: sa.RowMapping, seq: int, head: str) -> Iterator[str]:
    if row["seq"] != seq + 1:
        yield f"{row['seq'] - seq - 1} events before it are missing"
    elif row["previous_hash"] != head:
        yield "it does not follow the event before it"
    if row["hash"] != hash_of(cast("Mapping[str, Any]", row), as_text(row["timestamp"]), row["metadata"].encode()):
        yield "it was changed after it was written"
    elif row["event_id"] != event_id_of(row["hash"]):
        yield "its id was changed after it was written"


def _end_errors(chain: str, end: tuple[int, str] | None, seq: int, head: str) -> Iterator[BrokenLink]:
    """Compare the end of a chain with the recorded end. There is no record if the run no longer exists."""
    if end is None or end == (seq, head):
        return
    if end[0] > seq:
        yield BrokenLink(chain, seq + 1, f"the last {end[0] - seq} events are missing")
    else:
        yield BrokenLink(chain, seq, "it was not written by Cairn")
