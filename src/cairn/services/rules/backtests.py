"""Replays rules over what people decided: what they would have approved, and where people did not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from cairn.core.rule_verdict import ProposedAction, RiskLevel, RuleQuestion
from cairn.core.rules import APPROVABLE, GLOBAL, Rulebook, ScopedRulebook, judge
from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.services.engine.plans import DefinitionCache
from cairn.services.rules.active_rules import ActiveRules
from cairn.services.rules.run_facts import RunFactsReader
from cairn.services.rules.scoring import Proportion, agrees, answer_of
from cairn.store import Connection, Database, LoadedRun, load_run
from cairn.store import rules as rule_rows
from cairn.store import tables as t
from cairn.store.runs.run_rows import Row

MOST = 20_000  # decisions that are replayed at once
SHOWN = 100  # disagreements that are told one by one
A, D, E, R, P, X = (
    t.approvals.c,
    t.approval_decisions.c,
    t.checkpoint_executions.c,
    t.pipeline_runs.c,
    t.pipelines.c,
    t.actions.c,
)
DECIDED = (ApprovalStatus.APPROVED.value, ApprovalStatus.REJECTED.value, ApprovalStatus.REVISION_REQUESTED.value)


@dataclass(slots=True)
class RuleTally:
    """What one rule would have done."""

    agreed: int = 0
    disagreed: int = 0
    asked: int = 0

    @property
    def false_approve(self) -> Proportion:
        return Proportion(self.disagreed, self.agreed + self.disagreed)


@dataclass(slots=True)
class BacktestOutcome:
    """What the rules would have done, all in all."""

    decisions: int = 0
    no_rule: int = 0
    rules: dict[str, RuleTally] = field(default_factory=dict[str, RuleTally])
    disagreements: list[tuple[str, str, Row]] = field(default_factory=list[tuple[str, str, Row]])  # rule, answer
    since: datetime | None = None
    until: datetime | None = None
    complete: bool = True

    def total(self, of: str) -> int:
        return sum(getattr(tally, of) for tally in self.rules.values())

    @property
    def false_approve(self) -> Proportion:
        return Proportion(self.total("disagreed"), self.total("agreed") + self.total("disagreed"))


class Backtests:
    def __init__(self, database: Database, plans: DefinitionCache, in_force: ActiveRules) -> None:
        self._database = database
        self._plans = plans
        self._in_force = in_force

    async def replay(
        self, rulebook: Rulebook, pipeline_id: str | None = None, since: datetime | None = None, limit: int = MOST
    ) -> BacktestOutcome:
        """As if these were the rules of a pipeline, or the global ones, with what is in force of the other scope."""
        return await self._database.aread(lambda c: self._replay(c, rulebook, pipeline_id, since, limit))

    def _replay(
        self,
        connection: Connection,
        rulebook: Rulebook,
        pipeline_id: str | None,
        since: datetime | None,
        limit: int,
    ) -> BacktestOutcome:
        rows = _decided(connection, pipeline_id, since, limit)
        modified = _modified(connection, rows)
        books: dict[str, list[ScopedRulebook]] = {}
        outcome = BacktestOutcome(complete=len(rows) < limit)
        if rows:
            outcome.since, outcome.until = rows[-1].requested_at, rows[0].requested_at
        loaded = _Runs(connection, self._plans)
        for row in rows:
            if row.pipeline_id not in books:
                books[row.pipeline_id] = self._books(connection, rulebook, row.pipeline_id, pipeline_id is None)
            question = question_of(row)
            data = _Data(connection, self._plans, loaded, row.run_id, question)
            verdict = judge(books[row.pipeline_id], question, data.look)
            _count(
                outcome,
                row,
                verdict.requires_approval,
                verdict.rule,
                answer_of(row.status, row.approval_id in modified) or "",
            )
        return outcome

    def _books(
        self, connection: Connection, rulebook: Rulebook, pipeline_id: str, is_global: bool
    ) -> list[ScopedRulebook]:
        heads = {head.scope: head for head in rule_rows.heads(connection, pipeline_id)}
        other = heads.get(pipeline_id if is_global else GLOBAL)
        beside = [
            book._replace(rulebook=replace(book.rulebook, stopped=False))
            for book in self._in_force.books(connection, [other] if other else [])
        ]
        tried = ScopedRulebook(GLOBAL if is_global else pipeline_id, 0, live(rulebook))
        return [tried, *beside] if is_global else [*beside, tried]


def live(rulebook: Rulebook) -> Rulebook:
    """With what is still in shadow, or rolled out in part, as if it held for everything."""
    rules = tuple(replace(rule, shadow=False, rollout=100.0) for rule in rulebook.rules)
    return replace(rulebook, rules=rules, stopped=False)


def _count(outcome: BacktestOutcome, row: Row, asks: bool | None, rule: str, answer: str) -> None:
    outcome.decisions += 1
    if asks is None:
        outcome.no_rule += 1
        return
    tally = outcome.rules.setdefault(rule, RuleTally())
    if asks:
        tally.asked += 1
    elif agrees(answer):
        tally.agreed += 1
    else:
        tally.disagreed += 1
        if len(outcome.disagreements) < SHOWN:
            outcome.disagreements.append((rule, answer, row))


def _decided(connection: Connection, pipeline_id: str | None, since: datetime | None, limit: int) -> Sequence[Row]:
    """What people have decided, newest first. What repeats an earlier decision is none of its own."""
    query = (
        sa.select(
            *(A[name] for name in ("approval_id", "run_id", "execution_id", "pipeline_id", "kind", "status")),
            A.requested_at,
            A.operation_type,
            A.risk_level,
            A.confidence,
            E.key,
            E.checkpoint_name,
            P.pipeline_name,
            X.parameters,
        )
        .join_from(t.approvals, t.checkpoint_executions, E.execution_id == A.execution_id)
        .join(t.pipelines, P.pipeline_id == A.pipeline_id)
        .outerjoin(t.actions, X.approval_id == A.approval_id)
        .where(A.status.in_(DECIDED), A.kind.in_([kind.value for kind in APPROVABLE]), A.reused_from.is_(None))
        .order_by(A.requested_at.desc(), A.approval_id)
        .limit(min(limit, MOST))
    )
    if pipeline_id is not None:
        query = query.where(A.pipeline_id == pipeline_id)
    if since is not None:
        query = query.where(A.requested_at >= since)
    return connection.execute(query).all()


def _modified(connection: Connection, rows: Sequence[Row]) -> set[str]:
    """Those that people corrected before they approved them."""
    if not rows:
        return set()
    query = (
        sa.select(D.approval_id)
        .join(t.approvals, A.approval_id == D.approval_id)
        .where(D.decision == "modify", A.requested_at >= rows[-1].requested_at)
    )
    return set(connection.execute(query).scalars())


def question_of(row: Row) -> RuleQuestion:
    """The question as it was asked then."""
    action = None
    if row.operation_type is not None:
        risk = RiskLevel(row.risk_level) if row.risk_level else RiskLevel.HIGH
        action = ProposedAction(row.operation_type, row.parameters or {}, risk, row.confidence)
    return RuleQuestion(ApprovalKind(row.kind), row.approval_id, row.execution_id, row.key, row.requested_at, action)


class _Runs:
    """The run that was loaded last: decisions of one run mostly stand together."""

    def __init__(self, connection: Connection, plans: DefinitionCache) -> None:
        self._connection = connection
        self._plans = plans
        self._last: LoadedRun | None = None

    def load(self, run_id: str) -> LoadedRun:
        if self._last is None or self._last.facts.run_id != run_id:
            self._last = load_run(self._connection, run_id, self._plans)
        assert self._last is not None, "an approval refers to its run"  # noqa: S101 - by a foreign key
        return self._last


class _Data:
    """What a rule would have seen then; the run is loaded only if it looks beyond the action's parameters."""

    def __init__(
        self, connection: Connection, plans: DefinitionCache, runs: _Runs, run_id: str, question: RuleQuestion
    ) -> None:
        self._connection = connection
        self._plans = plans
        self._runs = runs
        self._run_id = run_id
        self._question = question

    @cached_property
    def _data(self) -> RunFactsReader:
        loaded = self._runs.load(self._run_id)
        return RunFactsReader(self._connection, self._plans, loaded, self._question, as_of=self._question.at)

    def look(self, path: str) -> Any:
        return self._data.look(path)


def most_common(tallies: dict[str, RuleTally]) -> Iterator[tuple[str, RuleTally]]:
    """Rules by how much they would have done."""
    busy = Counter({rule: tally.agreed + tally.disagreed + tally.asked for rule, tally in tallies.items()})
    return ((rule, tallies[rule]) for rule, _ in busy.most_common())
