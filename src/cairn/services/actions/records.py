"""Save actions and corrections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import sqlalchemy as sa

from cairn.core.approval import Approval
from cairn.services.actions.proposals import AssessedProposal
from cairn.services.actions.summaries import summarize
from cairn.services.engine.commit import Commit
from cairn.store import Connection
from cairn.store import tables as t

A = t.actions.c


@dataclass(frozen=True, slots=True)
class ProposalWrite:
    """Save a proposed action, and its link to the new approval, with the report that proposes it."""

    execution: str
    proposal: AssessedProposal

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        e, action = commit.before.run.executions[self.execution], self.proposal.action
        approval, proposed = self._approval(commit), self.proposal.proposed
        connection.execute(
            sa.insert(t.actions).values(
                approval_id=approval.id,
                execution_id=e.id,
                revision_iteration=e.revision,
                call_number=proposed.call.number if proposed.call is not None else None,
                operation_type=action.operation_type,
                parameters=dict(action.parameters),
                summary=summarize(action.operation_type, action.parameters),
                reasoning=proposed.reasoning,
                confidence=action.confidence,
                proposed_risk_level=self.proposal.proposed_risk.value if self.proposal.proposed_risk else None,
                risk_level=action.risk.value,
                risk_reasons=list(self.proposal.risk_reasons),
                supporting_data=proposed.supporting_data,
                outcome="proposed",
                idempotency_key=str(uuid5(NAMESPACE_OID, f"action/{approval.id}")),
                proposed_at=commit.context.at,
            )
        )

    def _approval(self, commit: Commit) -> Approval:
        """The new approval, which a rule may have decided already."""
        before = commit.before.run.approvals
        after = commit.after.run.approvals.values()
        return next(a for a in after if a.id not in before and a.execution == self.execution)


@dataclass(frozen=True, slots=True)
class CorrectionWrite:
    """Save a correction, and the new summary of the action, with the decision that modifies it."""

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
        action = sa.update(t.actions).where(A.approval_id == self.approval_id)
        connection.execute(action.values(summary=summarize(self.operation_type, self.modified)))


def mark_started(connection: Connection, approval_id: str, outcome: str, at: datetime) -> bool:
    """Record that an action is about to be executed. False if its outcome is no longer `outcome`."""
    start = sa.update(t.actions).where(A.approval_id == approval_id, A.outcome == outcome)
    return connection.execute(start.values(outcome="started", started_at=at)).rowcount == 1


def save_outcome(
    connection: Connection, approval_id: str, outcome: str, result: Mapping[str, Any] | None, at: datetime
) -> None:
    end = sa.update(t.actions).where(A.approval_id == approval_id)
    connection.execute(end.values(outcome=outcome, result=result, ended_at=at))
