"""The bill, and what bounds it (A6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated

from fastapi import Query

from cairn.api.answering import carried_out, shown
from cairn.api.bodies import SetBudget
from cairn.api.guarding import operations
from cairn.api.parameters import Paging, PipelineId, RunId, filled
from cairn.api.wiring import By, CommandId, Services
from cairn.core.budget import Budget
from cairn.services.costs.queries import CostQuery, DateRange, OfAll, OfPipeline, OfRun
from cairn.services.costs.views import Costs, PipelineCosts, RunCosts
from cairn.services.runs.views import Run

router = operations("/api", "Costs")
_BY = "What a line stands for. Days, runs and calls come newest first, all else what costs most first."


@dataclass(frozen=True, slots=True)
class Between:
    since: Annotated[date | None, Query(description="The first day, in UTC.")] = None
    until: Annotated[date | None, Query(description="The last day, in UTC.")] = None

    @property
    def days(self) -> DateRange:
        return DateRange(self.since, self.until)


@router.get("/runs/{run_id}/costs")
def get_run_costs(
    run_id: RunId,
    services: Services,
    paging: Paging,
    by: Annotated[OfRun, Query(description=_BY)] = "execution",
) -> RunCosts:
    """What models have used in a run: tokens, calls, cost; with all attempts, also those that a rollback took away."""
    return services.reading.run_costs(run_id, CostQuery(by, paging.limit, paging.cursor))


@router.put("/runs/{run_id}/budget")
async def set_budget(run_id: RunId, body: SetBudget, services: Services, by: By, command_id: CommandId) -> Run:
    """Bound what the run may use; what is left out is as the definition says. Then it can be resumed (D69)."""
    cost = Decimal(str(body.max_cost_usd)) if body.max_cost_usd is not None else None
    budget = Budget(cost, body.max_tokens, body.max_calls)
    warnings = await carried_out(services.runs.set_budget(run_id, budget, by=by, command_id=command_id))
    return await shown(services, services.reading.run, run_id, by, warnings)


@router.get("/pipelines/{pipeline_id}/costs")
def get_pipeline_costs(
    pipeline_id: PipelineId,
    services: Services,
    paging: Paging,
    between: Annotated[Between, filled(Between)],
    by: Annotated[OfPipeline, Query(description=_BY)] = "day",
) -> PipelineCosts:
    """What models have used in all runs of a pipeline, test runs included."""
    return services.reading.pipeline_costs(pipeline_id, CostQuery(by, paging.limit, paging.cursor, between.days))


@router.get("/costs")
def get_costs(
    services: Services,
    paging: Paging,
    between: Annotated[Between, filled(Between)],
    by: Annotated[OfAll, Query(description=_BY)] = "day",
) -> Costs:
    """What models have used in all pipelines."""
    return services.reading.costs(CostQuery(by, paging.limit, paging.cursor, between.days))
