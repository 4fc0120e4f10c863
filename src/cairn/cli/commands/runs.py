"""Runs: started and followed, listed, shown, steered."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit, RunName, read_json
from cairn.cli.client import Answer
from cairn.cli.completion import pipelines as complete_pipelines
from cairn.cli.context import CliContext, online
from cairn.cli.definition_files import is_file, read
from cairn.cli.exit_codes import CommandFailed
from cairn.cli.output import moment, tell
from cairn.cli.references import short, title, version
from cairn.cli.rendering import show_execution, show_run
from cairn.cli.run_follower import follow, note_embedded, tell_messages
from cairn.cli.run_state import outcome

Input = Annotated[str | None, typer.Option("--input", "-i", help="Run input as JSON, or @file.")]


@online("works")
async def run(
    ctx: CliContext,
    what: Annotated[
        str,
        typer.Argument(
            metavar="PIPELINE|FILE",
            help="Name or id of a pipeline, or a definition file, which is applied first.",
            autocompletion=complete_pipelines,
        ),
    ],
    given: Input = None,
    prompt: Annotated[
        str | None, typer.Option("--prompt", help="Prompt for this run, instead of the pipeline's.")
    ] = None,
    test: Annotated[bool, typer.Option("--test", help="Create a test run, which gets no version number.")] = False,
    no_start: Annotated[bool, typer.Option("--no-start", help="Create the run without starting it.")] = False,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Start the run without following it.")] = False,
) -> None:
    """Start a run and follow it until it ends or waits for a person.

    Without a server this command does the work itself. Exits with 0 when the run has completed, 1 when it has
    failed or was cancelled, and 6 when it waits.

    Example: cairn run "Text report" --input '{"text": "A cairn marks the way."}'
    """
    value = None if given is None else read_json(given, "--input")
    pipeline = await _pipeline(ctx, what)
    begun = await ctx.client.create_run(
        pipeline["pipeline_id"], input=value, original_prompt=prompt, start=not no_start, test=test
    )
    for warning in begun["warnings"]:
        tell(f"warning: {warning}")
    if not ctx.screen.as_json:
        ctx.screen.line(f"{title(begun)}  {begun['run_id']}")
        ctx.screen.out.flush()
    if detach or no_start:
        settled = await ctx.settled(begun["run_id"])
        ctx.show(settled, lambda _: None)
        return
    note_embedded(ctx.embedded is not None)
    ended = await follow(ctx.client, ctx.screen, begun["run_id"])
    ctx.show(ended, lambda _: None)
    raise CommandFailed(outcome(ctx.screen, ended))


async def _pipeline(ctx: CliContext, what: str) -> Answer:
    if is_file(what):
        from cairn.cli.commands.definitions import save

        return await save(ctx, read(what))
    return await ctx.naming.pipeline(what)


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
    shown: dict[str, Any] = {"include_archived": archived, "include_tests": tests, "most": limit}
    pipeline_id = (await ctx.naming.pipeline(pipeline))["pipeline_id"] if pipeline else None
    if pipeline_id is not None and not status:
        found = await ctx.client.list_pipeline_runs(pipeline_id, definition_version=definition_version, **shown)
    else:
        found = await ctx.client.list_runs(pipeline_id=pipeline_id, status=status or (), **shown)
    heads = ("id", "pipeline", "version", "status", "progress", "waits", "started")
    ctx.show(found, lambda page: ctx.screen.table(heads, map(_row, page["items"]), empty="There are no runs."))


def _row(run: Answer) -> tuple[object, ...]:
    done = f"{run['metadata']['completed_checkpoints']}/{run['metadata']['total_checkpoints']}"
    status = f"{run['status']} (archived)" if run["archived_by"] else run["status"]
    waits = run["pending_approval_count"] or ""
    return short(run["run_id"]), run["pipeline_name"], version(run), status, done, waits, moment(run["started_at"])


@online()
async def show(
    ctx: CliContext,
    name: Annotated[str, typer.Argument(metavar="RUN|RUN/KEY", help="A run or one of its executions.")],
    input: Annotated[bool, typer.Option("--input", help="Print the run's input as given.")] = False,
) -> None:
    """Show a run with its checkpoints, or an execution with its artifacts, errors and available commands.

    Example: cairn show "Text report@v1"
    """
    if input:
        ctx.screen.raw(f"{(await ctx.client.get_run_input(await ctx.naming.run(name))).decode()}\n")
        return
    found = await ctx.naming.target(name)
    if "execution_id" in found:
        ctx.show(found, lambda one: show_execution(ctx.screen, one))
    else:
        ctx.show(await ctx.client.get_run(found["run_id"]), lambda one: show_run(ctx.screen, one))


@online()
async def executions(
    ctx: CliContext,
    run: RunName,
    archived: Annotated[bool, typer.Option("--archived", help="Include runs archived by a rollback.")] = False,
) -> None:
    """List the executions of a run in the order they were created.

    Example: cairn executions "Text report@v1"
    """
    found = await ctx.client.list_run_executions(await ctx.naming.run(run), include_archived=archived)
    rows = [
        (
            short(e["execution_id"]),
            e["checkpoint_key"],
            f"{e['status']} ({e['waiting_on']})" if e["waiting_on"] else e["status"],
            e["attempt_number"],
            e["revision_iteration"],
            e["pass_number"],
            moment(e["started_at"]),
        )
        for e in found["items"]
    ]
    heads = ("id", "key", "status", "attempt", "revision", "pass", "started")
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="There are no executions yet."))


@online("works")
async def watch(
    ctx: CliContext,
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="A run. Default: changes of everything.")] = None,
    until_done: Annotated[
        bool, typer.Option("--until-done", help="Keep waiting while the run waits for people.")
    ] = False,
) -> None:
    """Follow a run until it ends or waits for a person.

    With --json each event and log line is one line of JSON. Exit codes are those of `run`.

    Example: cairn watch "Text report@v1"
    """
    if run is None:
        async for change in ctx.client.stream_changes():
            told = " ".join(
                str(change.data[name]) for name in ("event_type", "pipeline_id", "run_id") if change.data[name]
            )
            ctx.screen.item(change.data) if ctx.screen.as_json else ctx.screen.line(told)
            ctx.screen.out.flush()
        return
    run_id = await ctx.naming.run(run)
    if ctx.screen.as_json:
        raise CommandFailed(
            outcome(ctx.screen, await tell_messages(ctx.client, ctx.screen, run_id, until_done=until_done))
        )
    note_embedded(ctx.embedded is not None)
    raise CommandFailed(outcome(ctx.screen, await follow(ctx.client, ctx.screen, run_id, until_done=until_done)))
