"""Response shapes of approvals and forms."""

from __future__ import annotations

from typing import Any, Literal

from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus, ExecutionStatus, OnExpiry
from cairn.services.actions.views import ProposedAction
from cairn.services.artifacts.views import Artifact
from cairn.services.view import Document, Id, Instant, Page, View


class Vote(View):
    """One decision on an approval."""

    by: str
    at: Instant
    decision: str
    feedback: str
    digest: str  # of the content that was decided on


class Approval(View):
    """`assigned_to` lists user names, email addresses, roles and groups; if it is empty, any approver can decide."""

    approval_id: Id
    title: str  # a short request, such as "Approve Design"
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
    requested_at: Instant
    expires_at: Instant | None
    on_timeout: OnExpiry | None  # null: no deadline
    escalate_to: list[str]
    closed_at: Instant | None
    required_approvals: int
    received_approvals: int
    reason: str
    decisions: list[Vote]
    available_decisions: list[str]
    rule: str | None
    priority: int
    assigned_to: list[str]
    can_decide: bool  # whether you can decide
    warning: str | None  # too few users can decide, and what to do
    escalated: bool
    operation_type: str | None
    risk_level: RiskLevel | None
    confidence: float | None
    artifact_count: int


class ApprovalPage(Page[Approval]):
    """Approvals in the requested order."""


class ApprovalTerms(View):
    """Deadline, escalation and notification terms of an approval."""

    on_timeout: OnExpiry | None
    timeout_seconds: float | None
    escalate_after_seconds: float | None
    escalate_to: list[str]
    not_by_starter: bool
    channels: list[str]


class PriorExecution(View):
    """An earlier execution of the run."""

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
    """An approval with its content."""

    run_created_by: str
    checkpoint_description: str
    rule_scope: str | None
    rules_revision: int | None
    terms: ApprovalTerms
    action: ProposedAction | None
    artifacts: list[Artifact]
    form: Form | None
    prior_executions: list[PriorExecution]
    comments: list[Comment]
    context_available: bool


class BatchDecisionResult(View):
    """The result of one decision in a batch."""

    approval_id: Id
    status: ApprovalStatus | None
    error_message: str | None


class BatchDecisionResults(View):
    decided: int
    failed: int
    items: list[BatchDecisionResult]


class FormField(View):
    field_id: Id
    name: str
    type: Literal["text", "number", "boolean", "file", "multiline_text"]
    label: str
    required: bool
    default: Any = None
    validation: str | Document | None = None


class Form(View):
    instructions: str
    fields: list[FormField]
    values: Document | None  # previous answers
    feedback: str | None  # why they must be revised
