"""Queries of the approval queue and of single approvals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import sqlalchemy as sa

from cairn.core.approval import APPROVING_DECISIONS
from cairn.core.available_commands import for_approval
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.documents import encode_json
from cairn.services.actors import Actor
from cairn.services.approvals.eligibility import Eligibility
from cairn.services.approvals.titles import approval_title
from cairn.services.approvals.views import Approval, ApprovalPage, Vote
from cairn.services.identity.directory import UserIndex, load_user_index
from cairn.services.paging import Query, Row, SortOrder, page
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.runs.approval_rows import terms_from

A, D, E, R, P = (
    t.approvals.c,
    t.approval_decisions.c,
    t.checkpoint_executions.c,
    t.pipeline_runs.c,
    t.pipelines.c,
)


COUNTED_DECISIONS = APPROVING_DECISIONS | {"modify", "happened", "did_not_happen", "send_again"}


@dataclass(frozen=True, slots=True)
class ApprovalViewer:
    """The user who views approvals, and the time."""

    at: datetime
    actor: Actor | None = None


_SELECT: Query = (
    sa.select(
        *(column for column in A if column is not A.evaluated_rules),  # may be large
        t.actions.c.summary,
        R.run_version,
        R.created_by,
        P.pipeline_name,
        E.checkpoint_id,
        E.checkpoint_name,
        E.checkpoint_position,
        E.outputs,
        sa.or_(R.archived_by.is_not(None), E.archived_by.is_not(None)).label("is_archived"),
    )
    .join_from(t.approvals, t.checkpoint_executions, E.execution_id == A.execution_id)
    .join(t.pipeline_runs, R.run_id == A.run_id)
    .join(t.pipelines, P.pipeline_id == A.pipeline_id)
    .outerjoin(t.actions, t.actions.c.action_id == A.action_id)
)
_ORDERS = {
    "age": SortOrder((A.requested_at, A.approval_id)),
    "risk": SortOrder((A.risk_order, A.requested_at, A.approval_id)),
    "priority": SortOrder((A.priority, A.requested_at, A.approval_id)),
    "deadline": SortOrder((A.expires_at, A.requested_at, A.approval_id), nullable_first=True),
}


def list_approvals(
    connection: Connection, approval_filter: ApprovalFilter, limit: int, cursor: str | None, viewer: ApprovalViewer
) -> ApprovalPage:
    conditions: list[sa.ColumnElement[bool]] = []
    statuses = [status.value for status in approval_filter.statuses]
    # A literal, so that the partial index of pending approvals is used.
    conditions.append(A.status == sa.literal_column("'pending'") if statuses == ["pending"] else A.status.in_(statuses))
    if approval_filter.kinds:
        conditions.append(A.kind.in_([kind.value for kind in approval_filter.kinds]))
    if approval_filter.pipeline_id is not None:
        conditions.append(A.pipeline_id == approval_filter.pipeline_id)
    if approval_filter.run_id is not None:
        conditions.append(A.run_id == approval_filter.run_id)
    if approval_filter.risks:
        conditions.append(A.risk_level.in_([risk.value for risk in approval_filter.risks]))
    if approval_filter.operation_type is not None:
        conditions.append(A.operation_type == approval_filter.operation_type)
    if approval_filter.rule is not None:
        conditions.append(A.rule == approval_filter.rule)
    if approval_filter.assigned_to is not None:
        conditions.append(_assigned_to(approval_filter.assigned_to))
    if approval_filter.not_excluding is not None:
        conditions.append(_not_excluding(approval_filter.not_excluding))
    found = page(connection, _SELECT.where(*conditions), _ORDERS[approval_filter.sort], limit, cursor)
    return ApprovalPage(items=_views(connection, found.rows, viewer), next_cursor=found.next_cursor)


def _assigned_to(names: Collection[str]) -> sa.ColumnElement[bool]:
    """The approval is unassigned or assigned to one of these names."""
    assigned_to = sa.func.lower(sa.cast(A.assigned_to, sa.Text))
    named = (assigned_to.contains(encode_json(name).decode(), autoescape=True) for name in sorted(names))
    return sa.or_(A.assigned_to.is_(None), *named)


def _not_excluding(name: str) -> sa.ColumnElement[bool]:
    """The approval doesn't exclude this user for having started the run."""
    excludes_starter = sa.cast(A.terms, sa.Text).contains('"not_by_starter":')  # only stored if it is true
    return sa.or_(R.created_by != name, A.terms.is_(None), sa.not_(excludes_starter))


def run_of_approval(connection: Connection, approval_id: str) -> str:
    run_id = connection.execute(sa.select(A.run_id).where(A.approval_id == approval_id)).scalar()
    if run_id is None:
        raise NotFound("approval", approval_id)
    return run_id


