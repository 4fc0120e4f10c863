"""Judge a proposed action: whether it may run by itself, needs people, or has to stay where it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from cairn.core.action import Action, History
from cairn.core.action_rules import ActionRules, ApprovingRule
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect, ActionState

STOP_APPROVALS, STOP_ACTIONS = "approvals", "actions"  # levels of the emergency stop
MAX_FAILURES = 3  # of an operation at one place and generation, until people are asked


NO_RULES = ActionRules((), (), (), is_stopped=False, is_readable=True)


@dataclass(frozen=True, slots=True)
class GateStatus:
    """What an admin or an incident has stopped for the whole installation."""

    stop: str = ""  # STOP_APPROVALS, STOP_ACTIONS or empty
    held: bool = False  # the journal and the database differ, and no admin has reviewed it
    reason: str = ""

    @property
    def stops_actions(self) -> bool:
        return self.held or self.stop == STOP_ACTIONS

    @property
    def explanation(self) -> str:
        if self.held:
            return self.reason or "The database was restored. An admin has to review what was executed since."
        return "Actions are stopped." if self.stop == STOP_ACTIONS else ""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Everything that a judgment depends on besides the action."""

    history: History
    rules: ActionRules = NO_RULES
    gate: GateStatus = GateStatus()
    limit_problem: Callable[[ApprovingRule], str] = lambda _: ""  # why the rule's limit is reached, or ""
    rules_distrusted: str = ""  # why no rule may approve, such as a script without a sandbox


class Judgment(NamedTuple):
    """Who approves. Without `is_approved`, people decide, unless the action has to stay as it is (`is_held`)."""

    is_approved: bool = False
    is_held: bool = False
    rule: ApprovingRule | None = None  # None with `is_approved`: low risk
    reason: str = ""


def judge(action: Action, c: Circumstances) -> Judgment:
    if c.gate.stops_actions:
        return Judgment(is_held=True, reason=c.gate.explanation)
    if not c.rules.is_readable:
        return Judgment(is_held=True, reason="The approval rules can't be read. An admin has to correct them.")
    if reason := _why_people(action, c):
        return Judgment(reason=reason)
    reason = "No rule applies."
    for rule in c.rules.approving:
        problem = _why_not(rule, action, c)
        if not problem:
            return Judgment(is_approved=True, rule=rule, reason=f"Approved by the rule {rule.rule}.")
        reason = problem
    if action.risk is RiskLevel.LOW and not action.untrusted:
        return Judgment(is_approved=True, reason="Low risk, and no rule requires approval.")
    return Judgment(reason=reason)


def _why_people(action: Action, c: Circumstances) -> str:
    """Why no rule may approve the action, or an empty string."""
    if c.rules.asking:
        names = ", ".join(rule.rule for rule in c.rules.asking)
        return f"Required by {'the rule' if len(c.rules.asking) == 1 else 'the rules'} {names}."
    if action.modified:
        return "A person has modified it."
    history = c.history
    if history.refused(action):
        return "A person has refused, sent back or modified this operation before."
    if action.effect is ActionEffect.CHANGES:
        if history.equal(action):
            return "An equal action has been approved or executed before."
        if history.earlier(action):
            return "This checkpoint has executed the operation before, and its work is being repeated."
        if history.unsettled_here(action):
            return "The outcome of an earlier action is unknown."
    if _failures_here(action, history) >= MAX_FAILURES:
        return f"The operation has failed {MAX_FAILURES} times here."
    if c.gate.stop or c.rules.is_stopped:
        return "Automatic approvals are stopped."
    return c.rules_distrusted


def _failures_here(action: Action, history: History) -> int:
    return sum(
        a.state is ActionState.FAILED and a.place == action.place and a.generation == action.generation
        for a in history.others
    )


def _why_not(rule: ApprovingRule, action: Action, c: Circumstances) -> str:
    """Why a matching rule can't approve, or an empty string."""
    if action.untrusted and not rule.allows_untrusted:
        return f"The rule {rule.rule} doesn't approve proposals that read content from outside."
    if not rule.can_approve:
        return f"The rule {rule.rule} can't approve now: {rule.blocked_by}."
    if rule.limit is None and action.risk is not RiskLevel.LOW and _approved_here(action, c.history):
        return f"The rule {rule.rule} has no limit, so rules approve this operation once per checkpoint and item."
    return c.limit_problem(rule)


def _approved_here(action: Action, history: History) -> bool:
    """Whether a rule has approved another action of the operation at this place."""
    return any(
        bool(a.rule) and a.place == action.place and (a.is_executed or a.state is ActionState.APPROVED)
        for a in history.others
    )
