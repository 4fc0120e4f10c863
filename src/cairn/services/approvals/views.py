"""Questions put to people."""

from __future__ import annotations

from typing import Any, Literal

from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus, ExecutionStatus, OnExpiry
from cairn.services.actions.views import ProposedAction
from cairn.services.artifacts.views import Artifact
from cairn.services.view import Document, Id, Instant, Page, View


class Vote(View):
    """One answer to an approval."""

    by: str
    at: Instant
    decision: str
    feedback: str
    digest: str  # of what was looked at


class Approval(View):
    """`assigned_to` lists user names, email addresses, roles and groups; if it is empty, any approver can decide."""

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
    requested_at: Instant
    expires_at: Instant | None
    on_timeout: OnExpiry | None  # null: there is no deadline
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
    can_decide: bool  # whoever asks
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
    timeout_seconds: float | None
    escalate_after_seconds: float | None
    escalate_to: list[str]
    not_by_starter: bool
    channels: list[str]


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
    prior_executions: list[PriorExecution]
    comments: list[Comment]
    context_available: bool


class BatchDecisionResult(View):
    """What came of one of several decisions."""

    approval_id: Id
    status: ApprovalStatus | None
    error: str | None


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
    values: Document | None  # the last answers, to be revised
    feedback: str | None  # why they have to be revised
