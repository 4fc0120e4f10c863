"""Content-addressed storage: small content in its row, large content in chunks, compressed if that saves space."""

from __future__ import annotations

import hashlib
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, cast

import sqlalchemy as sa

from cairn.store.database.database import Database
from cairn.store.errors import DamagedBlob, MissingBlob
from cairn.store.prepared_statements import insert_once
from cairn.store.tables import blob_chunks, blobs, metadata

CHUNK = 1024 * 1024
MIN_COMPRESSED = 512  # bytes; smaller content is not compressed
MAX_INLINE = 800  # bytes; a row of this size fits into one SQLite page
SAMPLE = 64 * 1024  # bytes at the start of the content that are compressed to see whether it saves space
GRACE_PERIOD = timedelta(hours=1)  # newer content may not be referenced yet
_IN_MEMORY = 4 * 1024 * 1024


_INSERT = insert_once(blobs)
_INSERT_CHUNK = insert_once(blob_chunks)


# In the caller's transaction
def put(connection: sa.Connection, content: bytes, at: datetime | None = None) -> str:
    """Store content unless it is already stored, and return its checksum."""
    checksum = hashlib.sha256(content).hexdigest()
    _put(connection, checksum, content, at or datetime.now(UTC))
    return checksum


def put_with_checksum(connection: sa.Connection, checksum: str, content: bytes, at: datetime) -> None:
    """Store content and verify that it has this checksum."""
    if put(connection, content, at) != checksum:
        raise DamagedBlob(f"The content doesn't match the checksum {checksum}.")


def _put(connection: sa.Connection, checksum: str, content: bytes, at: datetime) -> None:
    pieces = [content[start : start + CHUNK] for start in range(0, len(content), CHUNK)]
    compression = _choose_compression(pieces[0]) if pieces else "none"
    data = _compress(content, compression) if 0 < len(content) <= MAX_INLINE else None
    if _claim(connection, checksum, len(content), compression, at, complete=True, data=data):
        for number, piece in enumerate(pieces):
            _put_chunk(connection, checksum, number, _compress(piece, compression))


def _claim(
    connection: sa.Connection,
    checksum: str,
    size: int,
    compression: str,
    at: datetime,
    *,
    complete: bool,
    data: bytes | None = None,
) -> bool:
    """Insert the row of the content. Return True if its chunks still have to be written."""
    row = {
        "checksum": checksum,
        "size": size,
        "chunk_count": -(-size // CHUNK) if data is None else 0,
        "compression": compression,
        "complete": complete,
        "created_at": at,
        "data": data,
    }
    if _INSERT[connection.dialect.name].run(connection, row) == 1:
        return data is None
    c = blobs.c
    existing = connection.execute(sa.select(c.complete, c.created_at).where(c.checksum == checksum)).one()
    if not existing.complete or existing.created_at < at - GRACE_PERIOD:
        # Keep the clean-up from removing the content before it is referenced.
        changes: dict[str, Any] = {"created_at": at} | ({"complete": True} if complete else {})
        connection.execute(sa.update(blobs).where(c.checksum == checksum).values(changes))
    return not existing.complete


def _put_chunk(connection: sa.Connection, checksum: str, number: int, data: bytes) -> None:
    _INSERT_CHUNK[connection.dialect.name].run(connection, {"checksum": checksum, "number": number, "data": data})


def _choose_compression(piece: bytes) -> str:
    if len(piece) < MIN_COMPRESSED:
        return "none"
    sample = piece[:SAMPLE]
    return "zlib" if len(zlib.compress(sample, 1)) < 0.9 * len(sample) else "none"


def _compress(piece: bytes, compression: str) -> bytes:
    return zlib.compress(piece, 1) if compression == "zlib" else piece


# In separate transactions, for large content
def put_stream(database: Database, pieces: Iterable[bytes], *, folder: Path | None = None) -> tuple[str, int]:
    """Store content chunk by chunk in short transactions. Return its checksum and size.

    A temporary file in `folder` holds the content until its checksum is known.
    """
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=str(folder) if folder else None) as file:
        for piece in pieces:
            file.write(piece)
        return put_file(database, cast("IO[bytes]", file))


