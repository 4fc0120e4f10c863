"""A proposed action is weighed, recorded with the approval it leads to, and given back when it is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import sqlalchemy as sa

from cairn.core.approval import Approval
from cairn.core.execution import Failure
from cairn.core.rule_verdict import ProposedAction, RiskLevel
from cairn.core.states import AGREED
from cairn.definitions import PipelineDefinition
from cairn.documents import decode_json, digest, encode_json
from cairn.ports import ProposesAction
from cairn.services.actions.catalogue import ActionType, find_faults, type_of
from cairn.services.actions.summaries import summarize
from cairn.services.actions.templates import unknown
from cairn.services.engine.commit import Commit
from cairn.store import Connection, blobs
from cairn.store import tables as t

LARGEST = 256 * 1024  # bytes of parameters, and of supporting data
TEXTS = ("subject", "body")  # that may name other parameters


@dataclass(frozen=True, slots=True)
class AssessedProposal:
    """A proposal that can be decided about."""

    action: ProposedAction
    proposed: ProposesAction
    claimed: RiskLevel | None
    reasons: tuple[str, ...]

    @property
    def digest(self) -> str:
        return digest_of(self.action.operation_type, self.action.parameters)


def digest_of(operation_type: str, parameters: Mapping[str, Any]) -> str:
    """What a decision about an action is bound to."""
    return digest({"operation_type": operation_type, "parameters": dict(parameters)})


def weigh(definition: PipelineDefinition, proposed: ProposesAction) -> AssessedProposal | Failure:
    """How risky it is, by the pipeline and by the proposer; what does not fit is the proposer's fault."""
    name = proposed.operation_type
    kind = type_of(definition, name)
    if problems := _problems(kind, proposed):
        told = "; ".join(f"{path or 'parameters'}: {message}" for path, message in problems)
        return Failure("wrong_action", f"The proposed action {name} does not fit: {told}.")
    try:
        claimed = RiskLevel(proposed.risk_level) if proposed.risk_level is not None else None
    except ValueError:
        known = ", ".join(risk.value for risk in RiskLevel)
        return Failure("wrong_action", f"The risk of {name} is one of {known}, not {proposed.risk_level!r}.")
    risk = max(kind.risk, claimed or RiskLevel.LOW, key=lambda risk: risk.rank)
    action = ProposedAction(name, proposed.parameters, risk, proposed.confidence)
    return AssessedProposal(action, proposed, claimed, tuple(_reasons(kind, claimed)))


def _problems(kind: ActionType, proposed: ProposesAction) -> list[tuple[str, str]]:
    said: dict[str, Any] = {"parameters": dict(proposed.parameters), "supporting_data": proposed.supporting_data}
    for what, value in said.items():
        if len(encode_json(value)) > LARGEST:
            return [(what, f"it has more than {LARGEST // 1024} KB")]
    return problems_of(kind, dict(proposed.parameters))


def problems_of(kind: ActionType, parameters: dict[str, Any]) -> list[tuple[str, str]]:
    """Where parameters do not fit, whoever gives them."""
    found = find_faults(kind, parameters)
    if kind.name == "send_email":
        for field in TEXTS:
            for name in unknown(str(parameters.get(field, "")), parameters):
                found.append((f"/{field}", f"it names {{{{ {name} }}}}, which is no parameter"))
    return found


def _reasons(kind: ActionType, claimed: RiskLevel | None) -> list[str]:
    found = [
        f"The pipeline declares {kind.name} as {kind.risk.value}."
        if kind.is_declared
        else f"The pipeline does not declare {kind.name}: such an action counts as {kind.risk.value}."
    ]
    if claimed is not None:
        found.append(f"Whoever proposes it says {claimed.value}.")
    if kind.name == "send_email":
        found.append("It reaches people outside, and cannot be taken back.")
    elif kind.name == "http_request":
        found.append("It calls another system, and cannot be taken back.")
    return found


# ---- in the transaction --------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class ProposalWrite:
    """Save a proposed action with the report that proposes it, for the approval that the report has led to."""

    execution: str
    proposal: AssessedProposal

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        e, action = commit.before.run.executions[self.execution], self.proposal.action
        approval, proposed = self._approval(commit), self.proposal.proposed
        connection.execute(
            sa.insert(t.actions).values(
                approval_id=approval.id,
                execution_id=e.id,
                revision_iteration=e.revision,
                call_number=proposed.call.number if proposed.call is not None else None,
                operation_type=action.operation_type,
                parameters=dict(action.parameters),
                summary=summarize(action.operation_type, action.parameters),
                reasoning=proposed.reasoning,
                confidence=action.confidence,
                claimed_risk=self.proposal.claimed.value if self.proposal.claimed else None,
                risk_level=action.risk.value,
                risk_reasons=list(self.proposal.reasons),
                supporting_data=proposed.supporting_data,
                outcome="proposed",
                idempotency_key=str(uuid5(NAMESPACE_OID, f"action/{approval.id}")),
                proposed_at=commit.context.at,
            )
        )

    def _approval(self, commit: Commit) -> Approval:
        """The new one, pending or decided already."""
        known = commit.before.run.approvals
        after = commit.after.run.approvals.values()
        return next(a for a in after if a.id not in known and a.execution == self.execution)


# ---- when it is decided ----------------------------------------------------------------------------------
def approved(connection: Connection, approval_id: str, proposed: dict[str, Any]) -> dict[str, Any]:
    """The parameters that were approved: the last that somebody has modified them to, or the proposed ones."""
    d = t.approval_decisions.c
    checksum = connection.execute(
        sa.select(d.answer_checksum)
        .where(d.approval_id == approval_id, d.answer_checksum.is_not(None))
        .order_by(d.position.desc())
        .limit(1)
    ).scalar()
    if checksum is None:
        return proposed
    content = blobs.read(connection, checksum)
    modified: Any = decode_json(content, max_bytes=max(len(content), 1))
    return modified


def answer_of(connection: Connection, row: Any) -> dict[str, Any] | None:
    """What a proposer is given back of a row of `actions` joined with its approval; None while it is not decided."""
    if row.status not in {status.value for status in AGREED} or row.outcome in ("proposed", "begun", "unknown"):
        return None
    parameters = approved(connection, row.approval_id, row.parameters)
    return {
        "decision": "approved",
        "parameters": parameters,
        "modified": digest_of(row.operation_type, parameters) != digest_of(row.operation_type, row.parameters),
        "approval_id": row.approval_id,
        "outcome": row.outcome,
        "result": row.result,
    }
