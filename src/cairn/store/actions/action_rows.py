"""Convert actions to rows and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from cairn.core.action import Action, ActionRequirement, ActionVote, LimitUse, Place, Refusal
from cairn.core.rule_verdict import RiskLevel
from cairn.core.seats import Capacity, Requirement, SeatGroup
from cairn.core.states import ActionEffect, ActionState

# Columns with the same name and value as the field of an action.
PLAIN = (
    "operation",
    "identity",
    "call_digest",
    "content_digest",
    "version",
    "reason",
    "generation",
    "occurrence",
    "approved_by",
    "approved_until",
    "modified",
    "untrusted",
    "is_handed_over",
    "is_idempotent",
    "by_script",
    "was_unknown",
    "settled",
    "resend_permitted",
    "answered",
    "sends",
    "start_seq",
    "owner",
    "reused_of",
    "reported_by",
    "result",
    "proposed_at",
)

ACTION_COLUMNS = (
    *PLAIN,
    "action_id",
    "family_id",
    "checkpoint_id",
    "item",
    "run_id",
    "execution_id",
    "effect",
    "risk_level",
    "state",
)


def action_values(action: Action) -> dict[str, Any]:
    """The columns of an action, without its votes, requirements and limit use."""
    values: dict[str, Any] = {name: getattr(action, name) for name in PLAIN}
    return values | {
        "action_id": action.id,
        "family_id": action.place.family,
        "checkpoint_id": action.place.checkpoint,
        "item": action.place.item,
        "run_id": action.run,
        "execution_id": action.execution,
        "effect": action.effect.value,
        "risk_level": action.risk.value,
        "state": action.state.value,
    }


def action_of(
    row: Any,
    votes: Iterable[ActionVote] = (),
    requirements: Iterable[ActionRequirement] = (),
    use: LimitUse | None = None,
) -> Action:
    fields: dict[str, Any] = {name: getattr(row, name) for name in PLAIN}
    return Action(
        id=row.action_id,
        place=Place(row.family_id, row.checkpoint_id, row.item),
        run=row.run_id,
        execution=row.execution_id,
        effect=ActionEffect(row.effect),
        risk=RiskLevel(row.risk_level),
        state=ActionState(row.state),
        votes=tuple(votes),
        requirements=tuple(requirements),
        limit_use=use,
        **fields,
    )


def vote_values(action_id: str, position: int, vote: ActionVote) -> dict[str, Any]:
    return {
        "action_id": action_id,
        "actor": vote.actor,
        "position": position,
        "version": vote.version,
        "capacities": [list(capacity) for capacity in vote.capacities],
        "choice": vote.choice,
        "on_repeat": vote.on_repeat,
        "shown_digest": vote.shown_digest,
        "at": vote.at,
    }


def vote_of(row: Any) -> ActionVote:
    return ActionVote(
        row.actor,
        tuple(Capacity(*capacity) for capacity in row.capacities),
        row.version,
        row.choice,
        row.on_repeat,
        row.shown_digest,
        row.at,
    )


def requirement_values(action_id: str, position: int, requirement: ActionRequirement) -> dict[str, Any]:
    return {
        "action_id": action_id,
        "position": position,
        "rule_id": requirement.rule_id,
        "base": asdict(requirement.base),
        "current": asdict(requirement.current),
    }


def requirement_of(row: Any) -> ActionRequirement:
    return ActionRequirement(row.rule_id, _requirement(row.base), _requirement(row.current))


def _requirement(value: Mapping[str, Any]) -> Requirement:
    return Requirement(
        value["rule"],
        value["scope"],
        tuple(
            tuple(SeatGroup(tuple(g["members"]), g["count"], tuple(g["reserved_for"])) for g in step)
            for step in value["steps"]
        ),
        value["not_by_starter"],
    )


def refusal_of(row: Any) -> Refusal:
    place = Place(row.family_id, row.checkpoint_id, row.item)
    return Refusal(row.operation, place, row.identity, row.kind, row.by, row.at)


def limit_use_of(row: Any) -> LimitUse:
    return LimitUse(row.rule_id, row.window_key, None if row.amount is None else Decimal(row.amount), row.currency)
