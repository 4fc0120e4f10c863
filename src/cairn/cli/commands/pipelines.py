"""Commands for pipelines and their checkpoints."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import CheckpointName, Force, Limit, PipelineName, as_object, read_json
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.output import local_time
from cairn.cli.references import short, version
from cairn.cli.rendering import print_warnings

pipelines_app = group("Manage pipelines and their revisions.")
checkpoints_app = group("Manage the checkpoints of a pipeline.")
CheckpointJson = Annotated[str, typer.Argument(metavar="JSON|@FILE", help="JSON object, or @file (JSON or YAML).")]


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
    page = await ctx.client.list_pipelines(deleted=deleted, search=search, limit=limit)
    rows = [
        (
            short(pipeline["pipeline_id"]),
            pipeline["pipeline_name"],
            pipeline["checkpoint_count"],
            pipeline["pipeline_definition_version"],
            version(pipeline["latest_run"]) if pipeline["latest_run"] else "",
            pipeline["latest_run"]["status"] if pipeline["latest_run"] else "",
            pipeline["pending_approval_count"] or "",
        )
        for pipeline in page["items"]
    ]
    headings = ("id", "pipeline", "checkpoints", "definition", "latest run", "status", "pending approvals")
    empty = "No pipelines found. Create one with `cairn apply`."
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty=empty))


@pipelines_app.command("show")
@online()
async def show_pipeline(ctx: CliContext, name: PipelineName) -> None:
    """Show a pipeline with its checkpoints.

    Example: cairn pipelines show "Text report"
    """
    match = await ctx.resolver.pipeline(name)
    ctx.show(await ctx.client.get_pipeline(match["pipeline_id"]), lambda pipeline: _show(ctx, pipeline))


def _show(ctx: CliContext, pipeline: JsonObject) -> None:
    latest = pipeline["latest_run"]
    ctx.output.fields(
        [
            ("pipeline", pipeline["pipeline_name"]),
            ("id", pipeline["pipeline_id"]),
            ("description", pipeline["pipeline_description"]),
            ("prompt", pipeline["original_prompt"]),
            ("definition", f"version {pipeline['pipeline_definition_version']}, revision {pipeline['revision']}"),
            ("updated", local_time(pipeline["updated_at"])),
            ("latest run", f"{version(latest)} {latest['status']}" if latest else None),
        ]
    )
    ctx.output.line()
    _print_checkpoints(ctx, pipeline)
    print_warnings(pipeline)


def _print_checkpoints(ctx: CliContext, pipeline: JsonObject) -> None:
    rows = [
        (
            checkpoint["position"] + 1,
            checkpoint["key"],
            checkpoint["checkpoint_name"],
            checkpoint["execution"]["mode"],
            checkpoint["stage"],
            _approvals(checkpoint),
        )
        for checkpoint in pipeline["checkpoints"]
    ]
    ctx.output.table(("#", "key", "checkpoint", "mode", "stage", "approvals"), rows, empty="No checkpoints.")


def _approvals(checkpoint: JsonObject) -> str:
    settings = checkpoint["human_interaction"]
    kinds = {"requires_approval_to_start": "start", "requires_approval_to_complete": "completion"}
    return ", ".join(kind for name, kind in kinds.items() if settings.get(name))


@pipelines_app.command("definition")
@online()
async def definition(
    ctx: CliContext,
    name: PipelineName,
    revision: Annotated[
        int | None, typer.Option("--revision", min=1, help="Print this revision, in full and as JSON.")
    ] = None,
) -> None:
    """Print a definition as YAML. Use --json for JSON.

    Example: cairn pipelines definition "Text report" > pipeline.yaml
    """
    pipeline_id = (await ctx.resolver.pipeline(name))["pipeline_id"]
    if revision is not None:
        ctx.output.json((await ctx.client.get_revision(pipeline_id, revision))["document"])
        return
    ctx.output.raw(await ctx.client.get_definition(pipeline_id, "json" if ctx.output.as_json else "yaml"))


@pipelines_app.command("history")
@online()
async def history(ctx: CliContext, name: PipelineName, limit: Limit = 50) -> None:
    """List the revisions of a definition, newest first.

    Example: cairn pipelines history "Text report"
    """
    page = await ctx.client.list_revisions((await ctx.resolver.pipeline(name))["pipeline_id"], limit=limit)
    rows = [
        (
            revision["revision"],
            revision["pipeline_definition_version"],
            local_time(revision["created_at"]),
            revision["created_by"],
            revision["comment"],
        )
        for revision in page["items"]
    ]
    ctx.show(page, lambda _: ctx.output.table(("revision", "definition", "created", "created by", "comment"), rows))


@pipelines_app.command("revert")
@online("write")
async def revert(
    ctx: CliContext,
    name: PipelineName,
    revision: Annotated[int, typer.Argument(metavar="REVISION", min=1, help="Revision to restore.")],
    force: Force = False,
) -> None:
    """Restore an earlier revision of a definition.

    Example: cairn pipelines revert "Text report" 1
    """
    pipeline_id = (await ctx.resolver.pipeline(name))["pipeline_id"]
    _print_saved(ctx, await ctx.client.revert_pipeline(pipeline_id, revision, force=force))


@pipelines_app.command("delete")
@online("write")
async def delete(ctx: CliContext, name: PipelineName, force: Force = False) -> None:
    """Delete a pipeline and archive its folder. `cairn pipelines restore` restores it.

    Example: cairn pipelines delete "Text report"
    """
    pipeline = await ctx.resolver.pipeline(name)
    deleted = await ctx.client.delete_pipeline(pipeline["pipeline_id"], force=force)
    ctx.show(deleted, lambda _: ctx.output.line(f"{pipeline['pipeline_name']}: deleted"))


@pipelines_app.command("restore")
@online("write")
async def restore(ctx: CliContext, name: PipelineName) -> None:
    """Restore a deleted pipeline.

    Example: cairn pipelines restore "Text report"
    """
    pipeline = await ctx.resolver.pipeline(name, deleted=True)
    restored = await ctx.client.restore_pipeline(pipeline["pipeline_id"])
    ctx.show(restored, lambda _: ctx.output.line(f"{pipeline['pipeline_name']}: restored"))


def _print_saved(ctx: CliContext, pipeline: JsonObject) -> None:
    version = f"revision {pipeline['revision']}, definition version {pipeline['pipeline_definition_version']}"
    ctx.show(pipeline, lambda _: ctx.output.line(f"{pipeline['pipeline_name']}: {version}"))
    print_warnings(pipeline)


# ---- checkpoints ----------------------------------------------------------------------------------------
@checkpoints_app.command("list")
@online()
async def list_checkpoints(ctx: CliContext, name: PipelineName) -> None:
    """List the checkpoints of a pipeline, in order.

    Example: cairn checkpoints list "Text report"
    """
    pipeline = await ctx.client.get_pipeline((await ctx.resolver.pipeline(name))["pipeline_id"])
    ctx.show(pipeline["checkpoints"], lambda _: _print_checkpoints(ctx, pipeline))


@checkpoints_app.command("show")
@online()
async def show_checkpoint(ctx: CliContext, name: CheckpointName) -> None:
    """Print a checkpoint in its full form, as JSON.

    Example: cairn checkpoints show "Text report/write_report"
    """
    _, match = await ctx.resolver.checkpoint(name)
    ctx.output.json(await ctx.client.get_checkpoint(match["checkpoint_id"]))


@checkpoints_app.command("add")
@online("write")
async def add(
    ctx: CliContext,
    name: PipelineName,
    checkpoint: CheckpointJson,
    position: Annotated[int | None, typer.Option("--position", min=1, help="Position. Default: at the end.")] = None,
    force: Force = False,
) -> None:
    """Add a checkpoint. Creates a new definition version, and its first run is v1.

    Example: cairn checkpoints add "Text report" '{"key": "sign", "form": [{"name": "name"}]}'
    """
    pipeline_id = (await ctx.resolver.pipeline(name))["pipeline_id"]
    definition = as_object(read_json(checkpoint, "The checkpoint"), "The checkpoint")
    index = None if position is None else position - 1
    created = await ctx.client.add_checkpoint(pipeline_id, definition, position=index, force=force)
    ctx.show(
        created,
        lambda checkpoint: ctx.output.line(f"{checkpoint['key']}: added at position {checkpoint['position'] + 1}"),
    )


@checkpoints_app.command("update")
@online("write")
async def update_checkpoint(ctx: CliContext, name: CheckpointName, changes: CheckpointJson) -> None:
    """Update fields of a checkpoint. Current runs continue.

    Example: cairn checkpoints update "Text report/write_report" '{"checkpoint_name": "Report"}'
    """
    pipeline, match = await ctx.resolver.checkpoint(name)
    changed_fields: Any = as_object(read_json(changes, "The fields"), "The fields")
    updated = await ctx.client.update_checkpoint(match["checkpoint_id"], changed_fields, if_match=pipeline["revision"])
    ctx.show(updated, lambda checkpoint: ctx.output.line(f"{checkpoint['key']}: updated"))


@checkpoints_app.command("delete")
@online("write")
async def delete_checkpoint(ctx: CliContext, name: CheckpointName, force: Force = False) -> None:
    """Delete a checkpoint. Creates a new definition version, and its first run is v1.

    Example: cairn checkpoints delete "Text report/reading_time"
    """
    _, match = await ctx.resolver.checkpoint(name)
    _print_saved(ctx, await ctx.client.delete_checkpoint(match["checkpoint_id"], force=force))


@checkpoints_app.command("order")
@online("write")
async def order(
    ctx: CliContext,
    name: PipelineName,
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="All checkpoints, in the new order.")],
    force: Force = False,
) -> None:
    """Reorder the checkpoints.

    Example: cairn checkpoints order "Product discovery" goals design requirements
    """
    pipeline = await ctx.client.get_pipeline((await ctx.resolver.pipeline(name))["pipeline_id"])
    ids = {checkpoint["key"]: checkpoint["checkpoint_id"] for checkpoint in pipeline["checkpoints"]}
    order = [ids.get(key, key) for key in keys]
    _print_saved(
        ctx,
        await ctx.client.reorder_checkpoints(
            pipeline["pipeline_id"], order, if_match=pipeline["revision"], force=force
        ),
    )
