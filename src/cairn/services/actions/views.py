"""Shapes of proposed actions, their modifications and the corrections learned from them."""

from __future__ import annotations

from typing import Any

from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect, ActionState
from cairn.services.view import Id, Instant, Page, View


class ActionSummary(View):
    """An action in a list."""

    action_id: Id
    operation_type: str
    summary: str
    state: ActionState
    state_reason: str
    effect: ActionEffect
    risk_level: RiskLevel
    run_id: Id
    pipeline_id: Id
    execution_id: Id
    approval_id: Id | None
    approved_by: str
    settled: bool
    modified: bool
    result: Any
    proposed_at: Instant
    started_at: Instant | None
    ended_at: Instant | None


class ActionPage(Page[ActionSummary]):
    """Actions, newest first."""


class ProposedAction(View):
    """The proposed action, its reasons and its outcome."""

    action_id: Id
    operation_type: str
    state: ActionState
    state_reason: str
    effect: ActionEffect
    summary: str
    version: int
    parameters: dict[str, Any]  # as they were proposed
    current_parameters: dict[str, Any]  # after modifications
    approved_parameters: dict[str, Any] | None  # once it is approved
    request: dict[str, Any]  # exactly what is sent; secrets by name, attachments with their checksums
    facts: dict[str, Any]  # computed from the request, for rules
    untrusted: bool  # something from outside entered the context of the proposal
    repeats: list[ActionSummary]  # earlier actions that it repeats
    approved_by: str  # people, default, override or rule:ID
    approved_until: Instant | None
    occurrence: int | None
    reused_from: Id | None
    reported_by: str  # sender, proposer, assumed or person
    parameters_schema: dict[str, Any] | bool | None
    reasoning: str
    confidence: float | None
    risk_level: RiskLevel
    proposed_risk_level: RiskLevel | None
    risk_reasons: list[str]
    supporting_data: Any
    executed_by_cairn: bool  # by Cairn itself; otherwise the parameters go back to whoever proposed it
    result: Any
    started_at: Instant | None
    ended_at: Instant | None


class ActionVote(View):
    """A vote on an action. It counts while it was cast on the current version."""

    by: str
    at: Instant
    choice: str  # approve, happened, did_not_happen or send_again
    on_repeat: str | None  # execute_again, if earlier actions were shown
    version: int  # of the action
    digest: str  # of what was shown


class ActionDetail(ProposedAction):
    """An action with its place, its votes and what you can do about it."""

    run_id: Id
    pipeline_id: Id
    checkpoint_id: Id
    execution_id: Id
    approval_id: Id | None
    proposed_at: Instant
    modified: bool
    settled: bool
    resend_permitted: bool
    digest: str  # of what decisions are bound to: the content and the earlier actions
    votes: list[ActionVote]
    available_commands: list[str]  # revoke, or answers to settle an unknown outcome


class ActionGate(View):
    """Whether actions can start."""

    held: bool  # the database was restored, and no admin has reviewed it
    stopped: bool  # people have stopped all actions
    reason: str
    changed_at: Instant | None
    changed_by: str
    unknown: list[ActionSummary]  # starts that the restored database did not know, until they are settled


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


class LearningCase(View):
    """A correction that people made."""

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
