"""Approval rules: evaluate them for a question and combine them into one verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from cairn.core.business_hours import BusinessHours
from cairn.core.comparisons import both
from cairn.core.conditions import Condition, ConditionFacts, FieldReader, evaluate, kinds_of, with_floors
from cairn.core.rule_verdict import NO_VERDICT, ApprovalTerms, ConditionResult, EvaluatedRule, RuleQuestion, RuleVerdict
from cairn.core.states import ApprovalKind

GLOBAL = "global"  # the scope of all pipelines; other scopes are pipeline ids
APPROVABLE = frozenset(
    {ApprovalKind.START, ApprovalKind.COMPLETION, ApprovalKind.ACTION}
)  # the other kinds need more than an approval
_NOUNS = {
    ApprovalKind.START: "starts",
    ApprovalKind.COMPLETION: "results",
    ApprovalKind.ACTION: "actions",
    ApprovalKind.VALIDATION: "failed validations",
    ApprovalKind.ESCALATION: "escalations",
    ApprovalKind.INPUT: "forms and questions",
}
REQUIRES_APPROVAL = "requires approval"  # the outcome of a rule that matches and does not approve
DEFAULT_TIMEOUT = 3600.0  # seconds, for rules without a timeout


class RuleSection(StrEnum):
    CHECKPOINTS = "checkpoints"  # when to require approval, from whom and by when
    AUTO_APPROVAL = "auto_approval"  # when to approve automatically


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    section: RuleSection
    approves: bool
    conditions: tuple[Condition, ...]  # all have to match
    enabled: bool = True
    shadow: bool = False  # scored, but not applied
    priority: int = 100  # lower comes first
    terms: ApprovalTerms = field(default_factory=lambda: ApprovalTerms(timeout=DEFAULT_TIMEOUT))
    notify: bool = False  # notify people of its approvals
    channels: tuple[str, ...] = ()  # for these notifications
    log: bool = True  # record the reasons of its approvals
    rollout: float = 100.0  # percent of matches that it approves
    audit: float = 0.0  # percent of its approvals that people review afterwards
    kinds: frozenset[ApprovalKind] = field(init=False, compare=False)  # that it is about

    def __post_init__(self) -> None:
        if self.approves:
            object.__setattr__(self, "conditions", tuple(map(with_floors, self.conditions)))
        object.__setattr__(self, "kinds", kinds_of(self.conditions))


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The rules of one scope."""

    rules: tuple[Rule, ...] = ()  # by priority, then in the order of the file
    hours: BusinessHours | None = None  # nothing is approved automatically outside of these
    stopped: bool = False  # nothing is approved automatically


class ScopedRulebook(NamedTuple):
    scope: str
    revision: int
    rulebook: Rulebook


class _EvaluatedRule(NamedTuple):
    """A rule with the results of its conditions."""

    book: ScopedRulebook
    rule: Rule
    conditions: tuple[ConditionResult, ...]
    matches: bool
    is_unknown: bool = False  # the conditions are neither true nor false


def judge(
    books: Sequence[ScopedRulebook], question: RuleQuestion, read_field: FieldReader, *, stopped: bool = False
) -> RuleVerdict:
    """The verdict of the rules. `books` starts with the global rules. `stopped`: an emergency stop applies."""
    if not books:
        return RuleVerdict(stopped=True) if stopped else NO_VERDICT
    facts = ConditionFacts(question, read_field)
    evaluated = [_evaluate(book, rule, facts, question.kind) for book in books for rule in book.rulebook.rules]
    stopped = stopped or any(book.rulebook.stopped for book in books)
    winner = _winner(evaluated, question.kind)
    blocked_by = _blocked_by(winner, books, question, stopped) if winner and winner.rule.approves else ""
    results = tuple(_result(item, winner, blocked_by, question.kind) for item in evaluated)
    if winner is None:
        return RuleVerdict(evaluated_rules=results, stopped=stopped)
    book, rule = winner.book, winner.rule
    # A blocked rule leaves the decision to the checkpoint's own settings. An action has none, so people decide.
    requires_approval = None if blocked_by and question.kind is not ApprovalKind.ACTION else True
    verdict = RuleVerdict(
        requires_approval, rule.name, book.scope, book.revision, rule.priority, rule.terms, results, stopped=stopped
    )
    return verdict if blocked_by or not rule.approves else _approving(verdict, rule, question)


