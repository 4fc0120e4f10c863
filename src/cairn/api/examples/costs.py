"""Examples of costs."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.services.costs.views import BudgetStatus, CostLine, Costs, PipelineCosts, RunCosts


def _costs(group_by: str, key: str, name: str, status: list[BudgetStatus]) -> dict[str, Any]:
    line = CostLine(key=key, name=name, last_at=story.at(3), usage=story.usage())
    return {"group_by": group_by, "total": story.usage(), "items": [line], "next_cursor": None, "budget_status": status}


_DAY = ("day", "2026-03-02", "2026-03-02")


def budget_request() -> dict[str, Any]:
    return {"max_cost_usd": 2.5}


def run_costs() -> RunCosts:
    return RunCosts(run_id=story.RUN_ID, **_costs("execution", story.EXECUTION_ID, "goals", story.budget().status))


def pipeline_costs() -> PipelineCosts:
    return PipelineCosts(pipeline_id=story.PIPELINE_ID, **_costs(*_DAY, []))


def costs() -> Costs:
    return Costs(**_costs(*_DAY, []))
