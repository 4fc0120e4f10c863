"""Commands for rework and lineage."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import ExecutionName, RunName
from cairn.cli.client import JsonObject
from cairn.cli.commands.run_control import show_execution_result
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time
from cairn.cli.references import short
from cairn.cli.rendering import START_MODES

Reason = Annotated[str, typer.Option("--reason", "-m", help="Reason.")]


def _awaits_completion(execution: JsonObject) -> bool:
    return execution["status"] == "waiting_approval_to_complete"


@online("work")
async def rework(
    ctx: CliContext,
    name: ExecutionName,
    to: Annotated[str, typer.Option("--to", help="Key of the earlier checkpoint to send back.")],
    prompt: Annotated[str, typer.Option("--prompt", "-p", help="Instructions for the rework.")] = "",
    reason: Reason = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only preview what would be replaced and become stale.")
    ] = False,
) -> None:
    """Send work back to an earlier checkpoint. Give instructions, a reason or both.

    EXECUTION is the execution that you reviewed. If it awaits approval, it waits for the rework and continues with the
    new result.

    Example: cairn rework "Build and check@v1/test" --to plan --prompt "Leave the cache out." --reason "Too slow"
    """
    requester = await ctx.resolver.execution(name, _awaits_completion, "awaits approval")
    spec = {"checkpoint": to, "prompt": prompt, "reason": reason}
    if dry_run:
        preview = await ctx.client.preview_rework(requester["execution_id"], spec)
        ctx.show(preview, lambda preview: _show_preview(ctx, preview))
        return
    if not prompt and not reason:
        raise CommandFailed(ExitCode.USAGE, "Instructions or a reason are required. Add --prompt or --reason.")
    created = await ctx.client.create_rework(requester["execution_id"], spec)
    await show_execution_result(ctx, created["execution_id"])


def _show_preview(ctx: CliContext, preview: JsonObject) -> None:
    print_line = ctx.output.line
    print_line(f"would run {preview['checkpoint_name']} again ({START_MODES[preview['start_mode']]})")
    for artifact in preview["replaced"]:
        print_line(f"would replace {artifact['file_path'] or artifact['artifact_name']}")
    for stale in preview["stale_executions"]:
        read = ", ".join(stale["artifacts"])
        print_line(f"would make stale: {stale['checkpoint_name']} of v{stale['run_version']} (read {read})")
    for withdrawn in preview["withdrawn_approvals"]:
        print_line(f"would withdraw the approval of {withdrawn['checkpoint_name']} ({withdrawn['kind']})")
    if preview["requester_waits"]:
        print_line(f"{preview['requester_checkpoint_name']} would wait for the new result")
    if preview["reopens_run"]:
        print_line("would reopen the run until the rework has ended")


@online("work")
async def rerun(ctx: CliContext, name: ExecutionName, reason: Reason = "") -> None:
    """Run a stale execution again. A new execution replaces it.

    Example: cairn rerun "Build and check@v1/test"
    """
    execution = await ctx.resolver.execution(name, lambda execution: bool(execution["stale_inputs"]), "is stale")
    created = await ctx.client.rerun_execution(execution["execution_id"], reason=reason)
    await show_execution_result(ctx, created["execution_id"])


@online()
async def lineage(ctx: CliContext, run: RunName) -> None:
    """Show which executions read which artifacts. Includes stale executions and all rework.

    Example: cairn lineage "Build and check@v1"
    """
    lineage = await ctx.client.get_lineage(await ctx.resolver.run(run))
    ctx.show(lineage, lambda lineage: _show(ctx, lineage))


def _show(ctx: CliContext, lineage: JsonObject) -> None:
    flow = [
        (
            item["artifact_name"],
            item["producer_checkpoint"],
            item["consumer_checkpoint"],
            "yes" if item["is_stale"] else "",
        )
        for item in lineage["flow"]
    ]
    ctx.output.table(
        ("artifact", "producer", "consumer", "stale"), flow, empty="No execution has read an artifact yet."
    )
    if lineage["reworks"]:
        rows = [
            (
                short(item["execution_id"]),
                item["checkpoint_key"],
                item["status"],
                item["depth"],
                item["requested_by"],
                item["reason"],
                local_time(item["created_at"]),
            )
            for item in lineage["reworks"]
        ]
        ctx.output.line()
        ctx.output.table(("rework", "checkpoint", "status", "depth", "requested by", "reason", "created"), rows)
