"""Rules in the examples: one that asks, one that approves some."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story as s
from cairn.core.rules import GLOBAL
from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.services.rules import views as v
from cairn.services.rules.queries.autonomy import share
from cairn.services.rules.scoring import Proportion

TEXT = """version: "1.0"
checkpoints:
  - name: Large amounts
    trigger:
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
_ASKS = v.RuleSummary(
    name="Large amounts",
    section="checkpoints",
    priority=100,
    enabled=True,
    shadow=False,
    approves=False,
    rollout_percentage=100,
    audit_sample_percentage=0,
)
_APPROVES = v.RuleSummary(
    name="Small refunds",
    section="auto_approval",
    priority=100,
    enabled=True,
    shadow=False,
    approves=True,
    rollout_percentage=25,
    audit_sample_percentage=10,
)
_STOP = v.EmergencyStop(stopped=True, reason="Refunds look odd", by="admin", at=s.at(30))
_RULES: dict[str, Any] = {
    "revision": 3,
    "text": TEXT,
    "rules": [_ASKS, _APPROVES],
    "author": "admin",
    "comment": "Small refunds, for a quarter of them",
    "created_at": s.at(-90),
    "warnings": [],
    "emergency_stop": v.EmergencyStop(stopped=False, reason="", by=None, at=None),
}
_FILE = v.RulesFileStatus(path="/srv/cairn-data/rules.yaml", faults=[])
_GLOBAL = v.RuleText(scope=GLOBAL, file=_FILE, **_RULES)
_OWN = v.RuleText(scope=s.PIPELINE_ID, file=None, **_RULES)
_VERSION = v.RuleVersion(
    scope=GLOBAL,
    revision=3,
    author="admin",
    comment="Small refunds, for a quarter of them",
    created_at=s.at(-90),
    digest=s.DIGEST,
    text=TEXT,
)
_VERSIONS = v.RuleVersionPage(items=[_VERSION], next_cursor=None)
_DIFF = v.RuleDiff(
    from_revision=2, to_revision=3, text="-        rollout_percentage: 10\n+        rollout_percentage: 25\n"
)
_CONDITION = v.RuleCondition(field="amount", wanted="> 1000", actual="1250", holds=True)
_DISAGREEMENT = v.Disagreement(
    approval_id=s.APPROVAL_ID,
    pipeline_id=s.PIPELINE_ID,
    pipeline_name="Business goals to design",
    checkpoint_name="Business Goals",
    kind=ApprovalKind.ACTION,
    operation_type="refund",
    asked_at=s.at(0),
    rule="Small refunds",
    decision="modified",
    by="a reviewer",
    feedback="The shipping is not refunded",
)
_AUDIT = v.Audit(
    approval_id=s.APPROVAL_ID,
    pipeline_id=s.PIPELINE_ID,
    pipeline_name="Business goals to design",
    run_id=s.RUN_ID,
    run_version=2,
    execution_id=s.EXECUTION_ID,
    checkpoint_name="Business Goals",
    kind=ApprovalKind.ACTION,
    operation_type="refund",
    asked_at=s.at(0),
    rule="Small refunds",
    scope=GLOBAL,
    review=v.AuditReview(agrees=True, comment="", by="a reviewer", at=s.at(40)),
)

REQUESTS: dict[str, Any] = {
    "set_emergency_stop": {"stopped": True, "reason": "Refunds look odd"},
    "review_audit": {"agrees": True, "comment": ""},
}
RESPONSES: dict[str, Any] = {
    "get_rules": _GLOBAL,
    "put_rules": _GLOBAL,
    **dict.fromkeys(("get_pipeline_rules", "put_pipeline_rules", "delete_pipeline_rules"), _OWN),
    **dict.fromkeys(("list_rule_versions", "list_pipeline_rule_versions"), _VERSIONS),
    **dict.fromkeys(("get_rule_version", "get_pipeline_rule_version"), _VERSION),
    **dict.fromkeys(("diff_rule_versions", "diff_pipeline_rule_versions"), _DIFF),
    "get_rules_schema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
    "check_rules": v.RuleCheck(valid=True, errors=[], warnings=[], rules=[_ASKS, _APPROVES]),
    "explain_approval": v.ApprovalExplanation(
        approval_id=s.APPROVAL_ID,
        kind=ApprovalKind.ACTION,
        status=ApprovalStatus.PENDING,
        rule="Large amounts",
        scope=GLOBAL,
        rules_revision=3,
        reason="'Large amounts' of the global rules, revision 3, asks.",
        considered=[
            v.EvaluatedRule(
                rule="Large amounts",
                scope=GLOBAL,
                section="checkpoints",
                outcome="asks",
                shadow=False,
                conditions=[_CONDITION],
            )
        ],
    ),
    "backtest_rules": v.Backtest(
        decisions=240,
        would_approve=80,
        would_ask=12,
        no_rule=148,
        agreed=79,
        disagreed=1,
        false_approve=share(Proportion(1, 80)),
        rules=[
            v.RuleScore(
                rule="Small refunds",
                approved=80,
                agreed=79,
                disagreed=1,
                asked=0,
                false_approve=share(Proportion(1, 80)),
            )
        ],
        disagreements=[_DISAGREEMENT],
        since=s.at(-50_000),
        until=s.at(0),
        complete=True,
    ),
    "get_autonomy": v.Autonomy(
        since=s.at(-129_600),
        decided=400,
        automatic=share(Proportion(60, 400)),
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
                disagreement=share(Proportion(0, 5)),
                shadow=share(Proportion(1, 90)),
                asked=160,
                modification=share(Proportion(4, 160)),
            )
        ],
    ),
    "list_audits": v.AuditPage(items=[_AUDIT], next_cursor=None),
    "review_audit": _AUDIT,
    **dict.fromkeys(("get_emergency_stop", "set_emergency_stop"), _STOP),
    "list_emergency_stops": v.EmergencyStopPage(items=[_STOP], next_cursor=None),
}
