"""Queries of the verdicts of active rules, their agreement with users, and audits of automatic approvals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import sqlalchemy as sa

from cairn.core.rules import Rule, ScopedRulebook
from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.services.paging import Query, SortOrder, page
from cairn.services.rules import scoring
from cairn.services.rules.views import Audit, AuditPage, AuditReview, Autonomy, Proportion, RuleAutonomy
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.decisions import DECIDED_BY_USER, modified_approvals
from cairn.store.errors import NotFound
from cairn.store.runs.run_rows import Row

A, D, V, E, R, P = (
    t.approvals.c,
    t.approval_decisions.c,
    t.audit_reviews.c,
    t.checkpoint_executions.c,
    t.pipeline_runs.c,
    t.pipelines.c,
)
_NEWEST = SortOrder((A.requested_at, A.approval_id), newest_first=True)
_AUTO = ApprovalStatus.AUTO_APPROVED.value
MAX_DECISIONS = 20_000  # number of newest user decisions that scores are based on

Key = tuple[str, str]  # scope and rule


@dataclass(frozen=True, slots=True)
class _AutomaticApprovals:
    """Counts of the automatic approvals of a rule."""

    approved: int = 0
    sampled: int = 0
    reviewed: int = 0
    disagreed: int = 0


def read_autonomy(connection: Connection, books: Iterable[ScopedRulebook], since: datetime) -> Autonomy:
    """The autonomy of every active rule."""
    automatic = _automatic_approvals(connection, since)
    shadow = _shadow_agreement(connection, since)
    decisions = _user_decisions(connection, since)
    names = {
        row.pipeline_id: row.pipeline_name for row in connection.execute(sa.select(P.pipeline_id, P.pipeline_name))
    }
    rules = [
        _rule(book, rule, names.get(book.scope), automatic, shadow, decisions)
        for book in books
        for rule in book.rulebook.rules
    ]
    counts = _counts(connection, since)
    return Autonomy(since=since, decided=counts.total, automatic=proportion_view(counts), rules=rules)


def _rule(
    book: ScopedRulebook,
    rule: Rule,
    pipeline_name: str | None,
    automatic: dict[Key, _AutomaticApprovals],
    shadow: dict[Key, Counter[bool]],
    decisions: dict[Key, Counter[str]],
) -> RuleAutonomy:
    key = (book.scope, rule.name)
    approvals, agreement, answers = automatic.get(key, _AutomaticApprovals()), shadow[key], decisions[key]
    return RuleAutonomy(
        scope=book.scope,
        pipeline_name=pipeline_name,
        rule=rule.name,
        section=rule.section.value,
        mode=mode(rule),
        rollout_percentage=rule.rollout,
        audit_sample_percentage=rule.audit,
        approved=approvals.approved,
        sampled=approvals.sampled,
        reviewed=approvals.reviewed,
        disagreement=proportion_view(scoring.Proportion(approvals.disagreed, approvals.reviewed)),
        shadow=proportion_view(scoring.Proportion(agreement[False], agreement.total())),
        required_approval=answers.total(),
        modification=proportion_view(scoring.Proportion(answers[scoring.MODIFIED], answers.total())),
    )


def mode(rule: Rule) -> Literal["disabled", "shadow", "requires_approval", "rollout", "full"]:
    if not rule.enabled:
        return "disabled"
    if rule.shadow:
        return "shadow"
    if not rule.approves:
        return "requires_approval"
    return "full" if rule.rollout >= 100 else "rollout"


def proportion_view(proportion: scoring.Proportion) -> Proportion:
    low, high = proportion.bounds
    return Proportion(count=proportion.count, total=proportion.total, rate=proportion.rate, low=low, high=high)


def _counts(connection: Connection, since: datetime) -> scoring.Proportion:
    query = sa.select(A.status, sa.func.count()).where(
        A.requested_at >= since, A.status.in_((*DECIDED_BY_USER, _AUTO)), A.reused_from.is_(None)
    )
    counts = {row[0]: int(row[1]) for row in connection.execute(query.group_by(A.status))}
    return scoring.Proportion(counts.get(_AUTO, 0), sum(counts.values()))


def _automatic_approvals(connection: Connection, since: datetime) -> dict[Key, _AutomaticApprovals]:
    sampled = sa.func.coalesce(sa.func.sum(sa.case((A.audit, 1), else_=0)), 0)
    reviewed = sa.func.count(V.approval_id)
    disagreed = sa.func.coalesce(sa.func.sum(sa.case((V.agrees.is_(sa.false()), 1), else_=0)), 0)
    query = (
        sa.select(A.rule_scope, A.rule, sa.func.count(), sampled, reviewed, disagreed)
        .join_from(t.approvals, t.audit_reviews, V.approval_id == A.approval_id, isouter=True)
        .where(A.rule.is_not(None), A.requested_at >= since, A.status == _AUTO, A.reused_from.is_(None))
        .group_by(A.rule_scope, A.rule)
    )
    return {(row[0], row[1]): _AutomaticApprovals(*map(int, row[2:])) for row in connection.execute(query)}


def _shadow_agreement(connection: Connection, since: datetime) -> dict[Key, Counter[bool]]:
    """How often users agreed and disagreed with the approvals that a rule would have given in shadow mode."""
    query = (
        sa.select(A.approval_id, A.status, A.evaluated_rules)
        .where(_decided_by_users(since), A.evaluated_rules.is_not(None))
        .where(sa.type_coerce(A.evaluated_rules, sa.Text).like('%"shadow: approves"%'))
        .order_by(A.requested_at.desc())
        .limit(MAX_DECISIONS)
    )
    rows = connection.execute(query).all()
    modified = modified_approvals(connection, since)
    agreement: dict[Key, Counter[bool]] = defaultdict(Counter)
    for row in rows:
        decision = scoring.user_decision(row.status, row.approval_id in modified)
        for rule in row.evaluated_rules:
            if decision is not None and rule["outcome"] == "shadow: approves":
                agreement[rule["scope"], rule["rule"]][scoring.agrees(decision)] += 1
    return agreement


def _user_decisions(connection: Connection, since: datetime) -> dict[Key, Counter[str]]:
    """Decisions of users on the approvals that a rule required."""
    modified = modified_approvals(connection, since)
    query = sa.select(A.approval_id, A.rule_scope, A.rule, A.status).where(
        _decided_by_users(since), A.rule.is_not(None)
    )
    decisions: dict[Key, Counter[str]] = defaultdict(Counter)
    for row in connection.execute(query.order_by(A.requested_at.desc()).limit(MAX_DECISIONS)):
        decision = scoring.user_decision(row.status, row.approval_id in modified)
        if decision is not None:
            decisions[row.rule_scope, row.rule][decision] += 1
    return decisions


def _decided_by_users(since: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(A.requested_at >= since, A.status.in_(DECIDED_BY_USER), A.reused_from.is_(None))


# Audits
_AUDITS: Query = (
    sa.select(
        *(A[name] for name in ("approval_id", "pipeline_id", "run_id", "execution_id", "kind", "operation_type")),
        A.requested_at,
        A.rule,
        A.rule_scope,
        P.pipeline_name,
        R.run_version,
        E.checkpoint_name,
        V.agrees,
        V.comment,
        V.by,
        V.at,
    )
    .join_from(t.approvals, t.checkpoint_executions, E.execution_id == A.execution_id)
    .join(t.pipeline_runs, R.run_id == A.run_id)
    .join(t.pipelines, P.pipeline_id == A.pipeline_id)
    .outerjoin(t.audit_reviews, V.approval_id == A.approval_id)
    .where(A.audit, A.status == _AUTO)
)


def list_audits(
    connection: Connection, *, reviewed: bool | None, pipeline_id: str | None, limit: int, cursor: str | None
) -> AuditPage:
    query = _AUDITS
    if reviewed is not None:
        query = query.where(V.approval_id.is_not(None) if reviewed else V.approval_id.is_(None))
    if pipeline_id is not None:
        query = query.where(A.pipeline_id == pipeline_id)
    found = page(connection, query, _NEWEST, limit, cursor)
    return AuditPage(items=_audits(found.rows), next_cursor=found.next_cursor)


def sampled_approval(connection: Connection, approval_id: str) -> Row:
    """An approval with its status and execution, to review it."""
    row = connection.execute(
        sa.select(
            *(A[name] for name in ("run_id", "pipeline_id", "status", "audit", "rule")),
            *(E[name] for name in ("execution_id", "checkpoint_id", "checkpoint_name")),
        )
        .join_from(t.approvals, t.checkpoint_executions, E.execution_id == A.execution_id)
        .where(A.approval_id == approval_id)
    ).one_or_none()
    if row is None:
        raise NotFound("approval", approval_id)
    return row


def get_audit(connection: Connection, approval_id: str) -> Audit:
    return _audits(connection.execute(_AUDITS.where(A.approval_id == approval_id)).all())[0]


def _audits(rows: Sequence[Row]) -> list[Audit]:
    return [
        Audit(
            approval_id=row.approval_id,
            pipeline_id=row.pipeline_id,
            pipeline_name=row.pipeline_name,
            run_id=row.run_id,
            run_version=row.run_version,
            execution_id=row.execution_id,
            checkpoint_name=row.checkpoint_name,
            kind=ApprovalKind(row.kind),
            operation_type=row.operation_type,
            requested_at=row.requested_at,
            rule=row.rule,
            rule_scope=row.rule_scope,
            review=None
            if row.at is None
            else AuditReview(agrees=row.agrees, comment=row.comment, by=row.by, at=row.at),
        )
        for row in rows
    ]