def _evaluate(book: ScopedRulebook, rule: Rule, facts: ConditionFacts, kind: ApprovalKind) -> _EvaluatedRule:
    """Evaluate a rule. Unknown counts as a match if the rule requires approval, but never if it approves."""
    if kind not in rule.kinds:
        return _EvaluatedRule(book, rule, (), matches=False)
    results = tuple(evaluate(condition, facts, is_exact=rule.approves) for condition in rule.conditions)
    truth = both(result.matched for result in results)
    return _EvaluatedRule(book, rule, results, truth is True or (truth is None and not rule.approves), truth is None)


def _approving(verdict: RuleVerdict, rule: Rule, question: RuleQuestion) -> RuleVerdict:
    return RuleVerdict(
        requires_approval=False,
        rule=verdict.rule,
        scope=verdict.scope,
        revision=verdict.revision,
        priority=verdict.priority,
        terms=ApprovalTerms(channels=rule.channels, recipients=rule.terms.recipients),
        evaluated_rules=verdict.evaluated_rules if rule.log else (),
        audit=sample(rule.name, verdict.scope, question.approval)[1] < rule.audit,
        notify=rule.notify,
    )


def _winner(evaluated: Sequence[_EvaluatedRule], kind: ApprovalKind) -> _EvaluatedRule | None:
    """The rule that applies. Rules that require approval precede rules that approve.

    Among rules that require approval, global rules precede those of a pipeline. Among rules that approve, they follow.
    """
    matching = [item for item in evaluated if _applies(item.rule, kind) and item.matches]
    requiring = [item for item in matching if not item.rule.approves]
    approving = [item for item in matching if item.rule.approves]
    for section in RuleSection:
        if first := next((item for item in requiring if item.rule.section is section), None):
            return first
    for section in RuleSection:
        found = [item for item in approving if item.rule.section is section]
        if first := next((item for item in found if item.book.scope != GLOBAL), found[0] if found else None):
            return first
    return None


def _applies(rule: Rule, kind: ApprovalKind) -> bool:
    return rule.enabled and not rule.shadow and (not rule.approves or kind in APPROVABLE)


def _blocked_by(winner: _EvaluatedRule, books: Sequence[ScopedRulebook], question: RuleQuestion, stopped: bool) -> str:
    """Why a matching rule can't approve now, or an empty string."""
    if stopped:
        return "emergency stop"
    if any(book.rulebook.hours is not None and not book.rulebook.hours.includes(question.at) for book in books):
        return "outside business hours"
    if sample(winner.rule.name, winner.book.scope, question.approval)[0] >= winner.rule.rollout:
        return "not in the rollout"
    return ""


def sample(rule: str, scope: str, approval: str) -> tuple[float, float]:
    """Two stable numbers from 0 to 100 for an approval: one for the rollout, one for the audit."""
    hashed = sha256(f"{rule}\0{scope}\0{approval}".encode()).digest()
    first, second = int.from_bytes(hashed[:8]), int.from_bytes(hashed[8:16])
    return first / 2**64 * 100, second / 2**64 * 100


def _result(
    evaluated: _EvaluatedRule, winner: _EvaluatedRule | None, blocked_by: str, kind: ApprovalKind
) -> EvaluatedRule:
    rule, outcome = evaluated.rule, _outcome(evaluated, winner, blocked_by, kind)
    return EvaluatedRule(rule.name, evaluated.book.scope, str(rule.section), outcome, evaluated.conditions, rule.shadow)


def _outcome(evaluated: _EvaluatedRule, winner: _EvaluatedRule | None, blocked_by: str, kind: ApprovalKind) -> str:
    rule = evaluated.rule
    effect = "approves" if rule.approves else REQUIRES_APPROVAL
    if not rule.enabled:
        return "disabled"
    if kind not in rule.kinds:
        return f"not about {_NOUNS[kind]}"
    if not evaluated.matches:
        return "does not match: a value is unknown" if evaluated.is_unknown else "does not match"
    if rule.approves and kind not in APPROVABLE:
        return f"cannot approve {kind.value}"
    if rule.shadow:
        return f"shadow: {effect}"
    if winner is None or evaluated is winner:
        return blocked_by or effect
    return f"outranked by {winner.rule.name}"
