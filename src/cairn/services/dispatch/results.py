"""What a runner has made, ready to be saved: records, checksums and the digest that approvals bind to."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import NAMESPACE_OID

import sqlalchemy as sa

from cairn.core.commands import ArtifactOutput
from cairn.core.execution import Execution
from cairn.core.ids import id_of
from cairn.definitions import CheckpointDefinition
from cairn.documents import DocumentError, Value, decode_json, digest
from cairn.files import layout
from cairn.ports import ProducedFile, StoredFile
from cairn.runners import artifact_id
from cairn.services.engine.commit import Commit
from cairn.store import Connection, Database, NewArtifact, blobs
from cairn.store import tables as t

AT_ONCE = 256 * 1024  # more than this is hashed beside the event loop
LONGEST = 16 * 1024 * 1024  # more than this is not read to tell what it means
LARGE = 1024 * 1024  # contents from this size on go in earlier transactions


@dataclass(frozen=True, slots=True)
class StoredResult:
    outputs: tuple[ArtifactOutput, ...]
    artifacts: tuple[NewArtifact, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class ContextWrite:
    """Keep the exact context that an execution was given."""

    execution: str
    content: bytes

    def __call__(self, connection: Connection, _: Commit, /) -> None:
        e = t.checkpoint_executions
        checksum = blobs.put(connection, self.content)
        connection.execute(sa.update(e).where(e.c.execution_id == self.execution).values(context_checksum=checksum))


class ResultStore:
    """Makes products of what a runner hands over; large contents are stored ahead of the decision."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def store(
        self, execution: Execution, checkpoint: CheckpointDefinition, contents: Sequence[ProducedFile | StoredFile]
    ) -> StoredResult:
        if sum(content.size for content in contents) <= AT_ONCE:
            return prepare(execution, checkpoint, contents)
        products = await asyncio.to_thread(prepare, execution, checkpoint, contents)
        artifacts = [await self._ahead(artifact) for artifact in products.artifacts]
        return replace(products, artifacts=tuple(artifacts))

    async def _ahead(self, artifact: NewArtifact) -> NewArtifact:
        """In transactions of its own, so that it does not hold the writer while the decision is saved."""
        if artifact.content is None or artifact.size < LARGE:
            return artifact
        await self.put_ahead(artifact.content)
        return artifact.replace(content=None)

    async def put_ahead(self, content: bytes) -> None:
        """Stored again with the decision, it is there already."""
        if len(content) >= LARGE:
            await asyncio.to_thread(blobs.put_stream, self._database, _pieces(content))


def _pieces(content: bytes) -> Iterator[bytes]:
    return (content[start : start + LARGE] for start in range(0, len(content), LARGE))


def prepare(
    execution: Execution, checkpoint: CheckpointDefinition, contents: Sequence[ProducedFile | StoredFile]
) -> StoredResult:
    """Record ids follow from the dispatch: prepared twice, they are the same."""
    artifacts = tuple(_record(execution, checkpoint, content) for content in contents)
    meanings: list[Value] = [
        [content.name, content.format, _meaning(content, artifact.checksum)]
        for content, artifact in sorted(zip(contents, artifacts, strict=True), key=lambda pair: pair[0].name)
    ]
    outputs = tuple(ArtifactOutput(a.record_id, a.name, a.checksum, a.size) for a in artifacts)
    return StoredResult(outputs, artifacts, digest(meanings))


def _record(execution: Execution, checkpoint: CheckpointDefinition, content: ProducedFile | StoredFile) -> NewArtifact:
    declared = artifact_id(checkpoint, content.name)
    staged = layout.staged_name(content.name, declared, content.format)
    return NewArtifact(
        record_id=id_of(NAMESPACE_OID, f"{execution.id}:{execution.dispatch}:{content.name}.{content.format}"),
        execution_id=execution.id,
        artifact_id=declared,
        name=content.name,
        format=content.format,
        artifact_type="file",
        checksum=content.checksum if isinstance(content, StoredFile) else hashlib.sha256(content.data).hexdigest(),
        size=content.size,
        file_path=f"{layout.staging_folder(execution.id)}/{staged}",
        promoted=False,
        content=None if isinstance(content, StoredFile) else content.data,
    )


def _meaning(content: ProducedFile | StoredFile, checksum: str) -> str:
    """Equal JSON is equal content, however it is spelled; what is no JSON counts byte by byte."""
    if content.format != "json" or content.size > LONGEST:
        return checksum
    try:
        return digest(decode_json(content.read(), max_bytes=max(content.size, 1)))
    except DocumentError:
        return checksum
