"""Examples of actions: proposed, corrected, learnt from."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story as s
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.services.actions.catalogue import SEND_EMAIL
from cairn.services.approvals.views import (
    BatchDecisionResult,
    BatchDecisionResults,
    LearningCase,
    LearningCasePage,
    ModificationPreview,
    ModificationRate,
    ModificationRates,
    ModifyValidation,
    ParameterChange,
    ProposedAction,
)

ORIGINAL: dict[str, Any] = {
    "to": "customer@example.com",
    "subject": "Refund Confirmation - Order #12345",
    "amount": 99.99,
    "body": "Your refund of ${{ amount }} has been processed.",
}
MODIFIED: dict[str, Any] = {**ORIGINAL, "amount": 89.99}
CHANGE = ParameterChange(
    field="amount", path="/amount", original=99.99, modified=89.99, change_type="updated", difference=-10.0
)
ACTION = ProposedAction(
    operation_type="send_email",
    parameters=ORIGINAL,
    current_parameters=ORIGINAL,
    approved_parameters=None,
    parameters_schema=SEND_EMAIL,
    reasoning="The customer asked for a refund of a defective product; the purchase is confirmed.",
    confidence=0.87,
    risk_level=RiskLevel.HIGH,
    claimed_risk=RiskLevel.HIGH,
    risk_reasons=["The pipeline declares send_email as high."],
    supporting_data={"customer": {"orders": 15, "refunds": 0}},
    is_carried_out=True,
    outcome="proposed",
    result=None,
    begun_at=None,
    ended_at=None,
)
PROPOSED = s.APPROVAL_DETAIL.model_copy(
    update={
        "title": "Send “Refund Confirmation - Order #12345” to customer@example.com",
        "kind": ApprovalKind.ACTION,
        "possible": ["approve", "modify", "revise", "reject"],
        "operation_type": "send_email",
        "risk_level": RiskLevel.HIGH,
        "confidence": 0.87,
        "action": ACTION,
        "form": None,
    }
)
CASE = LearningCase(
    case_id=s.name("case"),
    approval_id=s.APPROVAL_ID,
    pipeline_id=s.PIPELINE_ID,
    operation_type="send_email",
    original=ORIGINAL,
    modified=MODIFIED,
    changes=[CHANGE],
    feedback="Reduced by policy",
    by="admin",
    at=s.at(20),
)
RATE = ModificationRate(
    operation_type="send_email",
    approved=40,
    modified=10,
    rate=0.25,
    recent_approved=20,
    recent_modified=2,
    recent_rate=0.1,
    earlier_rate=0.4,
)
BODIES: dict[str, Any] = {
    "decide_batch": {"decision": "approve", "items": [{"approval_id": s.APPROVAL_ID, "digest": s.DIGEST}]},
    "preview_modification": {"modified_params": {"amount": 89.99}},
    "assign_approval": {"to": ["finance"], "reason": "They know the account"},
    "add_comment": {"text": "Verified with the policy"},
}
ANSWERS: dict[str, Any] = {
    "decide_batch": BatchDecisionResults(
        decided=1,
        refused=0,
        items=[BatchDecisionResult(approval_id=s.APPROVAL_ID, status=ApprovalStatus.APPROVED, error=None)],
    ),
    "preview_modification": ModificationPreview(
        approval_id=s.APPROVAL_ID,
        parameters=MODIFIED,
        diff=[CHANGE],
        validation=ModifyValidation(passed=True, errors=[]),
    ),
    "assign_approval": PROPOSED,
    "add_comment": PROPOSED,
    "list_learning_cases": LearningCasePage(items=[CASE], next_cursor=None),
    "get_modification_rates": ModificationRates(recent_days=30, items=[RATE]),
}
