"""An approval with all details."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cairn.core.approval import Approval
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import APPROVED_STATUSES, ExecutionStatus
from cairn.services.actions.catalogue import action_type
from cairn.services.actions.queries import approved_parameters
from cairn.services.actions.views import ProposedAction
from cairn.services.actors import Actor
from cairn.services.approvals.queries import lists as approvals
from cairn.services.approvals.queries.forms import form_of
from cairn.services.approvals.views import ApprovalDetail, ApprovalTerms, Comment, PriorExecution
from cairn.services.artifacts import queries as artifacts
from cairn.services.engine.plans import DefinitionCache, definition_of
from cairn.services.rework.staleness import queries as staleness
from cairn.store import Connection, LoadedRun
from cairn.store import tables as t
from cairn.store.runs.run_rows import execution_row


def get_detail(
    connection: Connection,
    plans: DefinitionCache,
    loaded: LoadedRun,
    approval_id: str,
    actor: Actor | None,
    now: datetime,
) -> ApprovalDetail:
    summary = approvals.get_approval(connection, approval_id, approvals.ApprovalViewer(now, actor))
    row = execution_row(connection, summary.execution_id)
    checkpoint = definition_of(connection, plans, summary.pipeline_id, row)
    stale = staleness.of_executions(connection, [row.execution_id])
    approval = loaded.run.approvals[approval_id]
    return ApprovalDetail(
        **dict(summary),
        run_created_by=loaded.facts.created_by,
        checkpoint_description=checkpoint.checkpoint_description,
        rule_scope=approval.scope or None,
        rules_revision=approval.rules_revision or None,
        terms=_terms(approval),
        action=_action(connection, plans, loaded, approval, row.definition_revision),
        artifacts=artifacts.artifacts_of_executions(connection, {row.execution_id: row.outputs}, stale)[
            row.execution_id
        ],
        form=form_of(connection, checkpoint, row),
        prior_executions=_prior_executions(connection, summary.run_id),
        comments=list_comments(connection, approval_id),
        context_available=True,
    )


def _terms(a: Approval) -> ApprovalTerms:
    terms = a.terms
    return ApprovalTerms(
        on_timeout=terms.on_expiry if terms.timeout is not None else None,
        timeout_seconds=terms.timeout,
        escalate_after_seconds=terms.escalate_after,
        escalate_to=list(terms.escalate_to),
        not_by_starter=terms.not_by_starter,
        channels=list(terms.channels),
    )


def _action(
    connection: Connection, plans: DefinitionCache, loaded: LoadedRun, a: Approval, revision: int
) -> ProposedAction | None:
    row = connection.execute(sa.select(t.actions).where(t.actions.c.approval_id == a.id)).one_or_none()
    if row is None:
        return None
    definition = plans.definition(connection, loaded.facts.pipeline_id, revision)
    kind = action_type(definition, row.operation_type)
    current = approved_parameters(connection, a.id, row.parameters)
    schema: Any = kind.schema
    return ProposedAction(
        operation_type=row.operation_type,
        parameters=row.parameters,
        current_parameters=current,
        approved_parameters=current if a.status in APPROVED_STATUSES else None,
        parameters_schema=schema,
        reasoning=row.reasoning,
        confidence=row.confidence,
        risk_level=RiskLevel(row.risk_level),
        proposed_risk_level=RiskLevel(row.proposed_risk_level) if row.proposed_risk_level else None,
        risk_reasons=row.risk_reasons,
        supporting_data=row.supporting_data,
        executed_by_cairn=kind.is_executed_by_cairn,
        outcome=row.outcome,
        result=row.result,
        started_at=row.started_at,
        ended_at=row.ended_at,
    )


def _prior_executions(connection: Connection, run_id: str) -> list[PriorExecution]:
    """The executions of the run's current pass, in order."""
    e, r = t.checkpoint_executions.c, t.pipeline_runs.c
    rows = connection.execute(
        sa.select(
            e.execution_id,
            e.checkpoint_id,
            e.checkpoint_name,
            e.checkpoint_position,
            e.status,
            e.started_at,
            e.completed_at,
            e.failed_at,
        )
        .join(t.pipeline_runs, r.run_id == e.run_id)
        .where(e.run_id == run_id, e.archived_by.is_(None), e.pass_number == r.pass_number)
        .order_by(e.ordinal)
    )
    return [
        PriorExecution(
            execution_id=row.execution_id,
            checkpoint_id=row.checkpoint_id,
            checkpoint_name=row.checkpoint_name,
            checkpoint_position=row.checkpoint_position,
            status=ExecutionStatus(row.status),
            seconds=_seconds(row.started_at, row.completed_at or row.failed_at),
        )
        for row in rows
    ]


def _seconds(started_at: datetime | None, ended_at: datetime | None) -> float | None:
    return (ended_at - started_at).total_seconds() if started_at is not None and ended_at is not None else None


def list_comments(connection: Connection, approval_id: str) -> list[Comment]:
    c = t.approval_comments.c
    rows = connection.execute(
        sa.select(t.approval_comments).where(c.approval_id == approval_id).order_by(c.at, c.comment_id)
    )
    return [Comment(comment_id=row.comment_id, by=row.by, at=row.at, text=row.text) for row in rows]
