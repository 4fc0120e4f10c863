"""Convert approvals to rows and back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from cairn.core.approval import Approval, Vote
from cairn.core.rule_verdict import ApprovalTerms, RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus, OnExpiry
from cairn.store.runs.run_rows import Row, Values

DEFAULTS = ApprovalTerms()


def approval_values(a: Approval) -> Values:
    return {
        "status": a.status.value,
        "digest": a.digest,
        "required_approvals": a.required_approvals,
        "terms": _terms_value(a.terms),
        "assigned_to": list(a.assigned_to) or None,
        "reminded_period": a.reminded_period,
        "escalated": a.escalated,
        "rule": a.rule or None,
        "rule_scope": a.scope or None,
        "rules_revision": a.rules_revision or None,
        "priority": a.priority,
        "audit": a.audit,
        "operation_type": a.operation_type,
        "risk_level": a.risk.value if a.risk else None,
        "risk_order": risk_order(a.risk),
        "confidence": a.confidence,
        "period": a.period,
        "expires_at": a.expires_at,
        "closed_at": a.closed_at,
        "reason": a.reason,
        "attempt_number": a.attempt,
        "action_id": a.action,
        "reused_from": a.reused_from,
    }


def approval_from(row: Row, votes: tuple[Vote, ...]) -> Approval:
    return Approval(
        id=row.approval_id,
        execution=row.execution_id,
        kind=ApprovalKind(row.kind),
        digest=row.digest,
        requested_at=row.requested_at,
        status=ApprovalStatus(row.status),
        terms=terms_from(row),
        assigned_to=tuple(row.assigned_to or ()),
        votes=votes,
        period=row.period,
        expires_at=row.expires_at,
        closed_at=row.closed_at,
        reason=row.reason,
        attempt=row.attempt_number,
        action=row.action_id,
        reused_from=row.reused_from,
        reminded_period=row.reminded_period,
        escalated=row.escalated,
        rule=row.rule or "",
        scope=row.rule_scope or "",
        rules_revision=row.rules_revision or 0,
        priority=row.priority,
        audit=row.audit,
        operation_type=row.operation_type,
        risk=RiskLevel(row.risk_level) if row.risk_level else None,
        confidence=row.confidence,
    )


def risk_order(risk: RiskLevel | None) -> int:
    """Return the sort key: highest risk first, approvals without a risk level last."""
    return len(RiskLevel) if risk is None else len(RiskLevel) - 1 - risk.rank


def _terms_value(terms: ApprovalTerms) -> Values | None:
    """Return the terms that differ from the defaults."""
    changed = {
        f.name: getattr(terms, f.name) for f in fields(terms) if getattr(terms, f.name) != getattr(DEFAULTS, f.name)
    }
    return {name: _json_value(value) for name, value in changed.items()} or None


def _json_value(value: Any) -> Any:
    return [*value] if isinstance(value, tuple) else value


def terms_from(row: Row) -> ApprovalTerms:
    if row.terms is None:
        return (
            ApprovalTerms(required_approvals=row.required_approvals)
            if row.required_approvals != DEFAULTS.required_approvals
            else DEFAULTS
        )
    values: Values = {name: (*value,) if isinstance(value, list) else value for name, value in row.terms.items()}
    if "on_expiry" in values:
        values["on_expiry"] = OnExpiry(values["on_expiry"])
    return ApprovalTerms(**values)


def evaluated_rules_value(a: Approval) -> list[Values] | None:
    """Return all evaluated rules with their conditions. There can be hundreds."""
    return [
        {
            "rule": rule.rule,
            "scope": rule.scope,
            "section": rule.section,
            "outcome": rule.outcome,
            "conditions": [
                {"field": c.field, "expected": c.expected, "actual": c.actual, "matched": c.matched}
                for c in rule.conditions
            ],
            "shadow": rule.shadow,
        }
        for rule in a.evaluated_rules
    ] or None


def vote_from(row: Row) -> Vote:
    return Vote(row.by, row.at, row.decision, row.feedback, row.digest, row.answer_checksum)
