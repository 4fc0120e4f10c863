"""Runs and executions: started, paused, resumed, cancelled, tried again."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import RunName
from cairn.cli.client import Answer
from cairn.cli.completion import executions as complete
from cairn.cli.context import CliContext, online
from cairn.cli.references import state, title
from cairn.cli.rendering import warn
from cairn.cli.run_state import advice, waiting

Either = Annotated[
    str, typer.Argument(metavar="RUN|RUN/KEY", help="A run or one of its executions.", autocompletion=complete)
]


@online("works")
async def start(ctx: CliContext, name: Either) -> None:
    """Start a run that was created without starting, or an execution that waits for a start.

    Example: cairn start "Product discovery@v1/requirements"
    """
    target = await ctx.naming.target(name, lambda e: "start" in e["available_commands"])
    if "execution_id" in target:
        await ctx.client.start_execution(execution_id=target["execution_id"])
        await execution_told(ctx, target["execution_id"])
    else:
        await ctx.client.start_run(target["run_id"])
        await run_told(ctx, target["run_id"])


@online("works")
async def pause(ctx: CliContext, run: RunName) -> None:
    """Pause a run, at once or when executions at work have finished.

    Example: cairn pause "Text report@v1"
    """
    run_id = await ctx.naming.run(run)
    await ctx.client.pause_run(run_id)
    await run_told(ctx, run_id)


@online("works")
async def resume(ctx: CliContext, run: RunName) -> None:
    """Resume a paused run, or cancel a pause that has not taken effect.

    Example: cairn resume "Text report@v1"
    """
    run_id = await ctx.naming.run(run)
    await ctx.client.resume_run(run_id)
    await run_told(ctx, run_id)


@online("works")
async def cancel(ctx: CliContext, name: Either) -> None:
    """Cancel a run and its open executions, or one execution, which then waits for a start.

    Example: cairn cancel "Text report@v1"
    """
    found = await ctx.naming.target(name)
    if "execution_id" in found:
        await ctx.client.cancel_execution(found["execution_id"])
        await execution_told(ctx, found["execution_id"])
    else:
        await ctx.client.cancel_run(found["run_id"])
        await run_told(ctx, found["run_id"])


@online("works")
async def retry(
    ctx: CliContext,
    name: Either,
    whole_run: Annotated[
        bool, typer.Option("--whole-run", help="Start the whole run again as the next version.")
    ] = False,
) -> None:
    """Retry a failed execution, or create the next version of a run with the same input.

    A run stands for its failed execution. If there is none, or with --whole-run, the whole run is started again.

    Example: cairn retry "Text report@v1/write_report"
    """
    if not whole_run:
        failed = await ctx.naming.target(name, lambda e: "retry" in e["available_commands"])
        if "execution_id" in failed:
            await ctx.client.retry_execution(failed["execution_id"], attempt=failed["attempt_number"])
            await execution_told(ctx, failed["execution_id"])
            return
    again = await ctx.client.retry_run(await ctx.naming.run(name))
    await run_told(ctx, again["run_id"])


@online("works")
async def restart(ctx: CliContext, run: RunName) -> None:
    """Start the next pass of a run from its first checkpoint.

    Example: cairn restart "Product discovery@v1"
    """
    run_id = await ctx.naming.run(run)
    current = await ctx.client.get_run(run_id)
    await ctx.client.restart_run(run_id, pass_number=current["pass_number"])
    await run_told(ctx, run_id)


# ---- what came of it ----------------------------------------------------------------------------------
async def run_told(ctx: CliContext, run_id: str) -> None:
    ctx.show(await ctx.settled(run_id), lambda run: tell_run(ctx, run))


async def execution_told(ctx: CliContext, execution_id: str) -> None:
    """The execution after a change; and where no server does, its run when it has come to rest."""
    execution = await ctx.client.get_execution(execution_id)
    if ctx.embedded is not None:
        await ctx.settled(execution["run_id"])
        execution = await ctx.client.get_execution(execution_id)
    if ctx.screen.as_json:
        ctx.screen.answer(execution)
        return
    ctx.screen.line(f"{execution['checkpoint_name']}: {state(execution)}", _style(execution["status"]))
    warn(execution)
    if ctx.embedded is not None:
        tell_run(ctx, await ctx.client.get_run(execution["run_id"]))


def tell_run(ctx: CliContext, run: Answer) -> None:
    status = f"{run['status']}, a pause is asked for" if run["pause_requested"] else run["status"]
    done = f"{run['progress']['completed']} of {run['progress']['total']} checkpoints"
    ctx.screen.line(f"{title(run)}: {status}, {done}", _style(run["status"]))
    for item in waiting(run) if run["status"] == "in_progress" else ():
        ctx.screen.line(f"{item['name']} waits: {advice(run, item)}", "yellow")
    warn(run)


def _style(status: str) -> str | None:
    return {"completed": "green", "failed": "red", "cancelled": "red"}.get(status)
