"""Summaries of contents, made once by each model."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa

from cairn.definitions import CheckpointDefinition
from cairn.ports import ArtifactSource
from cairn.services.text import sanitize
from cairn.store import Connection
from cairn.store import tables as t

S = t.summaries.c
SIMULATED = "simulated:"


def summarized_checkpoints(checkpoint: CheckpointDefinition) -> set[str]:
    """The checkpoints whose outputs it is given summaries of."""
    return {one.checkpoint_id for one in checkpoint.inputs.include_checkpoint_outputs if one.use_summarization}


def read(connection: Connection, sources: Collection[ArtifactSource]) -> dict[str, dict[str, str]]:
    """By checksum and model, the newest last; one that is simulated comes before all others."""
    checksums = {one.checksum for source in sources for one in source.artifacts}
    if not checksums:
        return {}
    rows = connection.execute(sa.select(t.summaries).where(S.checksum.in_(checksums)).order_by(S.created_at)).all()
    found: dict[str, dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: not row.model.startswith(SIMULATED)):
        found.setdefault(row.checksum, {})[row.model] = row.summary
    return found


def save(connection: Connection, checksum: str, model: str, summary: str, at: datetime) -> None:
    connection.execute(sa.delete(t.summaries).where(S.checksum == checksum, S.model == model))
    connection.execute(
        sa.insert(t.summaries).values(checksum=checksum, model=model, summary=sanitize(summary), created_at=at)
    )
