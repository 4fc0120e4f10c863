"""The rules: which of them a question meets, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from cairn.core.business_hours import BusinessHours
from cairn.core.conditions import ConditionFacts, Look, Test
from cairn.core.rule_verdict import NO_VERDICT, ApprovalTerms, ConditionResult, EvaluatedRule, RuleQuestion, RuleVerdict
from cairn.core.states import ApprovalKind

GLOBAL = "global"  # the scope of the rules that hold everywhere; others are a pipeline's id
APPROVABLE = frozenset(
    {ApprovalKind.START, ApprovalKind.COMPLETION, ApprovalKind.ACTION}
)  # the other kinds want more than a yes
DEFAULT_PERIOD = 3600.0  # seconds to decide where a rule does not say


class RuleSection(StrEnum):
    CHECKPOINTS = "checkpoints"  # when to ask, whom and for how long
    AUTO_APPROVAL = "auto_approval"  # when nobody has to be asked


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    section: RuleSection
    approves: bool
    tests: tuple[Test, ...]  # all have to hold
    enabled: bool = True
    shadow: bool = False  # decides nothing, is scored
    priority: int = 100  # lower goes first
    terms: ApprovalTerms = field(
        default_factory=lambda: ApprovalTerms(timeout=DEFAULT_PERIOD)
    )  # under which people are asked
    notify: bool = False  # tell people of its approvals
    channels: tuple[str, ...] = ()  # where they are told of them
    log: bool = True  # keep the reasons of its approvals
    rollout: float = 100.0  # percent of what matches that it approves
    audit: float = 0.0  # percent of its approvals that people look at afterwards


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The rules of one scope."""

    rules: tuple[Rule, ...] = ()  # by priority, then as they are written
    hours: BusinessHours | None = None  # nothing is approved automatically outside of these
    stopped: bool = False  # nothing is approved automatically


class ScopedRulebook(NamedTuple):
    scope: str
    revision: int
    rulebook: Rulebook


class _EvaluatedRule(NamedTuple):
    """A rule that was held against the question."""

    book: ScopedRulebook
    rule: Rule
    conditions: tuple[ConditionResult, ...]
    matches: bool


def judge(books: Sequence[ScopedRulebook], question: RuleQuestion, look: Look, *, stopped: bool = False) -> RuleVerdict:
    """What the rules say, the global ones given first. `stopped` holds beside what the rules say themselves."""
    if not books:
        return RuleVerdict(stopped=True) if stopped else NO_VERDICT
    facts = ConditionFacts(question, look)
    met = [_meet(book, rule, facts) for book in books for rule in book.rulebook.rules]
    stopped = stopped or any(book.rulebook.stopped for book in books)
    winner = _winner(met, question.kind)
    held = _held_back(winner, books, question, stopped) if winner and winner.rule.approves else ""
    considered = tuple(_considered(one, winner, held, question.kind) for one in met)
    if winner is None:
        return RuleVerdict(evaluated_rules=considered, stopped=stopped)
    book, rule = winner.book, winner.rule
    # Held back, it neither approves nor asks where nobody else would; an action has nobody else.
    asks = None if held and question.kind is not ApprovalKind.ACTION else True
    said = RuleVerdict(
        asks, rule.name, book.scope, book.revision, rule.priority, rule.terms, considered, stopped=stopped
    )
    return said if held or not rule.approves else _approval(said, rule, question)


def _meet(book: ScopedRulebook, rule: Rule, facts: ConditionFacts) -> _EvaluatedRule:
    is_cautious, matches = not rule.approves, True
    conditions: list[ConditionResult] = []
    for test in rule.tests:
        conditions.append(told := test.look(facts, is_cautious))
        matches = matches and told.matched
    return _EvaluatedRule(book, rule, tuple(conditions), matches)


def _approval(said: RuleVerdict, rule: Rule, question: RuleQuestion) -> RuleVerdict:
    return RuleVerdict(
        requires_approval=False,
        rule=said.rule,
        scope=said.scope,
        revision=said.revision,
        priority=said.priority,
        terms=ApprovalTerms(channels=rule.channels, recipients=rule.terms.recipients),
        evaluated_rules=said.evaluated_rules if rule.log else (),
        audit=share(rule.name, said.scope, question.approval)[1] < rule.audit,
        notify=rule.notify,
    )


def _winner(met: Sequence[_EvaluatedRule], kind: ApprovalKind) -> _EvaluatedRule | None:
    """Asking beats approving. A global rule that asks stands before a pipeline's, one that approves behind it."""
    live = [one for one in met if _counts(one.rule, kind) and one.matches]
    asking = [one for one in live if not one.rule.approves]
    approving = [one for one in live if one.rule.approves]
    for section in RuleSection:
        if first := next((one for one in asking if one.rule.section is section), None):
            return first
    for section in RuleSection:
        found = [one for one in approving if one.rule.section is section]
        if first := next((one for one in found if one.book.scope != GLOBAL), found[0] if found else None):
            return first
    return None


def _counts(rule: Rule, kind: ApprovalKind) -> bool:
    return rule.enabled and not rule.shadow and (not rule.approves or kind in APPROVABLE)


def _held_back(winner: _EvaluatedRule, books: Sequence[ScopedRulebook], question: RuleQuestion, stopped: bool) -> str:
    """Why a rule that would approve does not."""
    if stopped:
        return "emergency stop"
    if any(b.rulebook.hours is not None and not b.rulebook.hours.includes(question.at) for b in books):
        return "outside business hours"
    if share(winner.rule.name, winner.book.scope, question.approval)[0] >= winner.rule.rollout:
        return "not in the rollout"
    return ""


def share(rule: str, scope: str, approval: str) -> tuple[float, float]:
    """Where an approval stands among a hundred, always the same: once for the rollout, once for the audit sample."""
    hashed = sha256(f"{rule}\0{scope}\0{approval}".encode()).digest()
    first, second = int.from_bytes(hashed[:8]), int.from_bytes(hashed[8:16])
    return first / 2**64 * 100, second / 2**64 * 100


def _considered(one: _EvaluatedRule, winner: _EvaluatedRule | None, held: str, kind: ApprovalKind) -> EvaluatedRule:
    rule = one.rule
    outcome = _outcome(one, winner, held, kind)
    return EvaluatedRule(rule.name, one.book.scope, str(rule.section), outcome, one.conditions, rule.shadow)


def _outcome(one: _EvaluatedRule, winner: _EvaluatedRule | None, held: str, kind: ApprovalKind) -> str:
    rule = one.rule
    does = "approves" if rule.approves else "asks"
    if not rule.enabled:
        return "disabled"
    if not one.matches:
        return "does not match"
    if rule.approves and kind not in APPROVABLE:
        return f"cannot approve {kind.value}"
    if rule.shadow:
        return f"shadow: {does}"
    if winner is None or one is winner:
        return held or does
    return f"outranked by {winner.rule.name}"
