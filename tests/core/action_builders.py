"""Actions, their history and the people who decide on them, in one line each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from cairn.core.action import Action, ActionRequirement, ActionVote, History, Place, Refusal
from cairn.core.action_judgment import NO_RULES
from cairn.core.action_rules import ActionRules, ApprovingRule, AskingRule, RuleLimit
from cairn.core.action_votes import APPROVE, Electorate
from cairn.core.rule_verdict import ApprovalTerms, RiskLevel
from cairn.core.seats import Capacity, People, Requirement
from cairn.core.states import ActionEffect, ActionState
from tests.core.seat_builders import STARTER, people_of

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HERE = Place("family", "checkpoint")


def action(id: str = "new", state: ActionState = ActionState.PROPOSED, **fields: Any) -> Action:
    """A risky action. Those with the same `identity` are equal."""
    given: dict[str, Any] = {
        "place": HERE,
        "run": "run",
        "execution": "execution",
        "operation": "transfer",
        "effect": ActionEffect.CHANGES,
        "risk": RiskLevel.HIGH,
        "identity": "same",
        "content_digest": "content",
        "call_digest": "call",
        "proposed_at": NOON,
    }
    return Action(id=id, state=state, **(given | fields))


def done(id: str = "earlier", **fields: Any) -> Action:
    fields.setdefault("occurrence", 1)
    return action(id, ActionState.DONE, **fields)


def unknown(id: str = "earlier", **fields: Any) -> Action:
    return action(id, ActionState.UNKNOWN, **({"was_unknown": True, "occurrence": 1} | fields))


def history(*others: Action, refusals: Iterable[Refusal] = (), replayed: Iterable[str] = ()) -> History:
    return History(others, tuple(refusals), frozenset(replayed))


def refusal(kind: str = "reject", place: Place = HERE, identity: str = "same", operation: str = "transfer") -> Refusal:
    return Refusal(operation, place, identity, kind, "ann", NOON)


def approving(name: str = "small", **fields: Any) -> ApprovingRule:
    given: dict[str, Any] = {
        "rule_id": f"global/{name}",
        "rule": name,
        "scope": "global",
        "revision": 1,
        "is_in_hours": True,
        "in_rollout": True,
        "allows_untrusted": False,
        "limit": RuleLimit(count=5),
        "audit": False,
        "notify": False,
        "log": True,
        "terms": ApprovalTerms(),
    }
    return ApprovingRule(**(given | fields))


def asking(name: str = "careful", requirement: Requirement | None = None) -> AskingRule:
    requirement = requirement or Requirement(name, "global")
    return AskingRule(f"global/{name}", name, "global", 1, 100, requirement, ApprovalTerms())


def rules(*of: AskingRule | ApprovingRule, stopped: bool = False, readable: bool = True) -> ActionRules:
    asks = tuple(rule for rule in of if isinstance(rule, AskingRule))
    return NO_RULES._replace(
        asking=asks,
        approving=tuple(rule for rule in of if isinstance(rule, ApprovingRule)),
        is_stopped=stopped,
        is_readable=readable,
    )


def requiring(*requirements: Requirement) -> tuple[ActionRequirement, ...]:
    return tuple(ActionRequirement(f"rule {n}", each, each) for n, each in enumerate(requirements))


def electorate(people: People | None = None) -> Electorate:
    return Electorate(people or people_of(ann="", bob="", cleo=""), STARTER)


def vote(
    of: Action, actor: str = "ann", past: History | None = None, choice: str = APPROVE, **fields: Any
) -> ActionVote:
    """A vote on the current version, after seeing this history."""
    given: dict[str, Any] = {
        "capacities": (Capacity(actor),),
        "version": of.version,
        "choice": choice,
        "on_repeat": None,
        "shown_digest": (past or History()).shown_digest(of),
        "at": NOON,
    }
    return ActionVote(actor=actor, **(given | fields))
