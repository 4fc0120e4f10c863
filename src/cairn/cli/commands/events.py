"""Commands for events and the audit log."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import JsonObject
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time

audit_app = typer.Typer(help="Verify the audit log.", no_args_is_help=True)


@online()
async def events(
    ctx: CliContext,
    name: Annotated[str | None, typer.Argument(metavar="RUN|RUN/KEY", help="Filter by run or execution.")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    globally: Annotated[bool, typer.Option("--global", help="Only events that belong to no pipeline.")] = False,
    event_type: Annotated[list[str] | None, typer.Option("--type", help="Filter by type.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Start time, such as 2026-03-02T09:30:00Z.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="End time (exclusive).")] = None,
    limit: Limit = 50,
) -> None:
    """List events, newest first.

    Example: cairn events "Text report@v1" --limit 10
    """
    target = await ctx.resolver.target(name) if name else {}
    execution_id = target.get("execution_id")
    page = await ctx.client.list_events(
        pipeline_id=(await ctx.resolver.pipeline(pipeline))["pipeline_id"] if pipeline else None,
        run_id=None if execution_id else target.get("run_id"),
        execution_id=execution_id,
        scope="global" if globally else None,
        event_type=event_type or (),
        since=since,
        until=until,
        limit=limit,
    )
    rows = [
        (local_time(event["timestamp"]), event["event_type"], event["actor"], event["description"])
        for event in page["items"]
    ]
    headings = ("time", "event", "actor", "description")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No events found."))


@audit_app.command("verify")
@online()
async def verify(
    ctx: CliContext,
    run: Annotated[str | None, typer.Option("--run", help="Only this run.")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Only this pipeline and its runs.")] = None,
) -> None:
    """Verify that no event was changed, added or removed. Exits with 1 if one was.

    Example: cairn audit verify
    """
    verification = await ctx.client.verify_events(
        run_id=await ctx.resolver.run(run) if run else None,
        pipeline_id=(await ctx.resolver.pipeline(pipeline))["pipeline_id"] if pipeline else None,
    )
    ctx.show(verification, lambda verification: _show_verification(ctx, verification))
    if not verification["is_valid"]:
        raise CommandFailed(ExitCode.FAILED)


def _show_verification(ctx: CliContext, verification: JsonObject) -> None:
    for link in verification["broken"]:
        ctx.output.line(f"{link['chain']} at {link['seq']}: {link['reason']}", "red")
    result, style = ("intact", "green") if verification["is_valid"] else ("not intact", "red")
    ctx.output.line(
        f"The audit log is {result}: {verification['events']} events in {verification['chains']} chains.", style
    )
