"""Evaluate the rules for a question, and combine them into one verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from hashlib import sha256
from typing import NamedTuple

from cairn.core.action_rules import ActionRules, ApprovingRule, AskingRule, limit_use
from cairn.core.comparisons import both
from cairn.core.conditions import ConditionFacts, FieldReader, evaluate
from cairn.core.rule_verdict import NO_VERDICT, ApprovalTerms, ConditionResult, EvaluatedRule, RuleQuestion, RuleVerdict
from cairn.core.rules import APPROVABLE, DEFAULT_TIMEOUT, GLOBAL, Rule, RuleSection, ScopedRulebook
from cairn.core.states import ApprovalKind

REQUIRES_APPROVAL = "requires approval"  # the outcome of a rule that matches and does not approve
APPROVES = "approves"
_NOUNS = {
    ApprovalKind.START: "starts",
    ApprovalKind.COMPLETION: "results",
    ApprovalKind.ACTION: "actions",
    ApprovalKind.VALIDATION: "failed validations",
    ApprovalKind.OUTCOME: "unknown outcomes",
    ApprovalKind.ESCALATION: "escalations",
    ApprovalKind.INPUT: "forms and questions",
}
_SECTION_ORDER = {section: position for position, section in enumerate(RuleSection)}


class _Evaluated(NamedTuple):
    """A rule with the results of its conditions."""

    book: ScopedRulebook
    rule: Rule
    conditions: tuple[ConditionResult, ...]
    matches: bool
    is_unknown: bool = False  # the conditions are neither true nor false
    draws: tuple[float, float] = (0.0, 0.0)  # for the rollout and the audit

    @property
    def in_rollout(self) -> bool:
        return self.draws[0] < self.rule.rollout

    @property
    def is_audited(self) -> bool:
        return self.draws[1] < self.rule.audit


class _Evaluation:
    """All rules, evaluated for one question."""

    def __init__(
        self,
        books: Sequence[ScopedRulebook],
        question: RuleQuestion,
        read_field: FieldReader,
        draw_key: str,
        is_stopped: bool,
    ) -> None:
        self.kind = question.kind
        self.today = question.at.astimezone(UTC).date()
        self.facts = ConditionFacts(question, read_field)
        self.is_stopped = is_stopped or any(book.rulebook.stopped for book in books)
        self.is_readable = all(book.rulebook.is_readable for book in books)
        hours = [book.rulebook.hours for book in books if book.rulebook.hours is not None]
        self.is_in_hours = all(open_hours.includes(question.at) for open_hours in hours)
        self.all = [self._evaluate(book, rule, draw_key) for book in books for rule in book.rulebook.rules]
        matching = [item for item in self.all if _applies(item.rule, self.kind) and item.matches]
        asking = [item for item in matching if not item.rule.approves]
        approving = [item for item in matching if item.rule.approves]
        # `checkpoints` before `auto_approval`, then global rules before those of pipelines.
        self.asking = sorted(asking, key=_section_order)
        # The rules of each pipeline before global ones, then `checkpoints` before `auto_approval`.
        order = {book.scope: (book.scope == GLOBAL, position) for position, book in enumerate(books)}
        self.approving = sorted(approving, key=lambda item: (order[item.book.scope], _section_order(item)))

    def _evaluate(self, book: ScopedRulebook, rule: Rule, draw_key: str) -> _Evaluated:
        """Evaluate a rule. Unknown counts as a match if the rule requires approval, but never if it approves."""
        if self.kind not in rule.kinds:
            return _Evaluated(book, rule, (), matches=False)
        results = tuple(evaluate(condition, self.facts, is_exact=rule.approves) for condition in rule.conditions)
        truth = both(result.matched for result in results)
        matches = truth is True or (truth is None and not rule.approves)
        draws = sample(rule.id, book.scope, draw_key) if matches and rule.approves else (0.0, 0.0)
        return _Evaluated(book, rule, results, matches, truth is None, draws)

    def blocked_by(self, item: _Evaluated) -> str:
        """Why a matching rule can't approve now, or an empty string."""
        if not self.is_readable:
            return "some rules can't be read"
        if self.is_stopped:
            return "emergency stop"
        if item.rule.expires is not None and self.today > item.rule.expires:
            return "expired"
        if self.facts.is_untrusted and not item.rule.allows_untrusted:
            return "untrusted sources"
        if not self.is_in_hours:
            return "outside business hours"
        return "" if item.in_rollout else "not in the rollout"

    def results(self, applied: Sequence[_Evaluated]) -> tuple[EvaluatedRule, ...]:
        """The outcome of every rule. `applied` are those that decide together."""
        return tuple(
            EvaluatedRule(
                item.rule.name,
                item.book.scope,
                str(item.rule.section),
                self._outcome(item, applied),
                item.conditions,
                item.rule.shadow,
            )
            for item in self.all
        )

    def _outcome(self, item: _Evaluated, applied: Sequence[_Evaluated]) -> str:
        rule = item.rule
        effect = APPROVES if rule.approves else REQUIRES_APPROVAL
        if not rule.enabled:
            return "disabled"
        if self.kind not in rule.kinds:
            return f"not about {_NOUNS[self.kind]}"
        if not item.matches:
            return "does not match: a value is unknown" if item.is_unknown else "does not match"
        if rule.approves and self.kind not in APPROVABLE:
            return f"cannot approve {self.kind.value}"
        if rule.shadow:
            return f"shadow: {effect}"
        if rule.approves and not self.asking and (blocked_by := self.blocked_by(item)):
            return blocked_by
        is_applied = any(other is item for other in applied)
        return effect if is_applied else f"outranked by {applied[0].rule.name}"


