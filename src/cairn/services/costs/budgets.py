"""Budgets: limits on the model usage of a run and of a pipeline's runs in a month."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from cairn.core.budget import UNLIMITED, Budget
from cairn.core.states import CLOSED
from cairn.definitions.model import BudgetLimits
from cairn.ports import Clock
from cairn.services.engine.commit import Commit
from cairn.services.engine.plans import DefinitionCache
from cairn.store import Connection, model_usage
from cairn.store.budgets import read_run_budget
from cairn.store.model_usage import ModelUsage
from cairn.store.plans import newest_revision
from cairn.store.runs.run_rows import Row, budget_from

WARNING_FRACTION = Decimal("0.8")  # fraction of a limit at which a warning is sent
Period = Literal["run", "month"]
Limit = Literal["max_cost_usd", "max_tokens", "max_calls"]
_SUBJECTS = {"run": "The run", "month": "This month the pipeline"}
_UNITS = {"max_tokens": "token", "max_calls": "call"}


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """A limit and its usage."""

    period: Period
    limit: Limit
    allowed: Decimal
    used: Decimal
    unpriced_calls: int = 0  # calls without a known price, which a limit on the cost can't count

    @property
    def is_exhausted(self) -> bool:
        return self.used >= self.allowed

    @property
    def is_nearly_exhausted(self) -> bool:
        return self.used >= self.allowed * WARNING_FRACTION

    @property
    def message(self) -> str:
        used, allowed = self._format(self.used), self._format(self.allowed)
        return f"{_SUBJECTS[self.period]} has used {used} of its budget of {allowed}."

    def _format(self, amount: Decimal) -> str:
        if self.limit == "max_cost_usd":
            return format_usd(amount)
        return f"{amount:,} {_UNITS[self.limit]}{'' if amount == 1 else 's'}"


def format_usd(amount: Decimal) -> str:
    """An amount in US dollars. Amounts below one dollar have four decimals."""
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


@dataclass(frozen=True, slots=True)
class BudgetUsage:
    """The limits that currently apply to a run, and their usage."""

    run_limits: Budget  # set for this run
    definition_limits: Budget  # of the definition, for each run
    monthly_limits: Budget  # of the definition, for all runs of a month
    status: tuple[BudgetStatus, ...]
    is_warned: bool  # a warning that the budget is nearly exhausted has been sent

    @property
    def exhausted(self) -> BudgetStatus | None:
        return next((limit for limit in self.status if limit.is_exhausted), None)

    @property
    def nearly_exhausted(self) -> BudgetStatus | None:
        return next((limit for limit in self.status if limit.is_nearly_exhausted), None)


class BudgetCache:
    """Remembers runs without limits, so that their budget is not read before each model call."""

    def __init__(self, *, is_exclusive: bool) -> None:
        """`is_exclusive`: no other process changes budgets. Otherwise nothing is cached."""
        self._is_exclusive = is_exclusive
        self._unlimited: set[str] = set()
        self.change_count = 0

    def is_unlimited(self, run_id: str) -> bool:
        """Whether the run is known to have no limits."""
        return run_id in self._unlimited

    def remember(self, run_id: str, usage: BudgetUsage, change_count: int) -> None:
        """Remember a run without limits, unless a budget has changed since its usage was read."""
        if self._is_exclusive and not usage.status and change_count == self.change_count:
            self._unlimited.add(run_id)

    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            run = commit.after.run
            if run.budget != UNLIMITED or run.status in CLOSED:
                self._forget(commit.run_id)

    def _forget(self, run_id: str) -> None:
        """Drop a run whose budget has changed or that has ended."""
        self.change_count += 1
        self._unlimited.discard(run_id)

    def clear_cache(self) -> None:
        """Drop all runs after a definition has changed."""
        self.change_count += 1
        self._unlimited.clear()


class Budgets:
    def __init__(self, plans: DefinitionCache, clock: Clock, cache: BudgetCache) -> None:
        self._plans = plans
        self._clock = clock
        self.cache = cache

    def run_usage(self, connection: Connection, run_id: str) -> BudgetUsage:
        row = read_run_budget(connection, run_id)
        run_limits, definition_limits = budget_from(row.budget), self._definition_limits(connection, row)
        monthly_limits = self._monthly_limits(connection, row.pipeline_id, row.revision)
        status: list[BudgetStatus] = []
        if (limits := run_limits.with_defaults(definition_limits)) != UNLIMITED:
            status += _status("run", limits, model_usage.run_usage(connection, run_id))
        status += self._monthly_status(connection, row.pipeline_id, monthly_limits)
        return BudgetUsage(run_limits, definition_limits, monthly_limits, tuple(status), row.budget_warned)

    def monthly_status(self, connection: Connection, pipeline_id: str, revision: int) -> tuple[BudgetStatus, ...]:
        """The limits for all runs of the pipeline in this month."""
        limits = self._monthly_limits(connection, pipeline_id, revision)
        return tuple(self._monthly_status(connection, pipeline_id, limits))

    def exhausted_message(self, connection: Connection, run_id: str, /) -> str:
        """Why the run can't call models now. Empty if it can."""
        exhausted = self.run_usage(connection, run_id).exhausted
        return exhausted.message if exhausted is not None else ""

    def clear_cache(self) -> None:
        self.cache.clear_cache()

    def _definition_limits(self, connection: Connection, row: Row) -> Budget:
        """The limits of the newest revision with the run's definition version."""
        revision, version = row.revision, row.pipeline_definition_version
        if version != row.newest_version:
            revision = newest_revision(connection, row.pipeline_id, version)
        return _budget(self._plans.definition(connection, row.pipeline_id, revision).budget)

    def _monthly_limits(self, connection: Connection, pipeline_id: str, revision: int) -> Budget:
        """The monthly limits of this revision. Callers pass the newest one, whichever revision a run started with."""
        budget = self._plans.definition(connection, pipeline_id, revision).budget
        return _budget(budget.per_month if budget is not None else None)

    def _monthly_status(self, connection: Connection, pipeline_id: str, limits: Budget) -> Iterator[BudgetStatus]:
        if limits != UNLIMITED:
            now: datetime = self._clock.now()
            yield from _status("month", limits, model_usage.monthly_usage(connection, pipeline_id, now))


def _budget(limits: BudgetLimits | None) -> Budget:
    if limits is None:
        return UNLIMITED
    cost = limits.max_cost_usd
    return Budget(None if cost is None else Decimal(str(cost)), limits.max_tokens, limits.max_calls)


def _status(period: Period, limits: Budget, used: ModelUsage) -> Iterator[BudgetStatus]:
    if limits.max_cost_usd is not None:
        yield BudgetStatus(period, "max_cost_usd", limits.max_cost_usd, used.cost, used.unpriced_calls)
    if limits.max_tokens is not None:
        yield BudgetStatus(period, "max_tokens", Decimal(limits.max_tokens), Decimal(used.tokens))
    if limits.max_calls is not None:
        yield BudgetStatus(period, "max_calls", Decimal(limits.max_calls), Decimal(used.calls))
