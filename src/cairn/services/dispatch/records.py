"""Save summaries, and with a report the context of its dispatch and the pending call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from cairn.ports import NeedsInput, NeedsRework, ProposesAction
from cairn.services.engine.commit import Commit
from cairn.services.text import sanitize
from cairn.store import Connection, blobs, scripts
from cairn.store import tables as t


@dataclass(frozen=True, slots=True)
class ContextWrite:
    """Store the exact context that an execution received."""

    execution: str
    content: bytes

    def __call__(self, connection: Connection, _: Commit, /) -> None:
        e = t.checkpoint_executions
        checksum = blobs.put(connection, self.content)
        connection.execute(sa.update(e).where(e.c.execution_id == self.execution).values(context_checksum=checksum))


@dataclass(frozen=True, slots=True)
class CallWrite:
    """Record the call whose result an execution is waiting for."""

    execution: str
    outcome: NeedsRework | ProposesAction | NeedsInput

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        call = self.outcome.call
        if call is None:
            return
        e = commit.before.run.executions[self.execution]
        content = None if isinstance(self.outcome, NeedsInput) else self.outcome.inputs_content
        checksum = blobs.put(connection, content) if content is not None else None
        at = commit.context.at
        scripts.write_call(connection, e.id, e.revision, call.number, call.kind, call.arguments, checksum, at)


def save_summary(connection: Connection, checksum: str, model: str, summary: str, at: datetime) -> None:
    """Store a summary, replacing an earlier one by the same model."""
    s = t.summaries.c
    connection.execute(sa.delete(t.summaries).where(s.checksum == checksum, s.model == model))
    connection.execute(
        sa.insert(t.summaries).values(checksum=checksum, model=model, summary=sanitize(summary), created_at=at)
    )
