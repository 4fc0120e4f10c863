"""Commands for costs and budgets."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit, RunName
from cairn.cli.client import JsonObject
from cairn.cli.commands.run_control import show_run_result
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import Output, local_time
from cairn.cli.rendering import cost


@online()
async def costs(
    ctx: CliContext,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Filter by run.")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    group_by: Annotated[
        str | None,
        typer.Option(
            "--by",
            help="Group by day, pipeline, model or purpose."
            " For a pipeline also by run or checkpoint, for a run also by execution or call.",
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="First day, such as 2026-03-02. Not available for a run.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", help="Last day. Not available for a run.")] = None,
    limit: Limit = 50,
) -> None:
    """Show tokens and cost of model calls. Includes the remaining budget.

    Example: cairn costs --pipeline "Text report" --by run
    """
    client = ctx.client
    if run is not None:
        run_id = await ctx.resolver.run(run)
        page = await client.get_run_costs(run_id, group_by=group_by or "execution", limit=limit)
    elif pipeline is not None:
        pipeline_id = (await ctx.resolver.pipeline(pipeline))["pipeline_id"]
        page = await client.get_pipeline_costs(
            pipeline_id, group_by=group_by or "day", since=since, until=until, limit=limit
        )
    else:
        page = await client.get_costs(group_by=group_by or "day", since=since, until=until, limit=limit)
    ctx.show(page, lambda page: _show(ctx.output, page))


@online("work")
async def budget(
    ctx: CliContext,
    run: RunName,
    max_cost_usd: Annotated[float | None, typer.Option("--max-cost-usd", help="Maximum cost in US dollars.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", help="Maximum number of input and output tokens.")
    ] = None,
    max_calls: Annotated[int | None, typer.Option("--max-calls", help="Maximum number of model calls.")] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Use the limits of the definition again.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run afterwards.")] = False,
) -> None:
    """Show or set the model budget of a run. New limits replace those of the definition.

    Example: cairn budget "Text report@v1" --max-cost-usd 5 --resume
    """
    run_id = await ctx.resolver.run(run)
    options = {"max_cost_usd": max_cost_usd, "max_tokens": max_tokens, "max_calls": max_calls}
    limits = {limit: value for limit, value in options.items() if value is not None}
    if limits and reset:
        raise CommandFailed(ExitCode.USAGE, "Use either limits or --reset.")
    if limits or reset:
        previous: JsonObject = {} if reset else (await ctx.client.get_run(run_id))["budget"]["run_limits"]
        await ctx.client.set_budget(run_id, {name: value for name, value in previous.items() if value} | limits)
    if resume:
        await ctx.client.resume_run(run_id)
        await show_run_result(ctx, run_id)
        return
    current = await ctx.client.get_run(run_id)
    ctx.show(current["budget"], lambda limits: _show_budget(ctx.output, limits))


def _show(output: Output, page: JsonObject) -> None:
    headings = (page["group_by"], "calls", "tokens in", "tokens out", "cached", "cost", "notes", "last call")
    rows = [(row["name"], *_cells(row["usage"]), local_time(row["last_at"])) for row in page["items"]]
    if rows:
        rows.append(("total", *_cells(page["total"]), ""))
    output.table(headings, rows, empty="No model calls.")
    for limit in page["budget_status"]:
        output.line(limit["message"], "red" if limit["is_exhausted"] else None)


def _cells(usage: JsonObject) -> tuple[object, ...]:
    notes = [f"{usage['simulated_calls']:,} simulated"] if usage["simulated_calls"] else []
    notes += [f"{usage['unpriced_calls']:,} without a price"] if usage["unpriced_calls"] else []
    numbers = (usage[name] for name in ("calls", "input_tokens", "output_tokens", "cache_read_tokens"))
    return (*(f"{number:,}" for number in numbers), cost(usage), ", ".join(notes))


def _show_budget(output: Output, budget: JsonObject) -> None:
    if not budget["status"]:
        output.line("No budget limits.")
    for limit in budget["status"]:
        output.line(limit["message"], "red" if limit["is_exhausted"] else None)
