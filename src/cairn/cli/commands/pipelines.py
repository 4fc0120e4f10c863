"""Pipelines and their checkpoints."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import CheckpointName, Force, Limit, PipelineName, as_object, read_json
from cairn.cli.client import Answer
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.output import moment
from cairn.cli.references import short, version
from cairn.cli.rendering import warn

pipelines_app = group("Manage pipelines and their revisions.")
checkpoints_app = group("Manage the checkpoints of a pipeline.")
Definition = Annotated[str, typer.Argument(metavar="JSON|@FILE", help="A checkpoint as JSON, or @file (JSON or YAML).")]


@pipelines_app.command("list")
@online()
async def list_pipelines(
    ctx: CliContext,
    search: Annotated[str, typer.Option("--search", help="Filter by text in the name or description.")] = "",
    deleted: Annotated[bool, typer.Option("--deleted", help="List deleted pipelines instead.")] = False,
    limit: Limit = 50,
) -> None:
    """List pipelines with their latest runs, newest first.

    Example: cairn pipelines
    """
    found = await ctx.client.list_pipelines(deleted=deleted, search=search, most=limit)
    rows = [
        (
            short(one["pipeline_id"]),
            one["pipeline_name"],
            one["checkpoint_count"],
            one["pipeline_definition_version"],
            version(one["latest_run"]) if one["latest_run"] else "",
            one["latest_run"]["status"] if one["latest_run"] else "",
            one["pending_approval_count"] or "",
        )
        for one in found["items"]
    ]
    heads = ("id", "pipeline", "checkpoints", "definition", "latest run", "status", "waits")
    empty = "There are no pipelines: make one with `cairn apply`."
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty=empty))


@pipelines_app.command("show")
@online()
async def show_pipeline(ctx: CliContext, name: PipelineName) -> None:
    """Show a pipeline with its checkpoints.

    Example: cairn pipelines show "Text report"
    """
    found = await ctx.naming.pipeline(name)
    ctx.show(await ctx.client.get_pipeline(found["pipeline_id"]), lambda one: _show(ctx, one))


def _show(ctx: CliContext, pipeline: Answer) -> None:
    latest = pipeline["latest_run"]
    ctx.screen.facts(
        [
            ("pipeline", pipeline["pipeline_name"]),
            ("id", pipeline["pipeline_id"]),
            ("description", pipeline["pipeline_description"]),
            ("prompt", pipeline["original_prompt"]),
            ("definition", f"version {pipeline['pipeline_definition_version']}, revision {pipeline['revision']}"),
            ("changed", moment(pipeline["updated_at"])),
            ("latest run", f"{version(latest)} {latest['status']}" if latest else None),
        ]
    )
    ctx.screen.line()
    _table(ctx, pipeline)
    warn(pipeline)


def _table(ctx: CliContext, pipeline: Answer) -> None:
    rows = [
        (one["position"] + 1, one["key"], one["checkpoint_name"], one["execution"]["mode"], one["stage"], _asks(one))
        for one in pipeline["checkpoints"]
    ]
    ctx.screen.table(("", "key", "checkpoint", "done by", "stage", "asks"), rows, empty="It has no checkpoints.")


def _asks(checkpoint: Answer) -> str:
    people = checkpoint["human_interaction"]
    moments = {"requires_approval_to_start": "start", "requires_approval_to_complete": "completion"}
    return ", ".join(word for name, word in moments.items() if people.get(name))


@pipelines_app.command("definition")
@online()
async def definition(
    ctx: CliContext,
    name: PipelineName,
    revision: Annotated[
        int | None, typer.Option("--revision", min=1, help="Print this revision, in full and as JSON.")
    ] = None,
) -> None:
    """Print a definition as YAML, ready to commit and apply, or as JSON with --json.

    Example: cairn pipelines definition "Text report" > pipeline.yaml
    """
    pipeline_id = (await ctx.naming.pipeline(name))["pipeline_id"]
    if revision is not None:
        ctx.screen.answer((await ctx.client.get_revision(pipeline_id, revision))["document"])
        return
    ctx.screen.raw(await ctx.client.get_definition(pipeline_id, "json" if ctx.screen.as_json else "yaml"))


@pipelines_app.command("history")
@online()
async def history(ctx: CliContext, name: PipelineName, limit: Limit = 50) -> None:
    """List the revisions of a definition, newest first, with author and comment.

    Example: cairn pipelines history "Text report"
    """
    found = await ctx.client.list_revisions((await ctx.naming.pipeline(name))["pipeline_id"], most=limit)
    rows = [
        (one["revision"], one["pipeline_definition_version"], moment(one["created_at"]), one["author"], one["comment"])
        for one in found["items"]
    ]
    ctx.show(found, lambda _: ctx.screen.table(("revision", "definition", "when", "who", "why"), rows))


@pipelines_app.command("revert")
@online("saves")
async def revert(
    ctx: CliContext,
    name: PipelineName,
    revision: Annotated[int, typer.Argument(min=1, help="Revision to restore.")],
    force: Force = False,
) -> None:
    """Restore an earlier revision of a definition as the newest one.

    Example: cairn pipelines revert "Text report" 1
    """
    pipeline_id = (await ctx.naming.pipeline(name))["pipeline_id"]
    _saved(ctx, await ctx.client.revert_pipeline(pipeline_id, revision, force=force))


@pipelines_app.command("delete")
@online("saves")
async def delete(ctx: CliContext, name: PipelineName, force: Force = False) -> None:
    """Delete a pipeline. Its folder is archived, and `restore` restores it.

    Example: cairn pipelines delete "Text report"
    """
    found = await ctx.naming.pipeline(name)
    deleted = await ctx.client.delete_pipeline(found["pipeline_id"], force=force)
    ctx.show(deleted, lambda _: ctx.screen.line(f"{found['pipeline_name']}: deleted"))


@pipelines_app.command("restore")
@online("saves")
async def restore(ctx: CliContext, name: PipelineName) -> None:
    """Restore a deleted pipeline.

    Example: cairn pipelines restore "Text report"
    """
    found = await ctx.naming.pipeline(name, deleted=True)
    restored = await ctx.client.restore_pipeline(found["pipeline_id"])
    ctx.show(restored, lambda _: ctx.screen.line(f"{found['pipeline_name']}: restored"))


def _saved(ctx: CliContext, pipeline: Answer) -> None:
    version = f"revision {pipeline['revision']}, definition version {pipeline['pipeline_definition_version']}"
    ctx.show(pipeline, lambda _: ctx.screen.line(f"{pipeline['pipeline_name']}: {version}"))
    warn(pipeline)


# ---- checkpoints ----------------------------------------------------------------------------------------
@checkpoints_app.command("list")
@online()
async def list_checkpoints(ctx: CliContext, name: PipelineName) -> None:
    """List the checkpoints of a pipeline, in order.

    Example: cairn checkpoints list "Text report"
    """
    pipeline = await ctx.client.get_pipeline((await ctx.naming.pipeline(name))["pipeline_id"])
    ctx.show(pipeline["checkpoints"], lambda _: _table(ctx, pipeline))


@checkpoints_app.command("show")
@online()
async def show_checkpoint(ctx: CliContext, name: CheckpointName) -> None:
    """Print a checkpoint in its full form, as JSON.

    Example: cairn checkpoints show "Text report/write_report"
    """
    _, found = await ctx.naming.checkpoint(name)
    ctx.screen.answer(await ctx.client.get_checkpoint(found["checkpoint_id"]))


@checkpoints_app.command("add")
@online("saves")
async def add(
    ctx: CliContext,
    name: PipelineName,
    checkpoint: Definition,
    position: Annotated[int | None, typer.Option("--position", min=1, help="Position. Default: at the end.")] = None,
    force: Force = False,
) -> None:
    """Add a checkpoint. The definition version goes up, and runs start at v1 again.

    Example: cairn checkpoints add "Text report" '{"key": "sign", "form": [{"name": "name"}]}'
    """
    pipeline_id = (await ctx.naming.pipeline(name))["pipeline_id"]
    written = as_object(read_json(checkpoint, "The checkpoint"), "The checkpoint")
    at = None if position is None else position - 1
    made = await ctx.client.add_checkpoint(pipeline_id, written, position=at, force=force)
    ctx.show(made, lambda one: ctx.screen.line(f"{one['key']}: added at {one['position'] + 1}"))


@checkpoints_app.command("edit")
@online("saves")
async def edit(ctx: CliContext, name: CheckpointName, changes: Definition) -> None:
    """Update the given fields of a checkpoint. Runs continue.

    Example: cairn checkpoints edit "Text report/write_report" '{"checkpoint_name": "Report"}'
    """
    pipeline, found = await ctx.naming.checkpoint(name)
    written: Any = as_object(read_json(changes, "The change"), "The change")
    changed = await ctx.client.update_checkpoint(found["checkpoint_id"], written, if_match=pipeline["revision"])
    ctx.show(changed, lambda one: ctx.screen.line(f"{one['key']}: changed"))


@checkpoints_app.command("remove")
@online("saves")
async def remove(ctx: CliContext, name: CheckpointName, force: Force = False) -> None:
    """Remove a checkpoint. The definition version goes up, and runs start at v1 again.

    Example: cairn checkpoints remove "Text report/reading_time"
    """
    _, found = await ctx.naming.checkpoint(name)
    _saved(ctx, await ctx.client.delete_checkpoint(found["checkpoint_id"], force=force))


@checkpoints_app.command("order")
@online("saves")
async def order(
    ctx: CliContext,
    name: PipelineName,
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="All checkpoints, in the new order.")],
    force: Force = False,
) -> None:
    """Reorder the checkpoints.

    Example: cairn checkpoints order "Product discovery" goals design requirements
    """
    pipeline = await ctx.client.get_pipeline((await ctx.naming.pipeline(name))["pipeline_id"])
    ids = {one["key"]: one["checkpoint_id"] for one in pipeline["checkpoints"]}
    wanted = [ids.get(key, key) for key in keys]
    _saved(
        ctx,
        await ctx.client.reorder_checkpoints(
            pipeline["pipeline_id"], wanted, if_match=pipeline["revision"], force=force
        ),
    )
