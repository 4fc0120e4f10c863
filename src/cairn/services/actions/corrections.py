"""Every modification is a learning case: the most similar ones are offered when the like is proposed again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import sqlalchemy as sa

from cairn.documents import digest
from cairn.services.actions.summaries import summarize
from cairn.services.engine.commit import Commit
from cairn.store import Connection
from cairn.store import tables as t

LOOKED_AT = 200  # of the newest cases, for the similar ones
L = t.learning_cases.c


@dataclass(frozen=True, slots=True)
class Correction:
    """What somebody has corrected."""

    approval_id: str
    operation_type: str
    original: Mapping[str, Any]
    modified: Mapping[str, Any]
    changes: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class CorrectionWrite:
    """Save a correction, and what the action does now, with the decision that modifies it."""

    correction: Correction
    modified: str  # digest of the modified parameters
    feedback: str

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        made, context = self.correction, commit.context
        connection.execute(
            sa.insert(t.learning_cases).values(
                case_id=str(uuid5(NAMESPACE_OID, f"case/{made.approval_id}/{self.modified}/{context.command_id}")),
                approval_id=made.approval_id,
                pipeline_id=commit.before.facts.pipeline_id,
                operation_type=made.operation_type,
                original=dict(made.original),
                modified=dict(made.modified),
                changes=list(made.changes),
                feedback=self.feedback,
                by=context.by,
                at=context.at,
            )
        )
        action = sa.update(t.actions).where(t.actions.c.approval_id == made.approval_id)
        connection.execute(action.values(summary=summarize(made.operation_type, made.modified)))


def similar(connection: Connection, operation_type: str, parameters: Mapping[str, Any], limit: int = 3) -> list[Any]:
    """Corrections of the same operation, those first whose original is most like these parameters; then the newest."""
    rows = connection.execute(
        sa.select(t.learning_cases)
        .where(L.operation_type == operation_type)
        .order_by(L.at.desc(), L.case_id.desc())
        .limit(LOOKED_AT)
    ).all()
    ranked = sorted(enumerate(rows), key=lambda pair: (-_likeness(pair[1].original, parameters), pair[0]))
    return [row for _, row in ranked[:limit]]


def _likeness(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """The share of fields that both have, with equal ones counted twice."""
    names = {*one, *other}
    if not names:
        return 0.0
    shared = [name for name in names if name in one and name in other]
    equal = sum(digest(one[name]) == digest(other[name]) for name in shared)
    return (len(shared) + equal) / (2 * len(names))
