"""Costs and budgets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated

from fastapi import Query

from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import costs as examples
from cairn.api.examples import story
from cairn.api.operations import READ, RUN, operation, operation_router
from cairn.api.parameters import Paging, PipelineId, RunId, grouped
from cairn.api.requests.runs import SetBudgetRequest
from cairn.api.responses import command_warnings, with_warnings
from cairn.core.budget import Budget
from cairn.services.costs.queries import CostQuery, DateRange, Grouping, PipelineGrouping, RunGrouping
from cairn.services.costs.views import Costs, PipelineCosts, RunCosts
from cairn.services.runs.views import Run

router = operation_router("/api", "Costs")
_GROUP_BY = "How to group calls. Days, runs and calls are sorted newest first, the others by cost, highest first."


@dataclass(frozen=True, slots=True)
class CostPeriod:
    since: Annotated[date | None, Query(description="First day, in UTC.")] = None
    until: Annotated[date | None, Query(description="Last day, in UTC.")] = None

    @property
    def days(self) -> DateRange:
        return DateRange(self.since, self.until)


@router.get("/runs/{run_id}/costs")
@operation(READ, response_example=examples.run_costs)
def get_run_costs(
    run_id: RunId,
    services: Services,
    paging: Paging,
    group_by: Annotated[RunGrouping, Query(description=_GROUP_BY)] = "execution",
) -> RunCosts:
    """Get the model usage of a run: calls, tokens and cost of all attempts, including archived ones."""
    return services.cost_queries.get_run_costs(run_id, CostQuery(group_by, paging.limit, paging.cursor))


@router.put("/runs/{run_id}/budget")
@operation(RUN, request_example=examples.budget_request, response_example=story.run)
async def set_budget(
    run_id: RunId, body: SetBudgetRequest, services: Services, actor: CurrentActor, command_id: CommandId
) -> Run:
    """Set the limits of a run. Omitted limits come from the definition. You can then resume the run."""
    cost = Decimal(str(body.max_cost_usd)) if body.max_cost_usd is not None else None
    budget = Budget(cost, body.max_tokens, body.max_calls)
    warnings = await command_warnings(services.runs.set_budget(run_id, budget, actor=actor, command_id=command_id))
    return await with_warnings(services.run_queries.get_run, run_id, actor, warnings)


@router.get("/pipelines/{pipeline_id}/costs")
@operation(READ, response_example=examples.pipeline_costs)
def get_pipeline_costs(
    pipeline_id: PipelineId,
    services: Services,
    paging: Paging,
    period: Annotated[CostPeriod, grouped(CostPeriod)],
    group_by: Annotated[PipelineGrouping, Query(description=_GROUP_BY)] = "day",
) -> PipelineCosts:
    """Get the model usage of all runs of a pipeline, including test runs."""
    return services.cost_queries.get_pipeline_costs(
        pipeline_id, CostQuery(group_by, paging.limit, paging.cursor, period.days)
    )


@router.get("/costs")
@operation(READ, response_example=examples.costs)
def get_costs(
    services: Services,
    paging: Paging,
    period: Annotated[CostPeriod, grouped(CostPeriod)],
    group_by: Annotated[Grouping, Query(description=_GROUP_BY)] = "day",
) -> Costs:
    """Get the model usage of all pipelines."""
    return services.cost_queries.get_costs(CostQuery(group_by, paging.limit, paging.cursor, period.days))
