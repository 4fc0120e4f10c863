"""Commands that start, follow, list and show runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit, RunName, read_json
from cairn.cli.client import JsonObject
from cairn.cli.completion import pipelines as complete_pipelines
from cairn.cli.context import CliContext, online
from cairn.cli.definition_files import is_file, read
from cairn.cli.exit_codes import CommandFailed
from cairn.cli.output import local_time, print_status
from cairn.cli.references import short, title, version
from cairn.cli.rendering import show_execution, show_run
from cairn.cli.run_follower import follow, print_embedded_notice, print_json_messages
from cairn.cli.run_state import print_outcome

Input = Annotated[str | None, typer.Option("--input", "-i", help="Run input as JSON, or @file.")]


@online("work")
async def run(
    ctx: CliContext,
    name: Annotated[
        str,
        typer.Argument(
            metavar="PIPELINE|FILE",
            help="Name or id of a pipeline, or a definition file, which is applied first.",
            autocompletion=complete_pipelines,
        ),
    ],
    input_json: Input = None,
    prompt: Annotated[
        str | None, typer.Option("--prompt", help="Prompt for this run, instead of the pipeline's.")
    ] = None,
    test: Annotated[bool, typer.Option("--test", help="Create a test run, which gets no version number.")] = False,
    no_start: Annotated[bool, typer.Option("--no-start", help="Create the run without starting it.")] = False,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Start the run without following it.")] = False,
) -> None:
    """Start a run and follow it. Stops when the run ends or waits for a person.

    If no server is running, this command does the work itself. Exits with 0 if the run has completed, 1 if it has
    failed or was cancelled, and 6 if it is waiting.

    Example: cairn run "Text report" --input '{"text": "A cairn marks the way."}'
    """
    run_input = None if input_json is None else read_json(input_json, "--input")
    pipeline = await _pipeline(ctx, name)
    created = await ctx.client.create_run(
        pipeline["pipeline_id"], input=run_input, original_prompt=prompt, start=not no_start, test=test
    )
    for warning in created["warnings"]:
        print_status(f"warning: {warning}")
    if not ctx.output.as_json:
        ctx.output.line(f"{title(created)}  {created['run_id']}")
        ctx.output.out.flush()
    if detach or no_start:
        ctx.show(await ctx.wait_until_idle(created["run_id"]), lambda _: None)
        return
    print_embedded_notice(ctx.embedded is not None)
    run = await follow(ctx.client, ctx.output, created["run_id"])
    ctx.show(run, lambda _: None)
    raise CommandFailed(print_outcome(ctx.output, run))


async def _pipeline(ctx: CliContext, name: str) -> JsonObject:
    if is_file(name):
        from cairn.cli.commands.definitions import save

        return await save(ctx, read(name))
    return await ctx.resolver.pipeline(name)


@online()
async def runs(
    ctx: CliContext,
    pipeline: Annotated[
        str | None, typer.Argument(metavar="PIPELINE", help="Filter by pipeline.", autocompletion=complete_pipelines)
    ] = None,
    status: Annotated[list[str] | None, typer.Option("--status", help="Filter by status. Repeatable.")] = None,
    definition_version: Annotated[
        int | None, typer.Option("--definition", min=1, help="Filter by definition version.")
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Include runs archived by a rollback.")] = False,
    tests: Annotated[bool, typer.Option("--tests", help="Include test runs.")] = False,
    limit: Limit = 50,
) -> None:
    """List runs, newest first.

    Example: cairn runs "Text report" --status in_progress
    """
    options: dict[str, Any] = {"include_archived": archived, "include_tests": tests, "limit": limit}
    pipeline_id = (await ctx.resolver.pipeline(pipeline))["pipeline_id"] if pipeline else None
    if pipeline_id is not None and not status:
        page = await ctx.client.list_pipeline_runs(pipeline_id, definition_version=definition_version, **options)
    else:
        page = await ctx.client.list_runs(pipeline_id=pipeline_id, status=status or (), **options)
    headings = ("id", "pipeline", "version", "status", "progress", "pending approvals", "started")
    ctx.show(page, lambda page: ctx.output.table(headings, map(_row, page["items"]), empty="No runs found."))


def _row(run: JsonObject) -> tuple[object, ...]:
    done = f"{run['metadata']['completed_checkpoints']}/{run['metadata']['total_checkpoints']}"
    status = f"{run['status']} (archived)" if run["archived_by"] else run["status"]
    pending = run["pending_approval_count"] or ""
    started = local_time(run["started_at"])
    return short(run["run_id"]), run["pipeline_name"], version(run), status, done, pending, started


@online()
async def show(
    ctx: CliContext,
    name: Annotated[str, typer.Argument(metavar="RUN|RUN/KEY", help="A run or one of its executions.")],
    print_input: Annotated[bool, typer.Option("--input", help="Print the run's input as JSON.")] = False,
) -> None:
    """Show a run or an execution. Lists its checkpoints or artifacts, errors and available commands.

    Example: cairn show "Text report@v1"
    """
    if print_input:
        ctx.output.raw(f"{(await ctx.client.get_run_input(await ctx.resolver.run(name))).decode()}\n")
        return
    target = await ctx.resolver.target(name)
    if "execution_id" in target:
        ctx.show(target, lambda item: show_execution(ctx.output, item))
    else:
        ctx.show(await ctx.client.get_run(target["run_id"]), lambda item: show_run(ctx.output, item))


@online()
async def executions(
    ctx: CliContext,
    run: RunName,
    archived: Annotated[bool, typer.Option("--archived", help="Include executions archived by a rollback.")] = False,
) -> None:
    """List the executions of a run, oldest first.

    Example: cairn executions "Text report@v1"
    """
    page = await ctx.client.list_run_executions(await ctx.resolver.run(run), include_archived=archived)
    rows = [
        (
            short(execution["execution_id"]),
            execution["checkpoint_key"],
            f"{execution['status']} ({execution['waiting_on']})" if execution["waiting_on"] else execution["status"],
            execution["attempt_number"],
            execution["revision_iteration"],
            execution["pass_number"],
            local_time(execution["started_at"]),
        )
        for execution in page["items"]
    ]
    headings = ("id", "key", "status", "attempt", "revision", "pass", "started")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No executions yet."))


@online("work")
async def watch(
    ctx: CliContext,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="A run. Default: all changes on the server.")] = None,
    until_done: Annotated[
        bool, typer.Option("--until-done", help="Keep following while the run waits for people.")
    ] = False,
) -> None:
    """Follow a run. Stops when the run ends or waits for a person.

    With --json, prints each event, log line and message as one line of JSON. Uses the exit codes of `cairn run`.

    Example: cairn watch "Text report@v1"
    """
    if run is None:
        async for change in ctx.client.stream_changes():
            line = " ".join(
                str(change.data[name]) for name in ("event_type", "pipeline_id", "run_id") if change.data[name]
            )
            ctx.output.json_line(change.data) if ctx.output.as_json else ctx.output.line(line)
            ctx.output.out.flush()
        return
    run_id = await ctx.resolver.run(run)
    if ctx.output.as_json:
        raise CommandFailed(
            print_outcome(ctx.output, await print_json_messages(ctx.client, ctx.output, run_id, until_done=until_done))
        )
    print_embedded_notice(ctx.embedded is not None)
    raise CommandFailed(print_outcome(ctx.output, await follow(ctx.client, ctx.output, run_id, until_done=until_done)))
