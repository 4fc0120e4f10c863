"""Proposed actions, their approval and what became of them."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect, ActionState
from cairn.services.actions.views import (
    ActionDetail,
    ActionGate,
    ActionPage,
    ActionSummary,
    ActionVote,
    ProposedAction,
)

ACTION_ID = story.id_of("action")
SUMMARY = "Send “Refund Confirmation - Order #12345” to customer@example.com"


def parameters() -> dict[str, Any]:
    return {
        "to": "customer@example.com",
        "subject": "Refund Confirmation - Order #12345",
        "amount": 99.99,
        "body": "Your refund of ${{ amount }} has been processed.",
    }


def _fields() -> dict[str, Any]:
    return {
        "action_id": ACTION_ID,
        "operation_type": "send_email",
        "state": ActionState.WAITING,
        "state_reason": "Required by the rule High-risk mail.",
        "effect": ActionEffect.CHANGES,
        "summary": SUMMARY,
        "version": 1,
        "request": parameters(),
        "facts": {"recipients": ["customer@example.com"]},
        "untrusted": False,
        "repeats": [],
        "approved_by": "",
        "approved_until": None,
        "occurrence": None,
        "reused_from": None,
        "reported_by": "",
        "parameters": parameters(),
        "current_parameters": parameters(),
        "approved_parameters": None,
        "parameters_schema": None,
        "reasoning": "The customer asked for a refund of a defective product; the purchase is confirmed.",
        "confidence": 0.87,
        "risk_level": RiskLevel.HIGH,
        "proposed_risk_level": RiskLevel.HIGH,
        "risk_reasons": ["The pipeline declares send_email as high."],
        "supporting_data": {"customer": {"orders": 15, "refunds": 0}},
        "executed_by_cairn": True,
        "result": None,
        "started_at": None,
        "ended_at": None,
    }


def proposed() -> ProposedAction:
    return ProposedAction(**_fields())


def action() -> ActionDetail:
    changed: dict[str, Any] = {
        "state": ActionState.UNKNOWN,
        "state_reason": "The connection was closed before the receiver answered.",
        "approved_by": "people",
        "approved_parameters": parameters(),
        "occurrence": 1,
        "reported_by": "sender",
        "started_at": story.at(31),
        "ended_at": story.at(32),
    }
    return ActionDetail(
        **_fields() | changed,
        run_id=story.RUN_ID,
        pipeline_id=story.PIPELINE_ID,
        checkpoint_id=story.id_of("refund"),
        execution_id=story.EXECUTION_ID,
        approval_id=story.APPROVAL_ID,
        proposed_at=story.at(20),
        modified=False,
        settled=False,
        resend_permitted=False,
        digest=story.DIGEST,
        votes=[
            ActionVote(by="admin", at=story.at(30), choice="approve", on_repeat=None, version=1, digest=story.DIGEST)
        ],
        available_commands=["happened", "did_not_happen", "send_again", "give_up"],
    )


def summary() -> ActionSummary:
    shown = action()
    return ActionSummary(**{name: getattr(shown, name) for name in ActionSummary.model_fields})


def actions() -> ActionPage:
    return story.page(ActionPage, summary())


def gate() -> ActionGate:
    return ActionGate(
        held=True,
        stopped=False,
        reason="The database was restored and lacks actions that the journal knows. An admin has to review them.",
        changed_at=story.at(40),
        changed_by="worker",
        unknown=[summary()],
    )


def settle_request() -> dict[str, Any]:
    return {"answer": "happened", "feedback": "The customer has the email"}


def revoke_request() -> dict[str, Any]:
    return {"reason": "The order was cancelled"}
