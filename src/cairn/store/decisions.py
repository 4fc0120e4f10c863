"""Decisions of users on approvals, to compare with the verdicts of rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from cairn.core.rules import APPROVABLE
from cairn.core.states import ApprovalStatus
from cairn.store.runs.run_rows import Row
from cairn.store.tables import actions, approval_decisions, approvals, checkpoint_executions, pipelines

A, D, E, P, X = approvals.c, approval_decisions.c, checkpoint_executions.c, pipelines.c, actions.c
DECIDED_BY_USER = (
    ApprovalStatus.APPROVED.value,
    ApprovalStatus.REJECTED.value,
    ApprovalStatus.REVISION_REQUESTED.value,
)


def decided_approvals(
    connection: sa.Connection, pipeline_id: str | None, since: datetime | None, limit: int
) -> Sequence[Row]:
    """Approvals that users decided, newest first. Reused approvals don't count."""
    query = (
        sa.select(
            *(A[name] for name in ("approval_id", "run_id", "execution_id", "pipeline_id", "kind", "status")),
            A.requested_at,
            A.operation_type,
            A.risk_level,
            A.confidence,
            E.key,
            E.checkpoint_name,
            P.pipeline_name,
            X.parameters,
        )
        .join_from(approvals, checkpoint_executions, E.execution_id == A.execution_id)
        .join(pipelines, P.pipeline_id == A.pipeline_id)
        .outerjoin(actions, X.approval_id == A.approval_id)
        .where(A.status.in_(DECIDED_BY_USER), A.kind.in_([kind.value for kind in APPROVABLE]), A.reused_from.is_(None))
        .order_by(A.requested_at.desc(), A.approval_id)
        .limit(limit)
    )
    if pipeline_id is not None:
        query = query.where(A.pipeline_id == pipeline_id)
    if since is not None:
        query = query.where(A.requested_at >= since)
    return connection.execute(query).all()


def modified_approvals(connection: sa.Connection, since: datetime) -> set[str]:
    """Return the ids of approvals requested since `since` whose action a user modified."""
    query = (
        sa.select(D.approval_id)
        .join(approvals, A.approval_id == D.approval_id)
        .where(D.decision == "modify", A.requested_at >= since)
    )
    return set(connection.execute(query).scalars())
