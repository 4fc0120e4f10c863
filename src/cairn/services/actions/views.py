"""Shapes of proposed actions, their modifications and the corrections learned from them."""

from __future__ import annotations

from typing import Any

from cairn.core.rule_verdict import RiskLevel
from cairn.services.view import Id, Instant, Page, View


class ProposedAction(View):
    """The proposed action, its reasons and its outcome."""

    operation_type: str
    parameters: dict[str, Any]  # as they were proposed
    current_parameters: dict[str, Any]  # as they stand: one of several who approve may have changed them
    approved_parameters: dict[str, Any] | None  # once it is approved
    parameters_schema: dict[str, Any] | bool | None
    reasoning: str
    confidence: float | None
    risk_level: RiskLevel
    proposed_risk_level: RiskLevel | None
    risk_reasons: list[str]
    supporting_data: Any
    executed_by_cairn: bool  # by Cairn itself; otherwise the parameters go back to whoever proposed it
    outcome: str
    result: Any
    started_at: Instant | None
    ended_at: Instant | None


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
