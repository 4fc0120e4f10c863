"""Rules: one that requires approval, one that approves automatically."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.core.rules import GLOBAL
from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.services.rules import views as v
from cairn.services.rules.queries.autonomy import proportion_view
from cairn.services.rules.scoring import Proportion

TEXT = """version: "1.0"
checkpoints:
  - name: Large amounts
    trigger:
      kind: action
      data_threshold: { field: amount, operator: ">", value: 1000 }
    action: { require_approval_count: 2, timeout_seconds: 3600 }
auto_approval:
  enabled: true
  rules:
    - name: Small refunds
      conditions:
        operation_type: refund
        data_threshold: { field: amount, operator: "<=", value: 50 }
      action: { auto_approve: true, rollout_percentage: 25, audit_sample_percentage: 10 }
"""


def _requires_approval() -> v.RuleSummary:
    return v.RuleSummary(
        name="Large amounts",
        section="checkpoints",
        priority=100,
        is_enabled=True,
        shadow=False,
        auto_approves=False,
        rollout_percentage=100,
        audit_sample_percentage=0,
    )


def _auto_approves() -> v.RuleSummary:
    return v.RuleSummary(
        name="Small refunds",
        section="auto_approval",
        priority=100,
        is_enabled=True,
        shadow=False,
        auto_approves=True,
        rollout_percentage=25,
        audit_sample_percentage=10,
    )


def emergency_stop() -> v.EmergencyStop:
    return v.EmergencyStop(stopped=True, reason="Refunds look odd", by="admin", at=story.at(30))


def rules() -> v.RuleText:
    return v.RuleText(
        scope=story.PIPELINE_ID,
        file=None,
        revision=3,
        text=TEXT,
        rules=[_requires_approval(), _auto_approves()],
        created_by="admin",
        comment="Approve a quarter of small refunds automatically",
        created_at=story.at(-90),
        warnings=[],
        emergency_stop=v.EmergencyStop(stopped=False, reason="", by=None, at=None),
    )


def version() -> v.RuleVersion:
    return v.RuleVersion(
        scope=GLOBAL,
        revision=3,
        created_by="admin",
        comment="Approve a quarter of small refunds automatically",
        created_at=story.at(-90),
        digest=story.DIGEST,
        text=TEXT,
    )


def versions() -> v.RuleVersionPage:
    return v.RuleVersionPage(items=[version()], next_cursor=None)


def diff() -> v.RuleDiff:
    return v.RuleDiff(
        from_revision=2, to_revision=3, text="-        rollout_percentage: 10\n+        rollout_percentage: 25\n"
    )


def _condition() -> v.RuleCondition:
    return v.RuleCondition(field="amount", expected="> 1000", actual="1250", matched=True)


def _disagreement() -> v.Disagreement:
    return v.Disagreement(
        approval_id=story.APPROVAL_ID,
        pipeline_id=story.PIPELINE_ID,
        pipeline_name="Business goals to design",
        checkpoint_name="Business Goals",
        kind=ApprovalKind.ACTION,
        operation_type="refund",
        requested_at=story.at(0),
        rule="Small refunds",
        decision="modified",
        by="reviewer",
        feedback="Shipping is not refunded",
    )


def audit() -> v.Audit:
    return v.Audit(
        approval_id=story.APPROVAL_ID,
        pipeline_id=story.PIPELINE_ID,
        pipeline_name="Business goals to design",
        run_id=story.RUN_ID,
        run_version=2,
        execution_id=story.EXECUTION_ID,
        checkpoint_name="Business Goals",
        kind=ApprovalKind.ACTION,
        operation_type="refund",
        requested_at=story.at(0),
        rule="Small refunds",
        rule_scope=GLOBAL,
        review=v.AuditReview(agrees=True, comment="", by="reviewer", at=story.at(40)),
    )


def emergency_stop_request() -> dict[str, Any]:
    return {"stopped": True, "reason": "Refunds look odd"}


def review_request() -> dict[str, Any]:
    return {"agrees": True, "comment": ""}


def schema() -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}


def check() -> v.RuleCheck:
    return v.RuleCheck(is_valid=True, errors=[], warnings=[], rules=[_requires_approval(), _auto_approves()])


def explanation() -> v.ApprovalExplanation:
    return v.ApprovalExplanation(
        approval_id=story.APPROVAL_ID,
        kind=ApprovalKind.ACTION,
        status=ApprovalStatus.PENDING,
        rule="Large amounts",
        rule_scope=GLOBAL,
        rules_revision=3,
        reason="'Large amounts' (global rules, version 3) requires approval.",
        evaluated_rules=[
            v.EvaluatedRule(
                rule="Large amounts",
                scope=GLOBAL,
                section="checkpoints",
                outcome="requires approval",
                shadow=False,
                conditions=[_condition()],
            )
        ],
    )


def backtest() -> v.Backtest:
    return v.Backtest(
        decisions=240,
        would_approve=80,
        would_require_approval=12,
        no_rule=148,
        agreed=79,
        disagreed=1,
        false_approval_rate=proportion_view(Proportion(1, 80)),
        rules=[
            v.RuleScore(
                rule="Small refunds",
                approved=80,
                agreed=79,
                disagreed=1,
                required_approval=0,
                false_approval_rate=proportion_view(Proportion(1, 80)),
            )
        ],
        disagreements=[_disagreement()],
        since=story.at(-50_000),
        until=story.at(0),
        complete=True,
    )


def autonomy() -> v.Autonomy:
    return v.Autonomy(
        since=story.at(-129_600),
        decided=400,
        automatic=proportion_view(Proportion(60, 400)),
        rules=[
            v.RuleAutonomy(
                scope=GLOBAL,
                pipeline_name=None,
                rule="Small refunds",
                section="auto_approval",
                mode="rollout",
                rollout_percentage=25,
                audit_sample_percentage=10,
                approved=60,
                sampled=7,
                reviewed=5,
                disagreement=proportion_view(Proportion(0, 5)),
                shadow=proportion_view(Proportion(1, 90)),
                required_approval=160,
                modification=proportion_view(Proportion(4, 160)),
            )
        ],
    )


def audits() -> v.AuditPage:
    return v.AuditPage(items=[audit()], next_cursor=None)


def emergency_stops() -> v.EmergencyStopPage:
    return v.EmergencyStopPage(items=[emergency_stop()], next_cursor=None)
