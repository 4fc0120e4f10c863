"""Work that is sent back, or done again; and what was made from what."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import ExecutionName, RunName
from cairn.cli.client import Answer
from cairn.cli.commands.run_control import execution_told
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import moment
from cairn.cli.references import short

Reason = Annotated[str, typer.Option("--reason", "-m", help="Reason.")]


def _may_ask(execution: Answer) -> bool:
    return execution["status"] == "waiting_approval_to_complete"


@online("works")
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
    """Send the work of an earlier checkpoint back, with a prompt and a reason.

    EXECUTION is the one you reviewed. If it awaits approval, it waits for the rework and continues with the new
    result.

    Example: cairn rework "Build and check@v1/test" --to plan --prompt "Leave the cache out." --reason "Too slow"
    """
    asker = await ctx.naming.execution(name, _may_ask, "awaits approval: name the execution as run/key")
    wanted = {"checkpoint": to, "prompt": prompt, "reason": reason}
    if dry_run:
        ctx.show(await ctx.client.preview_rework(asker["execution_id"], wanted), lambda found: _show_plan(ctx, found))
        return
    if not prompt and not reason:
        raise CommandFailed(ExitCode.USAGE, "Say what is to be done now, or why: --prompt, --reason.")
    made = await ctx.client.ask_rework(asker["execution_id"], wanted)
    await execution_told(ctx, made["execution_id"])


def _show_plan(ctx: CliContext, plan: Answer) -> None:
    say = ctx.screen.line
    say(f"{plan['checkpoint_name']} would be done again: it begins {plan['begins']}")
    for artifact in plan["replaced"]:
        say(f"would replace {artifact['file_path'] or artifact['artifact_name']}")
    for stale in plan["becomes_stale"]:
        read = ", ".join(stale["artifacts"])
        say(f"would leave stale: {stale['checkpoint_name']} of v{stale['run_version']} ({read})")
    for withdrawn in plan["withdrawn_approvals"]:
        say(f"would withdraw the approval of {withdrawn['checkpoint_name']} ({withdrawn['kind']})")
    if plan["asker_waits"]:
        say(f"{plan['asker_checkpoint_name']} would wait for it, then go on")
    if plan["reopens"]:
        say("the run would be in progress again until it is done")


@online("works")
async def rerun(ctx: CliContext, name: ExecutionName, reason: Reason = "") -> None:
    """Run a stale execution again. A new execution replaces it.

    Example: cairn rerun "Build and check@v1/test"
    """
    execution = await ctx.naming.execution(name, lambda e: bool(e["stale_inputs"]), "is stale")
    made = await ctx.client.rerun_execution(execution["execution_id"], reason=reason)
    await execution_told(ctx, made["execution_id"])


@online()
async def lineage(ctx: CliContext, run: RunName) -> None:
    """Show which execution read which artifact, what is stale, and what was sent back.

    Example: cairn lineage "Build and check@v1"
    """
    found = await ctx.client.get_lineage(await ctx.naming.run(run))
    ctx.show(found, lambda one: _show(ctx, one))


def _show(ctx: CliContext, found: Answer) -> None:
    flow = [
        (
            one["artifact_name"],
            one["producer_checkpoint"],
            one["consumer_checkpoint"],
            "stale" if one["is_stale"] else "",
        )
        for one in found["flow"]
    ]
    ctx.screen.table(("artifact", "made by", "read by", ""), flow, empty="Nothing has been read yet.")
    if found["reworks"]:
        rows = [
            (
                short(one["execution_id"]),
                one["checkpoint_key"],
                one["status"],
                one["depth"],
                one["requested_by"],
                one["reason"],
                moment(one["created_at"]),
            )
            for one in found["reworks"]
        ]
        ctx.screen.line()
        ctx.screen.table(("rework", "checkpoint", "status", "depth", "asked by", "reason", "when"), rows)
