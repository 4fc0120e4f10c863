"""Files that users upload for a form. They are streamed to the database before the form is submitted."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import IO
from uuid import uuid4

from cairn.core.errors import CommandRefused
from cairn.core.states import WaitingOn
from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.approvals import records
from cairn.services.errors import TooLarge
from cairn.store import Connection, Database, blobs
from cairn.store.runs.run_rows import execution_row

MAX_IN_MEMORY = 1024 * 1024  # bytes; larger uploads go to a temporary file


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
        """Store a file. Reject it as soon as it exceeds the size limit."""
        await self._database.aread(lambda c: _check_waiting(c, execution_id))
        with tempfile.SpooledTemporaryFile(MAX_IN_MEMORY) as file:
            await self._receive(content, file)
            checksum, size = await asyncio.to_thread(blobs.put_file, self._database, file)
        upload = StoredUpload(str(uuid4()), _safe_name(filename), size, checksum)
        now = self._clock.now()
        await self._database.transact(
            lambda c: records.insert_upload(
                c,
                upload_id=upload.upload_id,
                execution_id=execution_id,
                field_id=None,
                filename=upload.filename,
                media_type=media_type,
                size_bytes=size,
                checksum=checksum,
                created_at=now,
                created_by=actor.name,
            )
        )
        return upload

    async def _receive(self, content: AsyncIterator[bytes], file: IO[bytes]) -> None:
        size = 0
        async for chunk in content:
            size += len(chunk)
            if size > self.max_bytes:
                raise TooLarge(self.max_bytes, "The file")
            await asyncio.to_thread(file.write, chunk) if size > MAX_IN_MEMORY else file.write(chunk)


def _check_waiting(connection: Connection, execution_id: str) -> None:
    row = execution_row(connection, execution_id)
    if row.waiting_on != WaitingOn.HUMAN_FORM.value:
        raise CommandRefused(f"The execution is {row.status}. It is not waiting for a form.")


def _safe_name(filename: str) -> str:
    """The last part of the path, without characters that are unsafe in file names."""
    name = filename.replace("\\", "/").rpartition("/")[2]
    return "".join(c for c in name if c.isprintable()).strip(" .")[:200] or "file"
