"""What models have used, and what they may use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.services.view import Id, Instant, Page, View


class Usage(View):
    """Of one call of a model, or of many."""

    calls: int
    input_tokens: Annotated[int, Field(description="All that was given, cached or not.")]
    output_tokens: int
    cache_read_tokens: Annotated[int, Field(description="Of the input, what the provider had kept.")]
    cache_write_tokens: Annotated[int, Field(description="Of the input, what the provider keeps for the next time.")]
    cost_usd: Annotated[
        float | None,
        Field(description="Of the calls whose price is known; null if nobody knows the price of any of them."),
    ]
    unpriced_calls: Annotated[int, Field(description="Calls whose price is not known: `cost_usd` is without them.")]
    simulated_calls: Annotated[int, Field(description="Calls of a simulated model, which cost nothing.")]
    simulated_tokens: Annotated[int, Field(description="Of all tokens, those of simulated calls.")]
    seconds: Annotated[float, Field(description="That the answers took, one after the other.")]


class BudgetLimits(View):
    """What may be used; null is no limit."""

    max_cost_usd: float | None
    max_tokens: int | None
    max_calls: int | None


class BudgetStatus(View):
    """One limit, and how much of it is used."""

    of: Annotated[Literal["run", "month"], Field(description="Of this run, or of all runs in this calendar month.")]
    limit: Literal["max_cost_usd", "max_tokens", "max_calls"]
    allowed: float
    used: float
    is_spent: bool
    unpriced_calls: Annotated[int, Field(description="Calls that a limit on the cost cannot count.")]
    words: str


class RunBudget(View):
    """What bounds a run."""

    own: Annotated[BudgetLimits, Field(description="Set for this run: they come before those of the definition.")]
    defined: Annotated[BudgetLimits, Field(description="Of the definition, for each run.")]
    per_month: Annotated[BudgetLimits, Field(description="Of the definition, for all runs in a calendar month (UTC).")]
    bounds: Annotated[list[BudgetStatus], Field(description="Each limit that holds, and how much of it is used.")]


class CostLine(View):
    """What belongs together: a day, a run, a checkpoint, a model, an execution, a purpose, a pipeline or one call."""

    key: Annotated[str, Field(description="An id, a day, or the name of a model or a purpose.")]
    name: Annotated[str, Field(description="As people call it.")]
    last_at: Annotated[Instant, Field(description="When its last call was made.")]
    usage: Usage


class Costs(Page[CostLine]):
    """What was used, by what was asked for, with the sum of all pages."""

    by: str
    total: Usage
    bounds: Annotated[list[BudgetStatus], Field(description="The budgets that hold, and how much of them is used.")]


class RunCosts(Costs):
    run_id: Id


class PipelineCosts(Costs):
    pipeline_id: Id
