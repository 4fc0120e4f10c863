"""Apply rules to past decisions, and compare the verdicts with the decisions of users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from cairn.core.conditions import FieldLookup
from cairn.core.rule_judge import judge
from cairn.core.rule_verdict import ProposedAction, RiskLevel, RuleQuestion
from cairn.core.rules import GLOBAL, Rulebook, ScopedRulebook
from cairn.core.states import ApprovalKind
from cairn.services.engine.plans import DefinitionCache
from cairn.services.rules.active_rules import ActiveRules
from cairn.services.rules.run_facts import RunFactsReader
from cairn.services.rules.scoring import Proportion, agrees, user_decision
from cairn.store import Connection, Database, LoadedRun, load_run
from cairn.store import rules as rule_rows
from cairn.store.decisions import decided_approvals, modified_approvals
from cairn.store.runs.run_rows import Row

MAX_DECISIONS = 20_000  # per backtest
MAX_DISAGREEMENTS = 100  # listed in a result


@dataclass(slots=True)
class RuleTally:
    """The verdicts of one rule: approvals that users agreed or disagreed with, and requests for approval."""

    agreed: int = 0
    disagreed: int = 0
    required_approval: int = 0

    @property
    def false_approval_rate(self) -> Proportion:
        return Proportion(self.disagreed, self.agreed + self.disagreed)


@dataclass(slots=True)
class BacktestOutcome:
    """The verdicts of all rules."""

    decisions: int = 0
    no_rule: int = 0
    rules: dict[str, RuleTally] = field(default_factory=dict[str, RuleTally])
    disagreements: list[tuple[str, str, Row]] = field(default_factory=list[tuple[str, str, Row]])  # rule, decision
    since: datetime | None = None
    until: datetime | None = None
    complete: bool = True

    @property
    def agreed(self) -> int:
        return sum(tally.agreed for tally in self.rules.values())

    @property
    def disagreed(self) -> int:
        return sum(tally.disagreed for tally in self.rules.values())

    @property
    def required_approval(self) -> int:
        return sum(tally.required_approval for tally in self.rules.values())

    @property
    def false_approval_rate(self) -> Proportion:
        return Proportion(self.disagreed, self.agreed + self.disagreed)


class Backtests:
    def __init__(self, database: Database, plans: DefinitionCache, active_rules: ActiveRules) -> None:
        self._database = database
        self._plans = plans
        self._active_rules = active_rules

    async def replay(
        self,
        rulebook: Rulebook,
        pipeline_id: str | None = None,
        since: datetime | None = None,
        limit: int = MAX_DECISIONS,
    ) -> BacktestOutcome:
        """Test rules in place of a pipeline's rules or the global ones. Active rules of the other scope apply too."""
        return await self._database.aread(lambda c: self._replay(c, rulebook, pipeline_id, since, limit))

    def _replay(
        self,
        connection: Connection,
        rulebook: Rulebook,
        pipeline_id: str | None,
        since: datetime | None,
        limit: int,
    ) -> BacktestOutcome:
        rows = decided_approvals(connection, pipeline_id, since, min(limit, MAX_DECISIONS))
        modified = modified_approvals(connection, rows[-1].requested_at) if rows else set[str]()
        books: dict[str, list[ScopedRulebook]] = {}
        outcome = BacktestOutcome(complete=len(rows) < limit)
        if rows:
            outcome.since, outcome.until = rows[-1].requested_at, rows[0].requested_at
        runs = _RunLoader(connection, self._plans)
        for row in rows:
            if row.pipeline_id not in books:
                books[row.pipeline_id] = self._books(connection, rulebook, row.pipeline_id, pipeline_id is None)
            question = question_of(row)
            facts = _PastFacts(connection, self._plans, runs, row.run_id, question)
            verdict = judge(books[row.pipeline_id], question, facts.value_at)
            decision = user_decision(row.status, row.approval_id in modified) or ""
            _count(outcome, row, verdict.requires_approval, verdict.rule, decision)
        return outcome

    def _books(
        self, connection: Connection, rulebook: Rulebook, pipeline_id: str, is_global: bool
    ) -> list[ScopedRulebook]:
        versions = {version.scope: version for version in rule_rows.active_versions(connection, pipeline_id)}
        other = versions.get(pipeline_id if is_global else GLOBAL)
        active = [
            book._replace(rulebook=replace(book.rulebook, stopped=False))
            for book in self._active_rules.rulebooks(connection, [other] if other else [])
        ]
        tested = ScopedRulebook(GLOBAL if is_global else pipeline_id, 0, _fully_active(rulebook))
        return [tested, *active] if is_global else [*active, tested]


def _fully_active(rulebook: Rulebook) -> Rulebook:
    """The rules without shadow mode, partial rollout and emergency stop."""
    rules = tuple(replace(rule, shadow=False, rollout=100.0) for rule in rulebook.rules)
    return replace(rulebook, rules=rules, stopped=False)


def _count(outcome: BacktestOutcome, row: Row, requires_approval: bool | None, rule: str, decision: str) -> None:
    outcome.decisions += 1
    if requires_approval is None:
        outcome.no_rule += 1
        return
    tally = outcome.rules.setdefault(rule, RuleTally())
    if requires_approval:
        tally.required_approval += 1
    elif agrees(decision):
        tally.agreed += 1
    else:
        tally.disagreed += 1
        if len(outcome.disagreements) < MAX_DISAGREEMENTS:
            outcome.disagreements.append((rule, decision, row))


def question_of(row: Row) -> RuleQuestion:
    """The question that the rules had to answer."""
    action = None
    if row.operation_type is not None:
        risk = RiskLevel(row.risk_level) if row.risk_level else RiskLevel.HIGH
        action = ProposedAction(row.operation_type, row.parameters or {}, risk, row.confidence)
    return RuleQuestion(ApprovalKind(row.kind), row.approval_id, row.execution_id, row.key, row.requested_at, action)


class _RunLoader:
    """Caches the last run, because most decisions of a run are adjacent."""

    def __init__(self, connection: Connection, plans: DefinitionCache) -> None:
        self._connection = connection
        self._plans = plans
        self._last: LoadedRun | None = None

    def load(self, run_id: str) -> LoadedRun:
        if self._last is None or self._last.facts.run_id != run_id:
            self._last = load_run(self._connection, run_id, self._plans)
        assert self._last is not None, "an approval refers to its run"  # noqa: S101 - by a foreign key
        return self._last


class _PastFacts:
    """The facts at the time of the question. The run is loaded only if a rule reads more than parameters."""

    def __init__(
        self, connection: Connection, plans: DefinitionCache, runs: _RunLoader, run_id: str, question: RuleQuestion
    ) -> None:
        self._connection = connection
        self._plans = plans
        self._runs = runs
        self._run_id = run_id
        self._question = question

    @cached_property
    def _facts(self) -> RunFactsReader:
        loaded = self._runs.load(self._run_id)
        return RunFactsReader(self._connection, self._plans, loaded, self._question, as_of=self._question.at)

    def value_at(self, looked_up: FieldLookup) -> Any:
        return self._facts.value_at(looked_up)


def most_used(tallies: dict[str, RuleTally]) -> Iterator[tuple[str, RuleTally]]:
    """The rules, sorted by the number of decisions that they apply to."""
    uses = Counter({rule: tally.agreed + tally.disagreed + tally.required_approval for rule, tally in tallies.items()})
    return ((rule, tallies[rule]) for rule, _ in uses.most_common())
