"""Response shapes of model usage, costs and budgets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.services.view import Id, Instant, Page, View


class Usage(View):
    """The tokens, cost and duration of one or more model calls."""

    calls: int
    input_tokens: Annotated[int, Field(description="All input tokens, cached or not.")]
    output_tokens: int
    cache_read_tokens: Annotated[int, Field(description="Input tokens that the provider read from its cache.")]
    cache_write_tokens: Annotated[int, Field(description="Input tokens that the provider wrote to its cache.")]
    cost_usd: Annotated[
        float | None,
        Field(description="Cost of the calls with a known price. `null` if no call has a known price."),
    ]
    unpriced_calls: Annotated[int, Field(description="Calls without a known price. `cost_usd` does not include them.")]
    simulated_calls: Annotated[int, Field(description="Calls to a simulated model, which cost nothing.")]
    simulated_tokens: Annotated[int, Field(description="Tokens of simulated calls, included in the totals.")]
    seconds: Annotated[float, Field(description="Total duration of the calls.")]


class BudgetLimits(View):
    """Limits of a budget. `null` means no limit."""

    max_cost_usd: float | None
    max_tokens: int | None
    max_calls: int | None


class BudgetStatus(View):
    """A limit and its usage."""

    period: Annotated[
        Literal["run", "month"],
        Field(description="What the limit applies to: this run, or all runs in this calendar month (UTC)."),
    ]
    limit: Literal["max_cost_usd", "max_tokens", "max_calls"]
    allowed: float
    used: float
    is_exhausted: bool
    unpriced_calls: Annotated[
        int, Field(description="Calls without a known price, which a limit on the cost does not count.")
    ]
    message: str


class RunBudget(View):
    """The budget of a run."""

    run_limits: Annotated[
        BudgetLimits, Field(description="Limits set for this run. They replace those of the definition.")
    ]
    definition_limits: Annotated[BudgetLimits, Field(description="Limits of the definition for each run.")]
    monthly_limits: Annotated[
        BudgetLimits, Field(description="Limits of the definition for all runs in a calendar month (UTC).")
    ]
    status: Annotated[list[BudgetStatus], Field(description="Each limit that applies, with its usage.")]


class CostLine(View):
    """The usage of one group: a day, run, checkpoint, model, execution, purpose or pipeline, or of one call."""

    key: Annotated[str, Field(description="An id, a date, or the name of a model or a purpose.")]
    name: Annotated[str, Field(description="The name to show.")]
    last_at: Annotated[Instant, Field(description="Time of the last call.")]
    usage: Usage


class Costs(Page[CostLine]):
    """Usage by group. `total` covers all pages."""

    group_by: str
    total: Usage
    budget_status: Annotated[list[BudgetStatus], Field(description="Each limit that applies, with its usage.")]


class RunCosts(Costs):
    run_id: Id


class PipelineCosts(Costs):
    pipeline_id: Id
