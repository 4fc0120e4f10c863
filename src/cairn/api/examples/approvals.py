"""An approval of a proposed action, decisions and corrections."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import actions, story
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.services.actions.views import (
    LearningCase,
    LearningCasePage,
    ModificationPreview,
    ModificationRate,
    ModificationRates,
    ModifyValidation,
    ParameterChange,
)
from cairn.services.approvals.views import ApprovalDetail, ApprovalPage, BatchDecisionResult, BatchDecisionResults


def _modified_parameters() -> dict[str, Any]:
    return {**actions.parameters(), "amount": 89.99}


def _change() -> ParameterChange:
    return ParameterChange(
        field="amount", path="/amount", original=99.99, modified=89.99, change_type="updated", difference=-10.0
    )


def approval() -> ApprovalDetail:
    return story.approval_detail().model_copy(
        update={
            "title": actions.SUMMARY,
            "kind": ApprovalKind.ACTION,
            "available_decisions": ["approve", "modify", "revise", "reject"],
            "operation_type": "send_email",
            "risk_level": RiskLevel.HIGH,
            "confidence": 0.87,
            "action": actions.proposed(),
            "form": None,
        }
    )


def _correction() -> LearningCase:
    return LearningCase(
        case_id=story.id_of("case"),
        approval_id=story.APPROVAL_ID,
        pipeline_id=story.PIPELINE_ID,
        operation_type="send_email",
        original=actions.parameters(),
        modified=_modified_parameters(),
        changes=[_change()],
        feedback="Reduced by policy",
        by="admin",
        at=story.at(20),
    )


def _rate() -> ModificationRate:
    return ModificationRate(
        operation_type="send_email",
        approved=40,
        modified=10,
        rate=0.25,
        recent_approved=20,
        recent_modified=2,
        recent_rate=0.1,
        earlier_rate=0.4,
    )


def decide_request() -> dict[str, Any]:
    return {"digest": story.DIGEST, "feedback": "Good"}


def decide_batch_request() -> dict[str, Any]:
    return {"decision": "approve", "items": [{"approval_id": story.APPROVAL_ID, "digest": story.DIGEST}]}


def modify_request() -> dict[str, Any]:
    return {"modified_params": {"amount": 89.99}}


def assign_request() -> dict[str, Any]:
    return {"assigned_to": ["finance"], "reason": "They know the account"}


def comment_request() -> dict[str, Any]:
    return {"text": "Verified with the policy"}


def approvals() -> ApprovalPage:
    return story.page(ApprovalPage, story.approval())


def batch_results() -> BatchDecisionResults:
    return BatchDecisionResults(
        decided=1,
        failed=0,
        items=[BatchDecisionResult(approval_id=story.APPROVAL_ID, status=ApprovalStatus.APPROVED, error_message=None)],
    )


def modification_preview() -> ModificationPreview:
    return ModificationPreview(
        approval_id=story.APPROVAL_ID,
        parameters=_modified_parameters(),
        diff=[_change()],
        validation=ModifyValidation(passed=True, errors=[]),
    )


def corrections() -> LearningCasePage:
    return LearningCasePage(items=[_correction()], next_cursor=None)


def correction_rates() -> ModificationRates:
    return ModificationRates(recent_days=30, items=[_rate()])
