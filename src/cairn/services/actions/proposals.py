"""Assess a proposed action, and report the decision to its proposer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cairn.core.execution import Failure
from cairn.core.rule_verdict import ProposedAction, RiskLevel
from cairn.core.states import APPROVED_STATUSES
from cairn.definitions import PipelineDefinition
from cairn.documents import digest, encode_json
from cairn.ports import ProposesAction
from cairn.ports.tools import is_tool_operation
from cairn.services.actions.declared_types import DeclaredType, action_type, schema_violations, tool_action_type
from cairn.services.actions.queries import approved_parameters
from cairn.services.actions.templates import unknown_names
from cairn.store import Connection

MAX_BYTES = 256 * 1024  # of parameters, and of supporting data
TEMPLATE_FIELDS = ("subject", "body")  # may contain names of other parameters


@dataclass(frozen=True, slots=True)
class AssessedProposal:
    """A valid proposal with its risk."""

    action: ProposedAction
    proposed: ProposesAction
    proposed_risk: RiskLevel | None
    risk_reasons: tuple[str, ...]

    @property
    def digest(self) -> str:
        return action_digest(self.action.operation_type, self.action.parameters)


def action_digest(operation_type: str, parameters: Mapping[str, Any]) -> str:
    """The digest that decisions about an action are bound to."""
    return digest({"operation_type": operation_type, "parameters": dict(parameters)})


def assess(definition: PipelineDefinition, proposed: ProposesAction) -> AssessedProposal | Failure:
    """Assess a proposal, or return a Failure if it is invalid.

    The risk is the higher one of the risk that the pipeline declares and the risk that the proposer states.
    """
    name = proposed.operation_type
    if is_tool_operation(name) and proposed.tool is None:
        return Failure("invalid_action", f"{name} is a tool, not an action. Only agents that have it can call it.")
    action = tool_action_type(name, proposed.supporting_data) or action_type(definition, name)
    if errors := _proposal_errors(action, proposed):
        message = "; ".join(f"{path or 'parameters'}: {error}" for path, error in errors)
        return Failure("invalid_action", f"The proposed action {name} is invalid: {message}.")
    try:
        proposed_risk = RiskLevel(proposed.risk_level) if proposed.risk_level is not None else None
    except ValueError:
        levels = ", ".join(risk.value for risk in RiskLevel)
        message = f"The risk level of {name} must be one of {levels}, not {proposed.risk_level!r}."
        return Failure("invalid_action", message)
    risk = max(action.risk, proposed_risk or RiskLevel.LOW, key=lambda risk: risk.rank)
    return AssessedProposal(
        ProposedAction(name, proposed.parameters, risk, proposed.confidence),
        proposed,
        proposed_risk,
        tuple(_risk_reasons(action, proposed_risk)),
    )


def _proposal_errors(action: DeclaredType, proposed: ProposesAction) -> list[tuple[str, str]]:
    values: dict[str, Any] = {"parameters": dict(proposed.parameters), "supporting_data": proposed.supporting_data}
    for name, value in values.items():
        if len(encode_json(value)) > MAX_BYTES:
            return [(name, f"larger than {MAX_BYTES // 1024} KB")]
    return parameter_errors(action, dict(proposed.parameters))


def parameter_errors(action: DeclaredType, parameters: dict[str, Any]) -> list[tuple[str, str]]:
    """Errors as paths and messages. Parameters from agents, scripts and people are checked in the same way."""
    errors = schema_violations(action, parameters)
    if action.name == "send_email":
        for field in TEMPLATE_FIELDS:
            for name in unknown_names(str(parameters.get(field, "")), parameters):
                errors.append((f"/{field}", f"{{{{ {name} }}}} is not a parameter"))
    return errors


def _risk_reasons(action: DeclaredType, proposed_risk: RiskLevel | None) -> list[str]:
    if is_tool_operation(action.name):
        return [
            f"{action.name} changes something outside of Cairn, or no admin has listed it as harmless.",
            "It is called in a new session of its server, with exactly these arguments.",
        ]
    reasons = [
        f"The pipeline declares {action.name} as {action.risk.value} risk."
        if action.is_declared
        else f"The pipeline doesn't declare {action.name}: undeclared actions are {action.risk.value} risk."
    ]
    if proposed_risk is not None:
        reasons.append(f"The proposer rated this as {proposed_risk.value} risk.")
    if action.name == "send_email":
        reasons.append("An email leaves Cairn and can't be taken back.")
    elif action.name == "http_request":
        reasons.append("The request changes another system and can't be taken back.")
    return reasons


def decision_for_proposer(connection: Connection, row: Any) -> dict[str, Any] | None:
    """The result of `propose_action`. None while it is undecided. `row`: an action joined with its approval."""
    if row.status not in {status.value for status in APPROVED_STATUSES} or row.outcome in (
        "proposed",
        "started",
        "unknown",
    ):
        return None
    parameters = approved_parameters(connection, row.approval_id, row.parameters)
    return {
        "decision": "approved",
        "parameters": parameters,
        "modified": action_digest(row.operation_type, parameters) != action_digest(row.operation_type, row.parameters),
        "approval_id": row.approval_id,
        "outcome": row.outcome,
        "result": row.result,
    }
