"""Save corrections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import sqlalchemy as sa

from cairn.services.engine.commit import Commit
from cairn.store import Connection
from cairn.store import tables as t


@dataclass(frozen=True, slots=True)
class CorrectionWrite:
    """Save a correction with the decision that modifies the action."""

    approval_id: str
    operation_type: str
    original: Mapping[str, Any]
    modified: Mapping[str, Any]
    changes: tuple[dict[str, Any], ...]
    modified_digest: str
    feedback: str

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        context = commit.context
        case = f"case/{self.approval_id}/{self.modified_digest}/{context.command_id}"
        connection.execute(
            sa.insert(t.corrections).values(
                case_id=str(uuid5(NAMESPACE_OID, case)),
                approval_id=self.approval_id,
                pipeline_id=commit.before.facts.pipeline_id,
                operation_type=self.operation_type,
                original=dict(self.original),
                modified=dict(self.modified),
                changes=list(self.changes),
                feedback=self.feedback,
                by=context.by,
                at=context.at,
            )
        )
