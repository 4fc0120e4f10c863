"""Commands of the emergency stop."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import JsonObject
from cairn.cli.commands.rules import rules_app
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time

LEVELS = ("approvals", "actions")


@rules_app.command("stop")
@online("write")
async def stop(
    ctx: CliContext,
    reason: Annotated[str, typer.Option("--reason", "-m", help="Reason, recorded in the audit log.")] = "",
    level: Annotated[
        str, typer.Option("--level", help="What to stop: approvals by rules, or all actions as well.")
    ] = "approvals",
) -> None:
    """Stop all automatic approvals, so that people decide instead. Running it again updates the reason.

    With --level actions, no action starts either, not even an approved one. Only admins can lift a stop.

    Example: cairn rules stop --level actions -m "Refunds look odd"
    """
    if not reason.strip():
        raise CommandFailed(ExitCode.USAGE, "A reason is required. Add --reason.")
    if level not in LEVELS:
        raise CommandFailed(ExitCode.USAGE, f"Invalid --level {level!r}. Use approvals or actions.")
    ctx.show(await ctx.client.set_emergency_stop(True, reason, level=level), lambda stop: _show_stop(ctx, stop))


@rules_app.command("lift-stop")
@online("write")
async def lift_stop(
    ctx: CliContext,
    reason: Annotated[str, typer.Option("--reason", "-m", help="Reason, recorded in the audit log.")] = "",
) -> None:
    """Lift the emergency stop.

    Example: cairn rules lift-stop
    """
    ctx.show(await ctx.client.set_emergency_stop(False, reason), lambda stop: _show_stop(ctx, stop))


def _show_stop(ctx: CliContext, stop: JsonObject) -> None:
    if stop["stopped"]:
        stopped = "all actions" if stop["level"] == "actions" else "automatic approvals"
        ctx.output.line(f"Emergency stop of {stopped} by {stop['by']}: {stop['reason']}", "red")
    else:
        ctx.output.line("Emergency stop lifted. Rules approve automatically again.", "green")


@rules_app.command("stop-history")
@online()
async def stop_history(ctx: CliContext, limit: Limit = 50) -> None:
    """List emergency stops, newest first.

    Example: cairn rules stop-history
    """
    page = await ctx.client.list_emergency_stops(limit=limit)
    rows = [
        (
            local_time(change["at"]),
            f"stopped {change['level']}" if change["stopped"] else "lifted",
            change["by"],
            change["reason"],
        )
        for change in page["items"]
    ]
    ctx.show(
        page, lambda _: ctx.output.table(("time", "change", "user", "reason"), rows, empty="No emergency stops found.")
    )
