"""Commands that start, pause, resume, cancel, retry and restart runs and executions."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import RunName
from cairn.cli.client import JsonObject
from cairn.cli.completion import executions as complete
from cairn.cli.context import CliContext, online
from cairn.cli.references import state, title
from cairn.cli.rendering import print_warnings
from cairn.cli.run_state import print_waiting, status_style

RunOrExecution = Annotated[
    str, typer.Argument(metavar="RUN|RUN/KEY", help="A run or one of its executions.", autocompletion=complete)
]


@online("work")
async def start(ctx: CliContext, name: RunOrExecution) -> None:
    """Start a run or an execution that has not been started.

    Example: cairn start "Product discovery@v1/requirements"
    """
    target = await ctx.resolver.target(name, lambda execution: "start" in execution["available_commands"])
    if "execution_id" in target:
        await ctx.client.start_execution(execution_id=target["execution_id"])
        await show_execution_result(ctx, target["execution_id"])
    else:
        await ctx.client.start_run(target["run_id"])
        await show_run_result(ctx, target["run_id"])


@online("work")
async def pause(ctx: CliContext, run: RunName) -> None:
    """Pause a run. Executions in progress finish first.

    Example: cairn pause "Text report@v1"
    """
    run_id = await ctx.resolver.run(run)
    await ctx.client.pause_run(run_id)
    await show_run_result(ctx, run_id)


@online("work")
async def resume(ctx: CliContext, run: RunName) -> None:
    """Resume a paused run, or cancel a pending pause.

    Example: cairn resume "Text report@v1"
    """
    run_id = await ctx.resolver.run(run)
    await ctx.client.resume_run(run_id)
    await show_run_result(ctx, run_id)


@online("work")
async def cancel(ctx: CliContext, name: RunOrExecution) -> None:
    """Cancel a run, or one execution. You can start a cancelled execution again.

    Example: cairn cancel "Text report@v1"
    """
    target = await ctx.resolver.target(name)
    if "execution_id" in target:
        await ctx.client.cancel_execution(target["execution_id"])
        await show_execution_result(ctx, target["execution_id"])
    else:
        await ctx.client.cancel_run(target["run_id"])
        await show_run_result(ctx, target["run_id"])


@online("work")
async def retry(
    ctx: CliContext,
    name: RunOrExecution,
    whole_run: Annotated[bool, typer.Option("--whole-run", help="Retry the whole run as the next version.")] = False,
) -> None:
    """Retry a failed execution or a whole run.

    For a run, retries its failed execution. If there is none, or with --whole-run, starts the next version of the run
    with the same input.

    Example: cairn retry "Text report@v1/write_report"
    """
    if not whole_run:
        execution = await ctx.resolver.target(name, lambda execution: "retry" in execution["available_commands"])
        if "execution_id" in execution:
            await ctx.client.retry_execution(execution["execution_id"], attempt=execution["attempt_number"])
            await show_execution_result(ctx, execution["execution_id"])
            return
    next_run = await ctx.client.retry_run(await ctx.resolver.run(name))
    await show_run_result(ctx, next_run["run_id"])


@online("work")
async def restart(ctx: CliContext, run: RunName) -> None:
    """Start the next pass of a run from its first checkpoint.

    Example: cairn restart "Product discovery@v1"
    """
    run_id = await ctx.resolver.run(run)
    current = await ctx.client.get_run(run_id)
    await ctx.client.restart_run(run_id, pass_number=current["pass_number"])
    await show_run_result(ctx, run_id)


# ---- results --------------------------------------------------------------------------------------------
async def show_run_result(ctx: CliContext, run_id: str) -> None:
    ctx.show(await ctx.wait_until_idle(run_id), lambda run: print_run(ctx, run))


async def show_execution_result(ctx: CliContext, execution_id: str) -> None:
    """Print the execution after a change. Without a server, wait for the work and print the run too."""
    execution = await ctx.client.get_execution(execution_id)
    if ctx.embedded is not None:
        await ctx.wait_until_idle(execution["run_id"])
        execution = await ctx.client.get_execution(execution_id)
    if ctx.output.as_json:
        ctx.output.json(execution)
        return
    ctx.output.line(f"{execution['checkpoint_name']}: {state(execution)}", status_style(execution["status"]))
    print_warnings(execution)
    if ctx.embedded is not None:
        print_run(ctx, await ctx.client.get_run(execution["run_id"]))


def print_run(ctx: CliContext, run: JsonObject) -> None:
    status = f"{run['status']}, pause requested" if run["pause_requested"] else run["status"]
    done = f"{run['progress']['completed']} of {run['progress']['total']} checkpoints"
    ctx.output.line(f"{title(run)}: {status}, {done}", status_style(run["status"]))
    if run["status"] == "in_progress":
        print_waiting(ctx.output, run)
    print_warnings(run)
