"""What was used and what bounds it, as it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from cairn.core.budget import Budget
from cairn.services.costs.budgets import BudgetStatus as Held
from cairn.services.costs.budgets import BudgetUsage
from cairn.services.costs.views import BudgetLimits, BudgetStatus, RunBudget, Usage
from cairn.store.model_usage import ModelUsage


def usage(used: ModelUsage) -> Usage:
    is_known = used.calls == 0 or used.unpriced_calls < used.calls
    return Usage(
        calls=used.calls,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_tokens,
        cache_write_tokens=used.cache_write_tokens,
        cost_usd=float(used.cost) if is_known else None,
        unpriced_calls=used.unpriced_calls,
        simulated_calls=used.simulated_calls,
        simulated_tokens=used.simulated_tokens,
        seconds=used.seconds,
    )


def limits(budget: Budget) -> BudgetLimits:
    return BudgetLimits(
        max_cost_usd=_number(budget.max_cost_usd), max_tokens=budget.max_tokens, max_calls=budget.max_calls
    )


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def bounds(held: Iterable[Held]) -> list[BudgetStatus]:
    return [
        BudgetStatus(
            of=bound.of,
            limit=bound.limit,
            allowed=float(bound.allowed),
            used=float(bound.used),
            is_spent=bound.is_spent,
            unpriced_calls=bound.unpriced_calls,
            words=bound.words,
        )
        for bound in held
    ]


def run_budget(stands: BudgetUsage) -> RunBudget:
    return RunBudget(
        own=limits(stands.own),
        defined=limits(stands.defined),
        per_month=limits(stands.per_month),
        bounds=bounds(stands.bounds),
    )
