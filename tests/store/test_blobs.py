"""Content is stored once, in chunks, and never returned damaged."""

from __future__ import annotations

import hashlib
import io
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.store import DamagedBlob, Database, MissingBlob, blobs
from cairn.store.blobs import CHUNK, MAX_INLINE
from cairn.store.tables import blob_chunks, pipeline_runs, uploads
from cairn.store.tables import blobs as table
from tests.store.samples import NOON, create_run, make_document

NOISE = random.Random(7).randbytes(CHUNK + 1000)
CONTENTS = {
    "empty": b"",
    "one byte": b"\0",
    "small": b"x" * 511,
    "small text": b"word " * 150,
    "largest inline content": NOISE[:MAX_INLINE],
    "smallest content in chunks": NOISE[: MAX_INLINE + 1],
    "compressible": b'{"a": 1}' * 1000,
    "incompressible": NOISE[:5000],
    "one chunk": b"y" * CHUNK,
    "one byte more": b"y" * (CHUNK + 1),
    "large noise": NOISE * 2,
    "large text": b"line of text\n" * 300_000,
    "incompressible at the start": NOISE[: 70 * 1024] + b"z" * CHUNK,
}


def checksum_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def count(database: Database) -> tuple[int, int]:
    def query(connection: sa.Connection) -> tuple[int, int]:
        found = [
            connection.execute(sa.select(sa.func.count()).select_from(of)).scalar_one() for of in (table, blob_chunks)
        ]
        return found[0], found[1]

    return database.read(query)


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("method", ["bytes", "stream", "file"])
def test_content_is_read_back_unchanged(database: Database, name: str, method: str) -> None:
    content = CONTENTS[name]
    if method == "bytes":
        checksum = database.transact_now(lambda c: blobs.put(c, content))
    elif method == "stream":
        pieces = (content[at : at + 10_007] for at in range(0, len(content), 10_007))
        checksum, size = blobs.put_stream(database, pieces)
        assert size == len(content)
    else:
        checksum, size = blobs.put_file(database, io.BytesIO(content))
        assert size == len(content)
    assert checksum == checksum_of(content)
    assert database.read(lambda c: blobs.read(c, checksum)) == content
    assert database.read(lambda c: blobs.size_of(c, checksum)) == len(content)
    assert b"".join(blobs.stream(database, checksum)) == content
    pieces = database.read(lambda c: list(blobs.open_stream(c, checksum)))
    assert (b"".join(pieces), max(map(len, pieces), default=0) <= CHUNK) == (content, True)
    assert count(database) == (1, 0 if len(content) <= MAX_INLINE else -(-len(content) // CHUNK))


@pytest.mark.parametrize("method", ["bytes", "stream"])
def test_the_same_content_is_stored_once(database: Database, method: str) -> None:
    content = CONTENTS["one byte more"]
    first = database.transact_now(lambda c: blobs.put(c, content))
    if method == "bytes":
        assert database.transact_now(lambda c: blobs.put(c, content)) == first
    else:
        assert blobs.put_stream(database, iter([content])) == (first, len(content))
    assert count(database) == (1, 2)


@pytest.mark.parametrize(
    ("name", "compression"),
    [
        ("small", "none"),
        ("small text", "zlib"),
        ("compressible", "zlib"),
        ("incompressible", "none"),
        ("large text", "zlib"),
    ],
)
def test_compressible_content_is_compressed(database: Database, name: str, compression: str) -> None:
    content = CONTENTS[name]
    database.transact_now(lambda c: blobs.put(c, content))
    data = sa.func.coalesce(table.c.data, blob_chunks.c.data)
    stored = sa.select(table.c.compression, sa.func.sum(sa.func.length(data))).join(blob_chunks, isouter=True)
    found, size = database.read(lambda c: c.execute(stored.group_by(table.c.compression)).one())
    assert found == compression
    assert size < len(content) / 5 if compression == "zlib" else size == len(content)


def test_large_content_is_written_in_short_transactions(database: Database) -> None:
    commits: list[str] = []
    database.fault = commits.append
    blobs.put_stream(database, iter([CONTENTS["large noise"]]))
    chunks = -(-len(CONTENTS["large noise"]) // CHUNK)
    assert commits.count("after_commit") == chunks + 2


# ---- failures ------------------------------------------------------------------------------------------
def test_reading_unknown_content_fails(database: Database) -> None:
    for use in (blobs.read, blobs.open_stream):
        with pytest.raises(MissingBlob, match="abc"):
            database.read(lambda c, u=use: u(c, "abc"))
    with pytest.raises(MissingBlob, match="abc"):
        blobs.stream(database, "abc")
    assert database.read(lambda c: blobs.size_of(c, "abc")) is None


@pytest.mark.parametrize("method", ["bytes", "stream"])
@pytest.mark.parametrize("commits", range(4))
def test_interrupted_content_is_absent_and_can_be_stored_again(database: Database, commits: int, method: str) -> None:
    content = NOISE * 2
    remaining = [commits]

    def crash(point: str) -> None:
        if point == "before_commit":
            remaining[0] -= 1
            if remaining[0] < 0:
                raise OSError("crash")

    database.fault = crash
    with pytest.raises(OSError, match="crash"):
        blobs.put_stream(database, iter([content]))
    database.fault = lambda _: None
    with pytest.raises(MissingBlob):
        database.read(lambda c: blobs.read(c, checksum_of(content)))
    if method == "bytes":
        database.transact_now(lambda c: blobs.put(c, content))
    else:
        blobs.put_stream(database, iter([content]))
    assert database.read(lambda c: blobs.read(c, checksum_of(content))) == content
    assert count(database) == (1, 3)


def test_a_failed_stream_leaves_nothing(database: Database) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"x"
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        blobs.put_stream(database, pieces())
    assert count(database) == (0, 0)


CHANGED = sa.update(blob_chunks).values(data=b"damage")
MISSING = sa.delete(blob_chunks).where(blob_chunks.c.number == 0)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        pytest.param("small", sa.update(table).values(data=b"damage"), id="small changed"),
        pytest.param("small text", sa.update(table).values(data=b"damage"), id="small text changed"),
        pytest.param("small", sa.update(table).values(data=None), id="small missing"),
        pytest.param("compressible", CHANGED, id="compressible changed"),
        pytest.param("compressible", MISSING, id="compressible missing"),
        pytest.param("large noise", CHANGED, id="large noise changed"),
        pytest.param("large noise", MISSING, id="large noise missing"),
    ],
)
def test_damaged_content_is_never_returned(database: Database, name: str, damage: Any) -> None:
    checksum = database.transact_now(lambda c: blobs.put(c, CONTENTS[name]))
    database.transact_now(lambda c: c.execute(damage))
    with pytest.raises(DamagedBlob, match=checksum):
        database.read(lambda c: blobs.read(c, checksum))
    with pytest.raises(DamagedBlob):
        list(blobs.stream(database, checksum))


# ---- clean-up ------------------------------------------------------------------------------------------
def test_unreferenced_content_is_deleted(database: Database) -> None:
    old = datetime.now(UTC) - timedelta(days=2)
    referenced = database.transact_now(lambda c: blobs.put(c, b"input", old))
    unreferenced = database.transact_now(lambda c: blobs.put(c, b"loose" * 1000, old))
    recent = database.transact_now(lambda c: blobs.put(c, b"fresh"))
    create_run(database, make_document("a"), input_checksum=referenced)
    assert database.transact_now(lambda c: blobs.sweep(c, old + timedelta(days=1))) == 1
    checksums = (referenced, unreferenced, recent)
    assert [database.read(lambda c, key=key: blobs.size_of(c, key)) for key in checksums] == [5, None, 5]
    assert count(database) == (2, 0)
    assert database.transact_now(lambda c: blobs.sweep(c, old + timedelta(days=1))) == 0


def test_incomplete_content_is_deleted(database: Database) -> None:
    def crash(point: str) -> None:
        if point == "after_commit" and count(database)[1]:
            raise OSError("crash")

    database.fault = crash
    with pytest.raises(OSError, match="crash"):
        blobs.put_stream(database, iter([NOISE]))
    database.fault = lambda _: None
    later = datetime.now(UTC) + timedelta(hours=1)
    assert database.transact_now(lambda c: blobs.sweep(c, later)) == 1
    assert count(database) == (0, 0)


def test_recently_stored_content_is_not_deleted(database: Database) -> None:
    """The row that references it may not be committed yet."""
    old = datetime.now(UTC) - timedelta(days=2)
    database.transact_now(lambda c: blobs.put(c, b"x", old))
    database.transact_now(lambda c: blobs.put(c, b"x"))
    assert database.transact_now(lambda c: blobs.sweep(c, old + timedelta(days=1))) == 0


def test_the_sweep_continues_where_it_stopped(database: Database) -> None:
    for number in range(5):
        database.transact_now(lambda c, n=number: blobs.put(c, bytes([n]), NOON))
    later = NOON + timedelta(days=1)
    assert [database.transact_now(lambda c: blobs.sweep(c, later, limit=2)) for _ in range(4)] == [2, 2, 1, 0]


def test_the_sweep_knows_every_reference() -> None:
    references = {
        f"{column.table.name}.{column.name}"
        for other in table.metadata.sorted_tables
        for column in other.c
        if any(key.column is table.c.checksum for key in column.foreign_keys)
    }
    assert references == {
        f"{blob_chunks.name}.checksum",
        f"{pipeline_runs.name}.input_checksum",
        f"{uploads.name}.checksum",
        "artifacts.checksum",
        "approval_decisions.answer_checksum",
        "checkpoint_executions.answer_checksum",
        "checkpoint_executions.context_checksum",
        "definition_scripts.checksum",
        "execution_calls.inputs_checksum",
    }