def get_approval(connection: Connection, approval_id: str, viewer: ApprovalViewer) -> Approval:
    rows = connection.execute(_SELECT.where(A.approval_id == approval_id)).all()
    if not rows:
        raise NotFound("approval", approval_id)
    return _views(connection, rows, viewer)[0]


def pending_of_run(connection: Connection, run_id: str, viewer: ApprovalViewer) -> list[Approval]:
    query = _SELECT.where(A.run_id == run_id, A.status == ApprovalStatus.PENDING.value).order_by(A.ordinal)
    return _views(connection, connection.execute(query).all(), viewer)


def _views(connection: Connection, rows: Sequence[Row], viewer: ApprovalViewer) -> list[Approval]:
    votes: defaultdict[str, list[Vote]] = defaultdict(list)
    if rows:
        query = sa.select(t.approval_decisions).where(D.approval_id.in_([row.approval_id for row in rows]))
        for vote in connection.execute(query.order_by(D.approval_id, D.position)):
            votes[vote.approval_id].append(_vote(vote))
    pairs = [(row, _eligibility(row, votes[row.approval_id])) for row in rows]
    # The users are read once for all approvals, and only if one of them restricts who can decide.
    is_restricted = any(_is_open(row) and not eligibility.is_unrestricted for row, eligibility in pairs)
    users = load_user_index(connection, viewer.at) if is_restricted else None
    return [_view(row, votes[row.approval_id], eligibility, viewer.actor, users) for row, eligibility in pairs]


def _vote(row: Row) -> Vote:
    return Vote(by=row.by, at=row.at, decision=row.decision, feedback=row.feedback, digest=row.digest)


def _eligibility(row: Row, votes: list[Vote]) -> Eligibility:
    excluded = row.created_by if terms_from(row).not_by_starter else None
    approved_by = frozenset(
        vote.by for vote in votes if vote.decision in COUNTED_DECISIONS and vote.digest == row.digest
    )
    return Eligibility(
        ApprovalKind(row.kind), tuple(row.assigned_to or ()), excluded, row.required_approvals, approved_by
    )


def _is_open(row: Row) -> bool:
    return row.status == ApprovalStatus.PENDING.value and not row.is_archived


def _view(
    row: Row, votes: list[Vote], eligibility: Eligibility, actor: Actor | None, users: UserIndex | None
) -> Approval:
    kind, status, terms = eligibility.kind, ApprovalStatus(row.status), terms_from(row)
    return Approval(
        approval_id=row.approval_id,
        title=approval_title(
            kind,
            row.checkpoint_name,
            reason=row.reason,
            operation_type=row.operation_type,
            summary=row.summary,
        ),
        kind=kind,
        status=status,
        digest=row.digest,
        run_id=row.run_id,
        run_version=row.run_version,
        pipeline_id=row.pipeline_id,
        pipeline_name=row.pipeline_name,
        execution_id=row.execution_id,
        checkpoint_id=row.checkpoint_id,
        checkpoint_name=row.checkpoint_name,
        checkpoint_position=row.checkpoint_position,
        requested_at=row.requested_at,
        expires_at=row.expires_at,
        on_timeout=terms.on_expiry if row.expires_at is not None else None,
        escalate_to=list(terms.escalate_to),
        closed_at=row.closed_at,
        required_approvals=row.required_approvals,
        received_approvals=len(eligibility.approved_by),
        reason=row.reason,
        decisions=votes,
        available_decisions=for_approval(kind, status, row.is_archived),
        rule=row.rule,
        priority=row.priority,
        assigned_to=row.assigned_to or [],
        can_decide=actor is not None and eligibility.can_decide(actor),
        warning=eligibility.warning(users) if users is not None and _is_open(row) else None,
        escalated=row.escalated,
        operation_type=row.operation_type,
        risk_level=RiskLevel(row.risk_level) if row.risk_level else None,
        confidence=row.confidence,
        artifact_count=len(row.outputs),
    )


@dataclass(frozen=True, slots=True)
class ApprovalFilter:
    statuses: tuple[ApprovalStatus, ...] = (ApprovalStatus.PENDING,)
    kinds: tuple[ApprovalKind, ...] = ()
    pipeline_id: str | None = None
    run_id: str | None = None
    sort: Literal["age", "deadline", "risk", "priority"] = "age"
    risks: tuple[RiskLevel, ...] = ()
    operation_type: str | None = None
    rule: str | None = None
    assigned_to: frozenset[str] | None = None  # unassigned, or assigned to one of these names
    not_excluding: str | None = None  # leave out approvals that exclude this user for having started the run
