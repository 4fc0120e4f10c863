"""Commands for rollbacks."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import uuid4

import typer

from cairn.cli.arguments import Limit, RunName
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.commands.run_control import print_run
from cairn.cli.completion import rollbacks as complete
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import file_size, local_time
from cairn.cli.references import find_checkpoint, short
from cairn.cli.rendering import START_MODES, print_warnings

rollbacks_app = group("List and show rollbacks.")
RollbackName = Annotated[str, typer.Argument(metavar="ROLLBACK", help="Id of a rollback.", autocompletion=complete)]


@online("work")
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
    spec = await _rollback_spec(ctx, run, to, to_run, reason)
    if dry_run:
        ctx.show(await ctx.client.preview_rollback(spec), lambda preview: _show_preview(ctx, preview))
        return
    created = await ctx.client.create_rollback({**spec, "rollback_id": str(uuid4())})
    run_id = created["target_run_id"] or created["source_run_id"]
    current = await ctx.wait_until_idle(run_id)
    if ctx.output.as_json:
        ctx.output.json(created)
        return
    ctx.output.line(f"rollback {created['rollback_id']}: {_item_counts(created)} archived")
    print_run(ctx, current)
    print_warnings(created)


async def _rollback_spec(
    ctx: CliContext, run: str, to: str | None, to_run: str | None, reason: str | None
) -> dict[str, Any]:
    source = await ctx.resolver.run(run)
    target = await ctx.resolver.run(to_run) if to_run else None
    if to is None and target is None:
        raise CommandFailed(ExitCode.USAGE, "A target is required. Add --to KEY, --to start or --to-run RUN.")
    kept_run = await ctx.client.get_run(target or source)
    spec: dict[str, Any] = {
        "rollback_type": "run_level" if target else "checkpoint_level",
        "source_run_id": source,
        "target_checkpoint_position": _position(kept_run, to),
        "user_reason": reason,
    }
    return {**spec, **({"target_run_id": target} if target else {})}


def _position(run: JsonObject, key: str | None) -> int:
    """The position of the last checkpoint to keep. Default: the last completed one."""
    if key == "start":
        return -1
    if key is None:
        completed = [item["position"] for item in run["checkpoints"] if item["status"] == "completed"]
        return max(completed, default=-1)
    return find_checkpoint(run, key)["position"]


def _item_counts(rollback: JsonObject) -> str:
    items = rollback["rolled_back_items"]
    parts = [
        (len(items["deleted_runs"]), "run"),
        (len(items["deleted_checkpoint_executions"]), "execution"),
        (len(items["archived_artifacts"]), "artifact"),
    ]
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in parts)


def _show_preview(ctx: CliContext, preview: JsonObject) -> None:
    items, resumes_with = preview["rolled_back_items"], preview["resumes_with"]
    ctx.output.line(f"would archive {_item_counts(preview)} ({file_size(preview['size_bytes'])})")
    for run in items["deleted_runs"]:
        ctx.output.line(f"  run v{run['run_version']}")
    for execution in items["deleted_checkpoint_executions"]:
        ctx.output.line(f"  {execution['checkpoint_name']} ({execution['status']})")
    for stopped in preview["stopped_executions"]:
        ctx.output.line(f"would stop {stopped['checkpoint_name']}")
    for withdrawn in preview["withdrawn_approvals"]:
        ctx.output.line(f"would withdraw the approval of {withdrawn['checkpoint_name']} ({withdrawn['kind']})")
    unaffected = preview["unaffected"]
    ctx.output.line(f"would keep {unaffected['checkpoints']} checkpoints and {unaffected['artifacts']} artifacts")
    if resumes_with["start_mode"] == "run_completes":
        ctx.output.line("would complete the run")
    else:
        start = START_MODES[resumes_with["start_mode"]]
        ctx.output.line(f"would continue with {resumes_with['checkpoint_name']} ({start})")
    print_warnings(preview)


@online("work")
async def undo(ctx: CliContext, name: RollbackName) -> None:
    """Undo a rollback. Fails if newer work has replaced what it removed.

    Example: cairn undo 1f0c93d2
    """
    match = await ctx.resolver.rollback(name)
    rollback = await ctx.client.undo_rollback(match["rollback_id"])
    await ctx.wait_until_idle(rollback["source_run_id"])
    ctx.show(
        rollback,
        lambda rollback: ctx.output.line(
            f"rollback {rollback['rollback_id']} undone: {_item_counts(rollback)} restored"
        ),
    )
    print_warnings(rollback)


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
    page = await ctx.client.list_rollbacks(
        pipeline_id=(await ctx.resolver.pipeline(pipeline))["pipeline_id"] if pipeline else None,
        run_id=await ctx.resolver.run(run) if run else None,
        limit=limit,
    )
    rows = [
        (
            short(rollback["rollback_id"]),
            rollback["rollback_type"],
            f"v{rollback['source_run_version']}",
            _item_counts(rollback),
            "undone" if rollback["undone_at"] else "can be undone" if rollback["can_undo"] else "",
            local_time(rollback["created_at"]),
            rollback["created_by"],
        )
        for rollback in page["items"]
    ]
    headings = ("id", "type", "run", "archived", "undo", "created", "user")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No rollbacks found."))


@rollbacks_app.command("show")
@online()
async def show_rollback(ctx: CliContext, name: RollbackName) -> None:
    """Show what a rollback removed, and whether it can be undone.

    Example: cairn rollbacks show 1f0c93d2
    """
    rollback = await ctx.client.get_rollback((await ctx.resolver.rollback(name))["rollback_id"])
    ctx.show(rollback, lambda rollback: _show(ctx, rollback))


def _show(ctx: CliContext, rollback: JsonObject) -> None:
    ctx.output.fields(
        [
            ("rollback", rollback["rollback_id"]),
            ("type", rollback["rollback_type"]),
            ("archived", _item_counts(rollback)),
            ("archive", rollback["archive_location"]),
            ("reason", rollback["user_reason"]),
            (
                "created",
                f"{local_time(rollback['created_at'])} by {rollback['created_by']} ({rollback['triggered_by']})",
            ),
            ("undone", local_time(rollback["undone_at"])),
            ("can be undone", "yes" if rollback["can_undo"] else "no"),
        ]
    )
    print_warnings(rollback)
