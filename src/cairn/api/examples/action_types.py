"""Action types."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect
from cairn.services.action_types.views import ActionTypeDetails, ActionTypePage


def put_type_request() -> dict[str, Any]:
    return {
        "title": "Refund {{ amount }} {{ currency }}[ to {{ account }}]",
        "schema": {
            "type": "object",
            "required": ["amount", "currency"],
            "properties": {
                "amount": {"type": "number"},
                "currency": {"type": "string"},
                "account": {"type": "string"},
            },
        },
        "risk_level": "medium",
        "identity": ["amount", "currency", "account"],
        "amount": "amount",
        "currency": "currency",
    }


def action_type() -> ActionTypeDetails:
    declared = put_type_request()
    return ActionTypeDetails(
        name="refund",
        title="Refund",
        title_template=declared["title"],
        description="",
        parameters_schema={**declared["schema"], "additionalProperties": False},
        effect=ActionEffect.CHANGES,
        risk_level=RiskLevel.MEDIUM,
        identity=declared["identity"],
        amount="amount",
        currency="currency",
        hosts=None,
        executed_by="proposer",
        reversible="no",
        idempotent=False,
        source="admin",
        declaration=declared,
    )


def types() -> ActionTypePage:
    return story.page(ActionTypePage, action_type())
