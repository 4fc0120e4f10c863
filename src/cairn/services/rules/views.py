"""Rules for approvals, why they decided as they did, and how well they do."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.services.pipelines.views import DefinitionFinding
from cairn.services.view import Id, Instant, Page, View

Scope = Annotated[str, Field(description="`global`, or the pipeline's id.")]


class RuleSummary(View):
    """One rule, in short."""

    name: str
    section: Literal["checkpoints", "auto_approval"]
    priority: int
    enabled: bool
    shadow: bool
    approves: bool
    rollout_percentage: float
    audit_sample_percentage: float


class EmergencyStop(View):
    """Whether every automatic approval is stopped."""

    stopped: bool
    reason: str
    by: str | None
    at: Instant | None


class EmergencyStopPage(Page[EmergencyStop]):
    """Every stop and every end of one, newest first."""


class RulesFileStatus(View):
    """The file that the global rules may be edited in."""

    path: str
    faults: Annotated[
        list[DefinitionFinding], Field(description="Of what lies there; what was in force before still is.")
    ]


class RuleText(View):
    """The rules of one scope."""

    scope: Scope
    revision: Annotated[int, Field(description="Counts the versions; 0 if none was saved yet.")]
    text: str
    rules: list[RuleSummary]
    author: str | None
    comment: str
    created_at: Instant | None
    warnings: list[DefinitionFinding]
    emergency_stop: EmergencyStop
    file: RulesFileStatus | None


class RuleVersion(View):
    scope: Scope
    revision: int
    author: str
    comment: str
    created_at: Instant
    digest: str
    text: str


class RuleVersionPage(Page[RuleVersion]):
    """Versions, newest first."""


class RuleDiff(View):
    """What changed between two versions, line by line."""

    from_revision: int
    to_revision: int
    text: str


class RuleCheck(View):
    """What a text of rules says, and what is wrong with it."""

    valid: bool
    errors: list[DefinitionFinding]
    warnings: list[DefinitionFinding]
    rules: list[RuleSummary]


# ---- why -----------------------------------------------------------------------------------------
class RuleCondition(View):
    field: str
    wanted: str
    actual: str
    holds: bool


class EvaluatedRule(View):
    """A rule that was looked at, and what came of it."""

    rule: str
    scope: Scope
    section: str
    outcome: str
    shadow: bool
    conditions: list[RuleCondition]


class ApprovalExplanation(View):
    """Why an approval was asked, or given without people."""

    approval_id: Id
    kind: ApprovalKind
    status: ApprovalStatus
    rule: str | None
    scope: str | None
    rules_revision: int | None
    reason: str
    considered: list[EvaluatedRule]


# ---- how well --------------------------------------------------------------------------------------
class Proportion(View):
    """So many of so many, with its 95 % confidence interval (Wilson)."""

    count: int
    of: int
    rate: float | None
    low: float
    high: float


class Disagreement(View):
    """Where people decided otherwise than the rule would have."""

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
    """What one rule would have done."""

    rule: str
    approved: int
    agreed: int
    disagreed: int
    asked: int
    false_approve: Proportion


class Backtest(View):
    """What rules would have done with what people decided."""

    decisions: int
    would_approve: int
    would_ask: int
    no_rule: int
    agreed: int
    disagreed: int
    false_approve: Proportion
    rules: list[RuleScore]
    disagreements: Annotated[list[Disagreement], Field(description="The newest of them, a hundred at most.")]
    since: Instant | None
    until: Instant | None
    complete: Annotated[bool, Field(description="Whether every decision in this time was looked at.")]


class RuleAutonomy(View):
    """What a rule has done, and how people have judged it."""

    scope: Scope
    pipeline_name: str | None
    rule: str
    section: Literal["checkpoints", "auto_approval"]
    mode: Literal["disabled", "shadow", "asks", "rollout", "full"]
    rollout_percentage: float
    audit_sample_percentage: float
    approved: Annotated[int, Field(description="Approvals that it gave.")]
    sampled: Annotated[int, Field(description="Of these, those that people are to look at.")]
    reviewed: int
    disagreement: Annotated[Proportion, Field(description="Of those that were looked at.")]
    shadow: Annotated[Proportion, Field(description="False approvals among those that it would have given in shadow.")]
    asked: Annotated[int, Field(description="Approvals that it put to people, who decided.")]
    modification: Annotated[Proportion, Field(description="How often people corrected what it put to them.")]


class Autonomy(View):
    """How far automatic approvals go, rule by rule."""

    since: Instant
    decided: Annotated[int, Field(description="Approvals that were decided, by people or by rules.")]
    automatic: Proportion
    rules: list[RuleAutonomy]


class AuditReview(View):
    agrees: bool
    comment: str
    by: str
    at: Instant


class Audit(View):
    """An automatic approval that people look at afterwards."""

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
    scope: Scope
    review: AuditReview | None


class AuditPage(Page[Audit]):
    """The sample, newest first."""
