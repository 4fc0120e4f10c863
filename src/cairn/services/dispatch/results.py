"""The files that a runner returned, prepared for saving: records, checksums and the digest that approvals bind to."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import NAMESPACE_OID

from cairn.core.commands import ArtifactOutput
from cairn.core.execution import Execution
from cairn.core.ids import id_of
from cairn.definitions import CheckpointDefinition
from cairn.documents import DocumentError, Value, decode_json, digest
from cairn.files import layout
from cairn.ports import ProducedFile, StoredFile
from cairn.runners import artifact_id
from cairn.store import Database, NewArtifact, blobs

MAX_ON_LOOP = 256 * 1024  # larger results are hashed in a thread
MAX_NORMALIZED = 16 * 1024 * 1024  # larger JSON is compared byte by byte
MIN_STORED_AHEAD = 1024 * 1024  # content of at least this size is stored before the report's transaction


@dataclass(frozen=True, slots=True)
class StoredResult:
    outputs: tuple[ArtifactOutput, ...]
    artifacts: tuple[NewArtifact, ...]
    digest: str


class ResultStore:
    """Prepares results. Stores large content before the report, so that the report's transaction stays short."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def store(
        self, execution: Execution, checkpoint: CheckpointDefinition, files: Sequence[ProducedFile | StoredFile]
    ) -> StoredResult:
        if sum(file.size for file in files) <= MAX_ON_LOOP:
            return prepare(execution, checkpoint, files)
        result = await asyncio.to_thread(prepare, execution, checkpoint, files)
        artifacts = [await self._store_ahead(artifact) for artifact in result.artifacts]
        return replace(result, artifacts=tuple(artifacts))

    async def _store_ahead(self, artifact: NewArtifact) -> NewArtifact:
        if artifact.content is None or artifact.size < MIN_STORED_AHEAD:
            return artifact
        await self.store_large_content(artifact.content)
        return artifact.replace(content=None)

    async def store_large_content(self, content: bytes) -> None:
        """Store large content in separate transactions. Storing it again with the report is then cheap."""
        if len(content) >= MIN_STORED_AHEAD:
            await asyncio.to_thread(blobs.put_stream, self._database, _chunks(content))


def _chunks(content: bytes) -> Iterator[bytes]:
    return (content[start : start + MIN_STORED_AHEAD] for start in range(0, len(content), MIN_STORED_AHEAD))


def prepare(
    execution: Execution, checkpoint: CheckpointDefinition, files: Sequence[ProducedFile | StoredFile]
) -> StoredResult:
    """Prepare a result. Record ids are derived from the dispatch, so the same result always gets the same ids."""
    artifacts = tuple(_record(execution, checkpoint, file) for file in files)
    digests: list[Value] = [
        [file.name, file.format, _content_digest(file, artifact.checksum)]
        for file, artifact in sorted(zip(files, artifacts, strict=True), key=lambda pair: pair[0].name)
    ]
    outputs = tuple(ArtifactOutput(a.record_id, a.name, a.checksum, a.size) for a in artifacts)
    return StoredResult(outputs, artifacts, digest(digests))


def _record(execution: Execution, checkpoint: CheckpointDefinition, file: ProducedFile | StoredFile) -> NewArtifact:
    declared = artifact_id(checkpoint, file.name)
    staged = layout.staged_name(file.name, declared, file.format)
    return NewArtifact(
        record_id=id_of(NAMESPACE_OID, f"{execution.id}:{execution.dispatch}:{file.name}.{file.format}"),
        execution_id=execution.id,
        artifact_id=declared,
        name=file.name,
        format=file.format,
        artifact_type="file",
        checksum=file.checksum if isinstance(file, StoredFile) else hashlib.sha256(file.data).hexdigest(),
        size=file.size,
        file_path=f"{layout.staging_folder(execution.id)}/{staged}",
        promoted=False,
        content=None if isinstance(file, StoredFile) else file.data,
    )


def _content_digest(file: ProducedFile | StoredFile, checksum: str) -> str:
    """JSON documents with equal values have equal digests. Any other content is compared by its bytes."""
    if file.format != "json" or file.size > MAX_NORMALIZED:
        return checksum
    try:
        return digest(decode_json(file.read(), max_bytes=max(file.size, 1)))
    except DocumentError:
        return checksum
