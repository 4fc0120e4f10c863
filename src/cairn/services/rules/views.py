"""Approval rules, explanations of their verdicts, and their scores."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.services.pipelines.views import DefinitionFinding
from cairn.services.view import Id, Instant, Page, View

Scope = Annotated[str, Field(description="`global`, or the pipeline's id.")]


class RuleSummary(View):
    """A summary of a rule."""

    name: str
    section: Literal["checkpoints", "auto_approval"]
    priority: int
    is_enabled: bool
    shadow: bool
    auto_approves: bool
    rollout_percentage: float
    audit_sample_percentage: float


class EmergencyStop(View):
    """Whether automatic approvals are stopped."""

    stopped: bool
    reason: str
    by: str | None
    at: Instant | None


class EmergencyStopPage(Page[EmergencyStop]):
    """Starts and ends of emergency stops, newest first."""


class RulesFileStatus(View):
    """The file in which the global rules can be edited."""

    path: str
    errors: Annotated[
        list[DefinitionFinding],
        Field(description="With errors, the previous rules stay active."),
    ]


class RuleText(View):
    """The rules of one scope."""

    scope: Scope
    revision: Annotated[int, Field(description="Number of the version. 0 if no rules have been saved.")]
    text: str
    rules: list[RuleSummary]
    created_by: str | None
    comment: str
    created_at: Instant | None
    warnings: list[DefinitionFinding]
    emergency_stop: EmergencyStop
    file: RulesFileStatus | None


class RuleVersion(View):
    scope: Scope
    revision: int
    created_by: str
    comment: str
    created_at: Instant
    digest: str
    text: str


class RuleVersionPage(Page[RuleVersion]):
    """Versions, newest first."""


class RuleDiff(View):
    """The differences between two versions, as a unified diff."""

    from_revision: int
    to_revision: int
    text: str


class RuleCheck(View):
    """The rules in a text, with its errors and warnings."""

    is_valid: bool
    errors: list[DefinitionFinding]
    warnings: list[DefinitionFinding]
    rules: list[RuleSummary]


# Explanations
class RuleCondition(View):
    field: str
    expected: str
    actual: str
    matched: Annotated[bool | None, Field(description="Null: the value is missing or can't be compared.")]


class EvaluatedRule(View):
    """An evaluated rule and its outcome."""

    rule: str
    scope: Scope
    section: str
    outcome: str
    shadow: bool
    conditions: list[RuleCondition]


class ApprovalExplanation(View):
    """Why an approval was required, or given automatically."""

    approval_id: Id
    kind: ApprovalKind
    status: ApprovalStatus
    rule: str | None
    rule_scope: str | None
    rules_revision: int | None
    reason: str
    evaluated_rules: list[EvaluatedRule]


# Scores
class Proportion(View):
    """A count out of a total, with the 95 % confidence interval of the rate (Wilson)."""

    count: int
    total: int
    rate: float | None
    low: float
    high: float


class Disagreement(View):
    """An approval that users decided differently than the rule would have."""

    approval_id: Id
    pipeline_id: Id
    pipeline_name: str
    checkpoint_name: str
    kind: ApprovalKind
    operation_type: str | None
    requested_at: Instant
    rule: str
    decision: str
    by: str
    feedback: str


class RuleScore(View):
    """The verdicts of one rule in a backtest."""

    rule: str
    approved: int
    agreed: int
    disagreed: int
    required_approval: int
    false_approval_rate: Proportion


class Backtest(View):
    """Rules applied to past decisions of users."""

    decisions: int
    would_approve: int
    would_require_approval: int
    no_rule: int
    agreed: int
    disagreed: int
    false_approval_rate: Proportion
    rules: list[RuleScore]
    disagreements: Annotated[list[Disagreement], Field(description="The newest disagreements, at most 100.")]
    since: Instant | None
    until: Instant | None
    complete: Annotated[bool, Field(description="Whether all decisions in the period were evaluated.")]


class RuleAutonomy(View):
    """The verdicts of an active rule, and how users judged them."""

    scope: Scope
    pipeline_name: str | None
    rule: str
    section: Literal["checkpoints", "auto_approval"]
    mode: Literal["disabled", "shadow", "requires_approval", "rollout", "full"]
    rollout_percentage: float
    audit_sample_percentage: float
    approved: Annotated[int, Field(description="Automatic approvals.")]
    sampled: Annotated[int, Field(description="Automatic approvals selected for audit.")]
    reviewed: int
    disagreement: Annotated[Proportion, Field(description="Disagreements among reviewed approvals.")]
    shadow: Annotated[Proportion, Field(description="False approvals among those it would have given in shadow.")]
    required_approval: Annotated[int, Field(description="Approvals it required that users have decided.")]
    modification: Annotated[Proportion, Field(description="Approved actions that users modified first.")]


class Autonomy(View):
    """The extent of automatic approval, by rule."""

    since: Instant
    decided: Annotated[int, Field(description="Approvals decided by users or by rules.")]
    automatic: Proportion
    rules: list[RuleAutonomy]


class AuditReview(View):
    agrees: bool
    comment: str
    by: str
    at: Instant


class Audit(View):
    """An automatic approval that users review afterwards."""

    approval_id: Id
    pipeline_id: Id
    pipeline_name: str
    run_id: Id
    run_version: int | None
    execution_id: Id
    checkpoint_name: str
    kind: ApprovalKind
    operation_type: str | None
    requested_at: Instant
    rule: str
    rule_scope: Scope
    review: AuditReview | None


class AuditPage(Page[Audit]):
    """Sampled approvals, newest first."""
