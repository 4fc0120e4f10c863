"""Budgets: what a run, and a pipeline in a month, may use of models, and how much of it is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

import sqlalchemy as sa

from cairn.core.budget import UNBOUNDED, Budget
from cairn.core.states import CLOSED
from cairn.definitions.model import BudgetLimits
from cairn.ports import Clock
from cairn.services.engine.commit import Commit
from cairn.services.engine.plans import DefinitionCache
from cairn.store import Connection, model_usage
from cairn.store import tables as t
from cairn.store.column_types import Text
from cairn.store.model_usage import ModelUsage
from cairn.store.plans import newest_revision
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.runs.run_rows import Row, budget_from

NEAR = Decimal("0.8")  # of a limit, from where on people are told
Of = Literal["run", "month"]
Limit = Literal["max_cost_usd", "max_tokens", "max_calls"]
R, P = t.pipeline_runs.c, t.pipelines.c
_WHO = {"run": "The run", "month": "This month the pipeline"}
_UNITS = {"max_tokens": "token", "max_calls": "call"}


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """One limit, and how much of it is used."""

    of: Of
    limit: Limit
    allowed: Decimal
    used: Decimal
    unpriced_calls: int = 0  # that a limit on the cost cannot count

    @property
    def is_spent(self) -> bool:
        return self.used >= self.allowed

    @property
    def is_near(self) -> bool:
        return self.used >= self.allowed * NEAR

    @property
    def words(self) -> str:
        return f"{_WHO[self.of]} has used {self._shown(self.used)}, and its budget is {self._shown(self.allowed)}."

    def _shown(self, amount: Decimal) -> str:
        if self.limit == "max_cost_usd":
            return money(amount)
        return f"{amount:,} {_UNITS[self.limit]}{'' if amount == 1 else 's'}"


def money(amount: Decimal) -> str:
    """In US dollars; what is small keeps its digits."""
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


@dataclass(frozen=True, slots=True)
class BudgetUsage:
    """What bounds a run now."""

    own: Budget  # of the run
    defined: Budget  # of the definition, for each run
    per_month: Budget  # of the definition, for all runs of a month
    bounds: tuple[BudgetStatus, ...]
    is_warned: bool  # people have been told that it is nearly spent

    @property
    def spent(self) -> BudgetStatus | None:
        return next((bound for bound in self.bounds if bound.is_spent), None)

    @property
    def near(self) -> BudgetStatus | None:
        return next((bound for bound in self.bounds if bound.is_near), None)


_STANDS = PreparedQuery(
    sa.select(
        R.run_id,
        R.pipeline_id,
        R.budget,
        R.budget_warned,
        R.pipeline_definition_version,
        P.revision,
        P.pipeline_definition_version.label("newest_version"),
    )
    .join_from(t.pipeline_runs, t.pipelines, P.pipeline_id == R.pipeline_id)
    .where(R.run_id == sa.bindparam("run_id", type_=Text()))
)


class BudgetCache:
    """Runs that are known to have no limits, so that their budget is not read before each call of a model."""

    def __init__(self, *, is_alone: bool) -> None:
        """`is_alone`: no other process changes budgets, so that what was read holds until one is changed here."""
        self._is_alone = is_alone
        self._unbounded: set[str] = set()
        self.changes = 0

    def is_unbounded(self, run_id: str) -> bool:
        """Whether it is known that nothing bounds the run."""
        return run_id in self._unbounded

    def note(self, run_id: str, stands: BudgetUsage, as_of: int) -> None:
        """How it stood when so many changes had been made."""
        if self._is_alone and not stands.bounds and as_of == self.changes:
            self._unbounded.add(run_id)

    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            run = commit.after.run
            if run.budget != UNBOUNDED or run.status in CLOSED:
                self._forget(commit.run_id)

    def _forget(self, run_id: str) -> None:
        """Its budget has changed, or it has ended."""
        self.changes += 1
        self._unbounded.discard(run_id)

    def forget_all(self) -> None:
        """A definition has changed."""
        self.changes += 1
        self._unbounded.clear()


class Budgets:
    def __init__(self, plans: DefinitionCache, clock: Clock, cache: BudgetCache) -> None:
        self._plans = plans
        self._clock = clock
        self.cache = cache

    def of_run(self, connection: Connection, run_id: str) -> BudgetUsage:
        (row,) = _STANDS.all(connection, {"run_id": run_id})
        own, defined = budget_from(row.budget), self._defined(connection, row)
        per_month = self._per_month(connection, row.pipeline_id, row.revision)
        bounds: list[BudgetStatus] = []
        if (limits := own.over(defined)) != UNBOUNDED:
            bounds += _bounds("run", limits, model_usage.of_run(connection, run_id))
        bounds += self._of_month(connection, row.pipeline_id, per_month)
        return BudgetUsage(own, defined, per_month, tuple(bounds), row.budget_warned)

    def of_pipeline(self, connection: Connection, pipeline_id: str, revision: int) -> tuple[BudgetStatus, ...]:
        """What bounds all of its runs in this month."""
        return tuple(self._of_month(connection, pipeline_id, self._per_month(connection, pipeline_id, revision)))

    def spent(self, connection: Connection, run_id: str, /) -> str:
        """Why no model may be asked in this run now; empty: it may."""
        bound = self.of_run(connection, run_id).spent
        return bound.words if bound is not None else ""

    def forget_all(self) -> None:
        self.cache.forget_all()

    def _defined(self, connection: Connection, row: Row) -> Budget:
        """The newest that holds for the run."""
        revision, version = row.revision, row.pipeline_definition_version
        if version != row.newest_version:
            revision = newest_revision(connection, row.pipeline_id, version)
        return _budget(self._plans.definition(connection, row.pipeline_id, revision).budget)

    def _per_month(self, connection: Connection, pipeline_id: str, revision: int) -> Budget:
        """That of the pipeline as it is now, whatever its runs began with."""
        budget = self._plans.definition(connection, pipeline_id, revision).budget
        return _budget(budget.per_month if budget is not None else None)

    def _of_month(self, connection: Connection, pipeline_id: str, limits: Budget) -> Iterator[BudgetStatus]:
        if limits != UNBOUNDED:
            now: datetime = self._clock.now()
            yield from _bounds("month", limits, model_usage.of_month(connection, pipeline_id, now))


def _budget(limits: BudgetLimits | None) -> Budget:
    if limits is None:
        return UNBOUNDED
    cost = limits.max_cost_usd
    return Budget(None if cost is None else Decimal(str(cost)), limits.max_tokens, limits.max_calls)


def _bounds(of: Of, limits: Budget, used: ModelUsage) -> Iterator[BudgetStatus]:
    if limits.max_cost_usd is not None:
        yield BudgetStatus(of, "max_cost_usd", limits.max_cost_usd, used.cost, used.unpriced_calls)
    if limits.max_tokens is not None:
        yield BudgetStatus(of, "max_tokens", Decimal(limits.max_tokens), Decimal(used.tokens))
    if limits.max_calls is not None:
        yield BudgetStatus(of, "max_calls", Decimal(limits.max_calls), Decimal(used.calls))