def judge(
    books: Sequence[ScopedRulebook], question: RuleQuestion, read_field: FieldReader, *, stopped: bool = False
) -> RuleVerdict:
    """The verdict of the rules. `books` starts with the global rules. `stopped`: an emergency stop applies."""
    if not books:
        return RuleVerdict(stopped=True) if stopped else NO_VERDICT
    evaluation = _Evaluation(books, question, read_field, question.approval, stopped)
    can_approve = (item for item in evaluation.approving if not evaluation.blocked_by(item))
    first = next(iter(evaluation.asking), None) or next(can_approve, None) or next(iter(evaluation.approving), None)
    if first is None:
        verdict = RuleVerdict(evaluated_rules=evaluation.results(()), stopped=evaluation.is_stopped)
    else:
        verdict = _verdict(evaluation, first)
    if evaluation.is_readable:
        return verdict
    terms = ApprovalTerms(timeout=DEFAULT_TIMEOUT) if first is None else verdict.terms
    return replace(verdict, requires_approval=True, terms=terms, is_readable=False)


def _verdict(evaluation: _Evaluation, first: _Evaluated) -> RuleVerdict:
    """The verdict of the rule that decides.

    A blocked rule leaves the decision to the checkpoint's own settings. An action has none, so people decide.
    """
    rule, is_blocked = first.rule, first.rule.approves and bool(evaluation.blocked_by(first))
    approves, is_action = rule.approves and not is_blocked, evaluation.kind is ApprovalKind.ACTION
    return RuleVerdict(
        requires_approval=None if is_blocked and not is_action else not approves,
        rule=rule.name,
        scope=first.book.scope,
        revision=first.book.revision,
        priority=rule.priority,
        terms=_notification_terms(rule) if approves else rule.terms,
        evaluated_rules=evaluation.results([first]) if rule.log or not approves else (),
        audit=approves and first.is_audited,
        notify=approves and rule.notify,
        stopped=evaluation.is_stopped,
    )


def judge_action(
    books: Sequence[ScopedRulebook],
    question: RuleQuestion,
    read_field: FieldReader,
    *,
    draw_key: str,
    stopped: bool = False,
) -> ActionRules:
    """The rules about an action: all that require approval, and in order all that could approve it.

    `draw_key` decides rollouts and audits: repeating a proposal with the same key doesn't draw again.
    """
    evaluation = _Evaluation(books, question, read_field, draw_key, stopped)
    return ActionRules(
        tuple(map(_asking_rule, evaluation.asking)),
        tuple(_approving_rule(evaluation, item) for item in evaluation.approving),
        evaluation.results(evaluation.asking or evaluation.approving),
        evaluation.is_stopped,
        evaluation.is_readable,
    )


def _asking_rule(item: _Evaluated) -> AskingRule:
    book, rule = item.book, item.rule
    return AskingRule(
        book.id_of(rule),
        rule.name,
        book.scope,
        book.revision,
        rule.priority,
        rule.requirement(book.scope),
        rule.terms,
    )


def _approving_rule(evaluation: _Evaluation, item: _Evaluated) -> ApprovingRule:
    book, rule = item.book, item.rule
    return ApprovingRule(
        book.id_of(rule),
        rule.name,
        book.scope,
        book.revision,
        evaluation.is_in_hours,
        item.in_rollout,
        rule.allows_untrusted,
        rule.limit,
        item.is_audited,
        rule.notify,
        rule.log,
        _notification_terms(rule),
        limit_use(rule.limit, evaluation.facts),
        evaluation.blocked_by(item),
    )


def _notification_terms(rule: Rule) -> ApprovalTerms:
    return ApprovalTerms(channels=rule.channels, recipients=rule.terms.recipients)


def _section_order(item: _Evaluated) -> int:
    return _SECTION_ORDER[item.rule.section]


def _applies(rule: Rule, kind: ApprovalKind) -> bool:
    return rule.enabled and not rule.shadow and (not rule.approves or kind in APPROVABLE)


def sample(rule_id: str, scope: str, key: str) -> tuple[float, float]:
    """Two stable numbers from 0 to 100 for an approval: one for the rollout, one for the audit."""
    hashed = sha256(f"{rule_id}\0{scope}\0{key}".encode()).digest()
    first, second = int.from_bytes(hashed[:8]), int.from_bytes(hashed[8:16])
    return first / 2**64 * 100, second / 2**64 * 100
