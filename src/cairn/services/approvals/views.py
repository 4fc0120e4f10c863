"""Questions put to people."""

from __future__ import annotations

from typing import Any

from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus, ExecutionStatus, OnExpiry
from cairn.services.approvals.form_views import Form
from cairn.services.artifacts.views import Artifact
from cairn.services.view import Id, Instant, Page, View


class Vote(View):
    """One answer to an approval."""

    by: str
    at: Instant
    decision: str
    feedback: str
    digest: str  # of what was looked at


class Approval(View):
    """`asked_of` names persons, addresses, roles or groups who may decide; empty: whoever may decide at all."""

    approval_id: Id
    title: str  # one line that says what is asked
    kind: ApprovalKind
    status: ApprovalStatus
    digest: str
    run_id: Id
    run_version: int | None
    pipeline_id: Id
    pipeline_name: str
    execution_id: Id
    checkpoint_id: Id
    checkpoint_name: str
    checkpoint_position: int
    asked_at: Instant
    expires_at: Instant | None
    on_timeout: OnExpiry | None  # null: there is no deadline
    escalate_to: list[str]
    closed_at: Instant | None
    needed: int
    given: int
    reason: str
    decisions: list[Vote]
    possible: list[str]
    rule: str | None
    priority: int
    asked_of: list[str]
    may_decide: bool  # whoever asks
    warning: str | None  # what stands in the way of a decision: too few people may take it
    escalated: bool
    operation_type: str | None
    risk_level: RiskLevel | None
    confidence: float | None
    artifact_count: int  # of the result so far


class ApprovalPage(Page[Approval]):
    """The queue."""


class ApprovalTerms(View):
    """Under which it is asked."""

    on_timeout: OnExpiry | None
    period_seconds: float | None
    escalate_after_seconds: float | None
    escalate_to: list[str]
    not_by_starter: bool
    channels: list[str]


class ProposedAction(View):
    """What is proposed, why, and what came of it."""

    operation_type: str
    parameters: dict[str, Any]  # as they were proposed
    current_parameters: dict[str, Any]  # as they stand: one of several who approve may have changed them
    approved_parameters: dict[str, Any] | None  # once it is approved
    parameters_schema: dict[str, Any] | bool | None
    reasoning: str
    confidence: float | None
    risk_level: RiskLevel
    claimed_risk: RiskLevel | None
    risk_reasons: list[str]
    supporting_data: Any
    is_carried_out: bool  # by Cairn itself; otherwise the parameters go back to whoever proposed it
    outcome: str
    result: Any
    begun_at: Instant | None
    ended_at: Instant | None


class PriorExecution(View):
    """An execution of the run so far."""

    execution_id: Id
    checkpoint_id: Id
    checkpoint_name: str
    checkpoint_position: int
    status: ExecutionStatus
    seconds: float | None


class Comment(View):
    comment_id: Id
    by: str
    at: Instant
    text: str


class ApprovalDetail(Approval):
    """An approval with what it is about."""

    started_by: str
    checkpoint_description: str
    rule_scope: str | None
    rules_revision: int | None
    terms: ApprovalTerms
    action: ProposedAction | None
    artifacts: list[Artifact]
    form: Form | None
    steps: list[PriorExecution]
    comments: list[Comment]
    context_available: bool


class ParameterChange(View):
    """A field that was changed; `difference` is of numbers."""

    field: str
    path: str
    original: Any
    modified: Any
    change_type: str
    difference: float | int | None = None


class ParameterError(View):
    """A parameter that does not fit."""

    path: str
    message: str


class ModifyValidation(View):
    passed: bool
    errors: list[ParameterError]


class ModificationPreview(View):
    """What a modification would make of an action, without doing it."""

    approval_id: Id
    parameters: dict[str, Any]
    diff: list[ParameterChange]
    validation: ModifyValidation


class BatchDecisionResult(View):
    """What came of one of several decisions."""

    approval_id: Id
    status: ApprovalStatus | None
    error: str | None


class BatchDecisionResults(View):
    decided: int
    refused: int
    items: list[BatchDecisionResult]


class LearningCase(View):
    """A correction that people made (H9)."""

    case_id: Id
    approval_id: Id
    pipeline_id: Id
    operation_type: str
    original: dict[str, Any]
    modified: dict[str, Any]
    changes: list[ParameterChange]
    feedback: str
    by: str
    at: Instant


class LearningCasePage(Page[LearningCase]):
    """Corrections, newest first."""


class ModificationRate(View):
    """How often people correct an operation before they approve it; recently, and before that."""

    operation_type: str
    approved: int
    modified: int
    rate: float
    recent_approved: int
    recent_modified: int
    recent_rate: float | None
    earlier_rate: float | None


class ModificationRates(View):
    recent_days: int
    items: list[ModificationRate]