def put_file(database: Database, file: IO[bytes]) -> tuple[str, int]:
    """Like `put_stream`, for a file, which is read twice."""
    first = next(_pieces(file), b"")
    at = datetime.now(UTC)
    if len(first) <= MAX_INLINE:
        return database.transact_now(lambda c: put(c, first, at)), len(first)
    hasher, size = hashlib.sha256(), 0
    for piece in _pieces(file):
        hasher.update(piece)
        size += len(piece)
    checksum = hasher.hexdigest()
    compression = _choose_compression(first)
    if not database.transact_now(lambda c: _claim(c, checksum, size, compression, at, complete=False)):
        return checksum, size
    for number, piece in enumerate(_pieces(file)):
        data = _compress(piece, compression)
        database.transact_now(lambda c, n=number, d=data: _put_chunk(c, checksum, n, d))
    mark_complete = sa.update(blobs).where(blobs.c.checksum == checksum).values(complete=True)
    database.transact_now(lambda c: c.execute(mark_complete))
    return checksum, size


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    return iter(lambda: file.read(CHUNK), b"")


# Reading
def size_of(connection: sa.Connection, checksum: str) -> int | None:
    """Return the size of the content; None if it is not stored."""
    query = sa.select(blobs.c.size).where(blobs.c.checksum == checksum, blobs.c.complete)
    return connection.execute(query).scalar_one_or_none()


def read(connection: sa.Connection, checksum: str) -> bytes:
    return b"".join(open_stream(connection, checksum))


def open_stream(connection: sa.Connection, checksum: str) -> Iterator[bytes]:
    """Iterate over the content. Raise DamagedBlob if it is damaged, at the latest after the last chunk."""
    return _open(lambda query: query(connection), checksum)


def stream(database: Database, checksum: str) -> Iterator[bytes]:
    """Like `open_stream`, with a separate read per chunk, so that a slow consumer holds no connection."""
    return _open(database.read, checksum)


def _open(run: Callable[[Callable[[sa.Connection], Any]], Any], checksum: str) -> Iterator[bytes]:
    query = sa.select(blobs).where(blobs.c.checksum == checksum, blobs.c.complete)
    blob = run(lambda c: c.execute(query).one_or_none())
    if blob is None:
        raise MissingBlob(f"There is no content with the checksum {checksum}.")
    return _chunks(run, blob)


def _chunks(run: Callable[[Callable[[sa.Connection], Any]], Any], blob: Any) -> Iterator[bytes]:
    hasher = hashlib.sha256()
    for data in _stored_chunks(run, blob):
        piece = _decompress(data, blob)
        hasher.update(piece)
        yield piece
    if hasher.hexdigest() != blob.checksum:
        raise DamagedBlob(f"The content with the checksum {blob.checksum} is damaged.")


def _stored_chunks(run: Callable[[Callable[[sa.Connection], Any]], Any], blob: Any) -> Iterator[bytes | None]:
    if blob.data is not None:
        yield blob.data
    c = blob_chunks.c
    for number in range(blob.chunk_count):
        query = sa.select(c.data).where(c.checksum == blob.checksum, c.number == number)
        yield run(lambda connection, q=query: connection.execute(q).scalar_one_or_none())


def _decompress(data: bytes | None, blob: Any) -> bytes:
    if data is None:
        raise DamagedBlob(f"The content with the checksum {blob.checksum} is incomplete.")
    try:
        return zlib.decompress(data) if blob.compression == "zlib" else data
    except zlib.error as error:
        raise DamagedBlob(f"The content with the checksum {blob.checksum} is damaged.") from error


# Clean-up
def sweep(connection: sa.Connection, older_than: datetime, *, limit: int = 1000) -> int:
    """Delete unreferenced or incomplete content. Return the number of deleted blobs.

    `older_than` must be further back than `GRACE_PERIOD`, or content that is being stored could be deleted.
    """
    is_unreferenced = [
        ~sa.exists().where(column == blobs.c.checksum)
        for table in metadata.sorted_tables
        for column in table.c
        if table is not blob_chunks and any(key.column is blobs.c.checksum for key in column.foreign_keys)
    ]
    query = (
        sa.select(blobs.c.checksum)
        .where(blobs.c.created_at < older_than, *is_unreferenced)
        .order_by(blobs.c.checksum)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    checksums = connection.execute(query).scalars().all()
    if checksums:
        connection.execute(sa.delete(blob_chunks).where(blob_chunks.c.checksum.in_(checksums)))
        connection.execute(sa.delete(blobs).where(blobs.c.checksum.in_(checksums)))
    return len(checksums)
