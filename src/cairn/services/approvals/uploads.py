"""Files that people hand in for a form: streamed to the store before anything refers to them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import IO
from uuid import uuid4

import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.core.states import WaitingOn
from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.errors import TooLarge
from cairn.store import Connection, Database, blobs
from cairn.store import tables as t
from cairn.store.errors import NotFound

IN_MEMORY = 1024 * 1024  # bytes of an upload that are held before a file is


@dataclass(frozen=True, slots=True)
class StoredUpload:
    upload_id: str
    filename: str
    size_bytes: int
    checksum: str


class UploadService:
    def __init__(self, database: Database, clock: Clock, *, max_bytes: int) -> None:
        self._database = database
        self._clock = clock
        self.max_bytes = max_bytes

    async def add(
        self, execution_id: str, filename: str, media_type: str, content: AsyncIterator[bytes], *, actor: Actor
    ) -> StoredUpload:
        """Refused as soon as it is known to be too large; nothing of it is referred to then."""
        await self._database.aread(lambda c: _check_waiting(c, execution_id))
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
            await self._receive(content, file)
            checksum, size = await asyncio.to_thread(blobs.put_file, self._database, file)
        upload = StoredUpload(str(uuid4()), _plain_name(filename), size, checksum)
        row = {
            "upload_id": upload.upload_id,
            "execution_id": execution_id,
            "field_id": None,
            "filename": upload.filename,
            "media_type": media_type,
            "size_bytes": size,
            "checksum": checksum,
            "created_at": self._clock.now(),
            "created_by": actor.name,
        }
        await self._database.transact(lambda c: c.execute(sa.insert(t.uploads), row))
        return upload

    async def _receive(self, content: AsyncIterator[bytes], file: IO[bytes]) -> None:
        size = 0
        async for chunk in content:
            size += len(chunk)
            if size > self.max_bytes:
                raise TooLarge(self.max_bytes, "The file")
            await asyncio.to_thread(file.write, chunk) if size > IN_MEMORY else file.write(chunk)


def _check_waiting(connection: Connection, execution_id: str) -> None:
    e = t.checkpoint_executions.c
    row = connection.execute(sa.select(e.status, e.waiting_on).where(e.execution_id == execution_id)).one_or_none()
    if row is None:
        raise NotFound("execution", execution_id)
    if row.waiting_on != WaitingOn.HUMAN_FORM.value:
        raise CommandRefused(f"The execution is {row.status}: it has no form that takes a file now.")


def _plain_name(filename: str) -> str:
    """The last part, without what no file name should have."""
    name = filename.replace("\\", "/").rpartition("/")[2]
    return "".join(c for c in name if c.isprintable()).strip(" .")[:200] or "file"
