"""Costs and budgets."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit, RunName
from cairn.cli.client import Answer
from cairn.cli.commands.run_control import run_told
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import Output, moment
from cairn.cli.rendering import cost


@online()
async def costs(
    ctx: CliContext,
    name: Annotated[str | None, typer.Argument(metavar="RUN", help="Filter by run.")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    by: Annotated[
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
    """Show tokens and cost of model calls by day, pipeline or another grouping, and the remaining budget.

    Example: cairn costs --pipeline "Text report" --by run
    """
    client = ctx.client
    if name is not None:
        run_id = await ctx.naming.run(name)
        found = await client.get_run_costs(run_id, group_by=by or "execution", most=limit)
    elif pipeline is not None:
        own = (await ctx.naming.pipeline(pipeline))["pipeline_id"]
        found = await client.get_pipeline_costs(own, group_by=by or "day", since=since, until=until, most=limit)
    else:
        found = await client.get_costs(group_by=by or "day", since=since, until=until, most=limit)
    ctx.show(found, lambda page: _show(ctx.screen, page))


@online("works")
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
    """Show the model budget of a run, or set limits that replace those of the definition.

    Example: cairn budget "Text report@v1" --max-cost-usd 5 --resume
    """
    run_id = await ctx.naming.run(run)
    given = {"max_cost_usd": max_cost_usd, "max_tokens": max_tokens, "max_calls": max_calls}
    named = {limit: value for limit, value in given.items() if value is not None}
    if named and reset:
        raise CommandFailed(ExitCode.USAGE, "Give limits, or --reset.")
    if named or reset:
        before: Answer = {} if reset else (await ctx.client.get_run(run_id))["budget"]["run_limits"]
        await ctx.client.set_budget(run_id, {name: value for name, value in before.items() if value} | named)
    if resume:
        await ctx.client.resume_run(run_id)
        await run_told(ctx, run_id)
        return
    found = await ctx.client.get_run(run_id)
    ctx.show(found["budget"], lambda limits: _show_budget(ctx.screen, limits))


def _show(screen: Output, page: Answer) -> None:
    heads = (page["group_by"], "calls", "in", "out", "cached", "cost", "", "last")
    rows = [(line["name"], *_cells(line["usage"]), moment(line["last_at"])) for line in page["items"]]
    if rows:
        rows.append(("all", *_cells(page["total"]), ""))
    screen.table(heads, rows, empty="No model calls.")
    for limit in page["budget_status"]:
        screen.line(limit["message"], "red" if limit["is_exhausted"] else None)


def _cells(usage: Answer) -> tuple[object, ...]:
    about = [f"{usage['simulated_calls']:,} simulated"] if usage["simulated_calls"] else []
    about += [f"{usage['unpriced_calls']:,} of unknown price"] if usage["unpriced_calls"] else []
    numbers = (usage[name] for name in ("calls", "input_tokens", "output_tokens", "cache_read_tokens"))
    return (*(f"{number:,}" for number in numbers), cost(usage), ", ".join(about))


def _show_budget(screen: Output, budget: Answer) -> None:
    if not budget["status"]:
        screen.line("No budget limits.")
    for limit in budget["status"]:
        screen.line(limit["message"], "red" if limit["is_exhausted"] else None)
