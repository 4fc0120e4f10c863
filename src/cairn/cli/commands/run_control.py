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
async def start(desk: CliContext, name: Either) -> None:
    """Start a run that was created without starting, or an execution that waits for a start.

    Example: cairn start "Product discovery@v1/requirements"
    """
    target = await desk.naming.target(name, lambda e: "start" in e["possible"])
    if "execution_id" in target:
        await desk.client.start_execution(execution_id=target["execution_id"])
        await execution_told(desk, target["execution_id"])
    else:
        await desk.client.start_run(target["run_id"])
        await run_told(desk, target["run_id"])


@online("works")
async def pause(desk: CliContext, run: RunName) -> None:
    """Pause a run, at once or when executions at work have finished.

    Example: cairn pause "Text report@v1"
    """
    run_id = await desk.naming.run(run)
    await desk.client.pause_run(run_id)
    await run_told(desk, run_id)


@online("works")
async def resume(desk: CliContext, run: RunName) -> None:
    """Resume a paused run, or cancel a pause that has not taken effect.

    Example: cairn resume "Text report@v1"
    """
    run_id = await desk.naming.run(run)
    await desk.client.resume_run(run_id)
    await run_told(desk, run_id)


@online("works")
async def cancel(desk: CliContext, name: Either) -> None:
    """Cancel a run and its open executions, or one execution, which then waits for a start.

    Example: cairn cancel "Text report@v1"
    """
    found = await desk.naming.target(name)
    if "execution_id" in found:
        await desk.client.cancel_execution(found["execution_id"])
        await execution_told(desk, found["execution_id"])
    else:
        await desk.client.cancel_run(found["run_id"])
        await run_told(desk, found["run_id"])


@online("works")
async def retry(
    desk: CliContext,
    name: Either,
    whole: Annotated[bool, typer.Option("--whole", help="Start the whole run again as the next version.")] = False,
) -> None:
    """Retry a failed execution, or create the next version of a run with the same input.

    A run stands for its failed execution. If there is none, or with --whole, the whole run is started again.

    Example: cairn retry "Text report@v1/write_report"
    """
    if not whole:
        failed = await desk.naming.target(name, lambda e: "retry" in e["possible"])
        if "execution_id" in failed:
            await desk.client.retry_execution(failed["execution_id"], attempt=failed["attempt_number"])
            await execution_told(desk, failed["execution_id"])
            return
    again = await desk.client.retry_run(await desk.naming.run(name))
    await run_told(desk, again["run_id"])


@online("works")
async def restart(desk: CliContext, run: RunName) -> None:
    """Start the next pass of a run from its first checkpoint.

    Example: cairn restart "Product discovery@v1"
    """
    run_id = await desk.naming.run(run)
    current = await desk.client.get_run(run_id)
    await desk.client.restart_run(run_id, pass_number=current["pass_number"])
    await run_told(desk, run_id)


# ---- what came of it ----------------------------------------------------------------------------------
async def run_told(desk: CliContext, run_id: str) -> None:
    desk.show(await desk.settled(run_id), lambda run: tell_run(desk, run))


async def execution_told(desk: CliContext, execution_id: str) -> None:
    """The execution after a change; and where no server does, its run when it has come to rest."""
    execution = await desk.client.get_execution(execution_id)
    if desk.embedded is not None:
        await desk.settled(execution["run_id"])
        execution = await desk.client.get_execution(execution_id)
    if desk.screen.as_json:
        desk.screen.answer(execution)
        return
    desk.screen.line(f"{execution['checkpoint_name']}: {state(execution)}", _style(execution["status"]))
    warn(execution)
    if desk.embedded is not None:
        tell_run(desk, await desk.client.get_run(execution["run_id"]))


def tell_run(desk: CliContext, run: Answer) -> None:
    status = f"{run['status']}, a pause is asked for" if run["pause_requested"] else run["status"]
    done = f"{run['progress']['completed']} of {run['progress']['total']} checkpoints"
    desk.screen.line(f"{title(run)}: {status}, {done}", _style(run["status"]))
    for item in waiting(run) if run["status"] == "in_progress" else ():
        desk.screen.line(f"{item['name']} waits: {advice(run, item)}", "yellow")
    warn(run)


def _style(status: str) -> str | None:
    return {"completed": "green", "failed": "red", "cancelled": "red"}.get(status)
