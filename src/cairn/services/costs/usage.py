"""Usage and budgets as views."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from cairn.core.budget import Budget
from cairn.services.costs import budgets
from cairn.services.costs.views import BudgetLimits, BudgetStatus, RunBudget, Usage
from cairn.store.model_usage import ModelUsage


def usage_view(used: ModelUsage) -> Usage:
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


def _limits_view(budget: Budget) -> BudgetLimits:
    return BudgetLimits(
        max_cost_usd=_number(budget.max_cost_usd), max_tokens=budget.max_tokens, max_calls=budget.max_calls
    )


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def status_views(limits: Iterable[budgets.BudgetStatus]) -> list[BudgetStatus]:
    return [
        BudgetStatus(
            period=limit.period,
            limit=limit.limit,
            allowed=float(limit.allowed),
            used=float(limit.used),
            is_exhausted=limit.is_exhausted,
            unpriced_calls=limit.unpriced_calls,
            message=limit.message,
        )
        for limit in limits
    ]


def run_budget_view(usage: budgets.BudgetUsage) -> RunBudget:
    return RunBudget(
        run_limits=_limits_view(usage.run_limits),
        definition_limits=_limits_view(usage.definition_limits),
        monthly_limits=_limits_view(usage.monthly_limits),
        status=status_views(usage.status),
    )
