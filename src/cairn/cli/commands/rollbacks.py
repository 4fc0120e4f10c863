"""Rollbacks: planned, made, undone."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import uuid4

import typer

from cairn.cli.arguments import Limit, RunName
from cairn.cli.client import Answer
from cairn.cli.command_groups import group
from cairn.cli.commands.run_control import tell_run
from cairn.cli.completion import rollbacks as complete
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import moment, size
from cairn.cli.references import short, title
from cairn.cli.rendering import warn

rollbacks_app = group("List and show rollbacks.")
RollbackName = Annotated[str, typer.Argument(metavar="ROLLBACK", help="Id of a rollback.", autocompletion=complete)]


@online("works")
async def rollback(
    ctx: CliContext,
    run: RunName,
    to: Annotated[
        str | None,
        typer.Option("--to", help="Last checkpoint to keep: its key, or `start` to keep none."),
    ] = None,
    to_run: Annotated[
        str | None, typer.Option("--to-run", help="Earlier run to return to. Newer runs are archived.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only preview what would be removed.")] = False,
    reason: Annotated[str | None, typer.Option("--reason", "-m", help="Reason, stored with the rollback.")] = None,
) -> None:
    """Roll back to a checkpoint of a run, or to an earlier run. Removed work is archived and can be restored.

    Example: cairn rollback "Text report@v2" --to-run "Text report@v1" --dry-run
    """
    wanted = await _wanted(ctx, run, to, to_run, reason)
    if dry_run:
        ctx.show(await ctx.client.preview_rollback(wanted), lambda found: _show_plan(ctx, found))
        return
    made = await ctx.client.make_rollback({**wanted, "rollback_id": str(uuid4())})
    kept_run = made["target_run_id"] or made["source_run_id"]
    after = await ctx.settled(kept_run)
    if ctx.screen.as_json:
        ctx.screen.answer(made)
        return
    ctx.screen.line(f"rollback {made['rollback_id']}: {_counted(made)} archived")
    tell_run(ctx, after)
    warn(made)


async def _wanted(ctx: CliContext, run: str, to: str | None, to_run: str | None, reason: str | None) -> dict[str, Any]:
    source = await ctx.naming.run(run)
    target = await ctx.naming.run(to_run) if to_run else None
    if to is None and target is None:
        raise CommandFailed(ExitCode.USAGE, "Say how far: --to KEY, --to start, or --to-run RUN.")
    found = await ctx.client.get_run(target or source)
    wanted: dict[str, Any] = {
        "rollback_type": "run_level" if target else "checkpoint_level",
        "source_run_id": source,
        "target_checkpoint_position": _position(found, to),
        "user_reason": reason,
    }
    return {**wanted, **({"target_run_id": target} if target else {})}


def _position(run: Answer, key: str | None) -> int:
    """The last checkpoint that is kept: of an earlier run, the last that it completed."""
    if key == "start":
        return -1
    trail = run["checkpoints"]
    if key is None:
        return max((item["position"] for item in trail if item["status"] == "completed"), default=-1)
    fit = [item["position"] for item in trail if key in (item["key"], item["name"], str(item["position"] + 1))]
    if not fit:
        known = ", ".join(item["key"] for item in trail)
        raise CommandFailed(ExitCode.NOT_FOUND, f"{title(run)} has no checkpoint {key!r}: it has {known}.")
    return fit[0]


def _counted(made: Answer) -> str:
    items = made["rolled_back_items"]
    parts = [
        (len(items["deleted_runs"]), "run"),
        (len(items["deleted_checkpoint_executions"]), "execution"),
        (len(items["archived_artifacts"]), "artifact"),
    ]
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in parts)


def _show_plan(ctx: CliContext, plan: Answer) -> None:
    items, then = plan["rolled_back_items"], plan["then"]
    ctx.screen.line(f"would archive {_counted(plan)} ({size(plan['size_bytes'])})")
    for run in items["deleted_runs"]:
        ctx.screen.line(f"  run v{run['run_version']}")
    for execution in items["deleted_checkpoint_executions"]:
        ctx.screen.line(f"  {execution['checkpoint_name']} ({execution['status']})")
    for stopped in plan["stopped"]:
        ctx.screen.line(f"would stop {stopped['checkpoint_name']}")
    for withdrawn in plan["withdrawn_approvals"]:
        ctx.screen.line(f"would withdraw the approval of {withdrawn['checkpoint_name']} ({withdrawn['kind']})")
    kept = plan["kept"]
    ctx.screen.line(f"would keep {kept['checkpoints']} checkpoints, {kept['artifacts']} artifacts")
    ctx.screen.line(f"then {then['checkpoint_name'] or 'the run'}: {then['begins']}")
    warn(plan)


@online("works")
async def undo(ctx: CliContext, name: RollbackName) -> None:
    """Undo a rollback, unless newer work has taken its place.

    Example: cairn undo 1f0c93d2
    """
    found = await ctx.naming.rollback(name)
    undone = await ctx.client.undo_rollback(found["rollback_id"])
    await ctx.settled(undone["source_run_id"])
    ctx.show(undone, lambda one: ctx.screen.line(f"rollback {one['rollback_id']}: undone, {_counted(one)} back"))
    warn(undone)


@rollbacks_app.command("list")
@online()
async def list_rollbacks(
    ctx: CliContext,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Filter by run.")] = None,
    limit: Limit = 50,
) -> None:
    """List rollbacks, newest first.

    Example: cairn rollbacks
    """
    found = await ctx.client.list_rollbacks(
        pipeline_id=(await ctx.naming.pipeline(pipeline))["pipeline_id"] if pipeline else None,
        run_id=await ctx.naming.run(run) if run else None,
        most=limit,
    )
    rows = [
        (
            short(one["rollback_id"]),
            one["rollback_type"],
            f"v{one['source_run_version']}",
            _counted(one),
            "undone" if one["undone_at"] else "can be undone" if one["can_undo"] else "",
            moment(one["created_at"]),
            one["created_by"],
        )
        for one in found["items"]
    ]
    heads = ("id", "kind", "from", "archived", "", "when", "who")
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="There are no rollbacks."))


@rollbacks_app.command("show")
@online()
async def show_rollback(ctx: CliContext, name: RollbackName) -> None:
    """Show what a rollback removed, and whether it can be undone.

    Example: cairn rollbacks show 1f0c93d2
    """
    found = await ctx.client.get_rollback((await ctx.naming.rollback(name))["rollback_id"])
    ctx.show(found, lambda one: _show(ctx, one))


def _show(ctx: CliContext, made: Answer) -> None:
    ctx.screen.facts(
        [
            ("rollback", made["rollback_id"]),
            ("kind", made["rollback_type"]),
            ("archived", _counted(made)),
            ("archive", made["archive_location"]),
            ("reason", made["user_reason"]),
            ("when", f"{moment(made['created_at'])} by {made['created_by']} ({made['triggered_by']})"),
            ("undone", moment(made["undone_at"])),
            ("can be undone", "yes" if made["can_undo"] else "no"),
        ]
    )
    warn(made)
