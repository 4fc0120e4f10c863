"""Commands for definition files: validate, apply and diff."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Force
from cairn.cli.client import JsonObject
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.context import CliContext, online
from cairn.cli.definition_files import DefinitionSource, collect, is_path, only_file_in, read
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import print_status
from cairn.cli.references import UnknownReference
from cairn.cli.rendering import show_diff

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="Definition files, or folders that contain them. Use - for stdin."),
]


@online("optional")
async def validate(ctx: CliContext, files: Files) -> None:
    """Check definitions without saving them. Errors name the file, line and column.

    Example: cairn validate pipeline.yaml
    """
    reports: list[JsonObject] = []
    for source in collect(files):
        report = await ctx.client.validate_definition(source.text, source.media_type)
        reports.append({"file": source.file, **report})
        if not ctx.output.as_json:
            _print_findings(ctx, source, report)
    if ctx.output.as_json:
        ctx.output.json(reports)
    if not all(report["is_valid"] for report in reports):
        raise CommandFailed(ExitCode.FAILED)


def _print_findings(ctx: CliContext, source: DefinitionSource, report: JsonObject) -> None:
    for error in report["errors"]:
        ctx.output.line(source.located(error), "red")
    for warning in report["warnings"]:
        ctx.output.line(source.located({**warning, "message": f"warning: {warning['message']}"}), "yellow")
    if report["is_valid"]:
        ctx.output.line(f"{source.file}: valid", "green")


@online("write")
async def apply(
    ctx: CliContext,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Definition files, or folders that contain them. Use - for stdin."),
    ] = None,
    template: Annotated[
        str | None, typer.Option("--template", help="Create a pipeline from a template instead. See `cairn templates`.")
    ] = None,
    force: Force = False,
) -> None:
    """Create or update pipelines from files. Applying the same file again changes nothing.

    Files in a `scripts` folder next to a definition are saved with it.

    Example: cairn apply pipeline.yaml
    """
    if (template is None) == (not files):
        raise CommandFailed(ExitCode.USAGE, "Use either files or --template.")
    if template is not None:
        from cairn.documents import encode_json

        created = await ctx.client.create_pipeline(encode_json({"template": template}), "application/json")
        pipelines = [_print_applied(ctx, created, "created")]
    else:
        pipelines = [await save(ctx, source, force=force) for source in collect(files or [])]
    if ctx.output.as_json:
        ctx.output.json(pipelines)


async def save(ctx: CliContext, source: DefinitionSource, *, force: bool = False) -> JsonObject:
    """Create the pipeline, or update the one with the same name."""
    current = await _find_pipeline(ctx, source)
    try:
        if current is None:
            return _print_applied(ctx, await ctx.client.create_pipeline(source.text, source.media_type), "created")
        saved = await ctx.client.replace_definition(current["pipeline_id"], source.text, source.media_type, force=force)
    except ProblemResponse as problem:
        raise _with_locations(source, problem) from None
    return _print_applied(ctx, saved, "updated" if saved["revision"] != current["revision"] else "unchanged")


async def _find_pipeline(ctx: CliContext, source: DefinitionSource) -> JsonObject | None:
    if source.pipeline_name is None:
        return None
    pipelines = (await ctx.client.list_pipelines(search=source.pipeline_name))["items"]
    matches = [match for match in pipelines if match["pipeline_name"] == source.pipeline_name]
    if len(matches) > 1:
        candidates = (f"{match['pipeline_id']}  revision {match['revision']}" for match in matches)
        raise CommandFailed(
            ExitCode.NOT_FOUND,
            f"Several pipelines have the name {source.pipeline_name!r}. Delete or rename one.",
            candidates,
        )
    return matches[0] if matches else None


def _print_applied(ctx: CliContext, pipeline: JsonObject, change: str) -> JsonObject:
    if not ctx.output.as_json:
        version = f"revision {pipeline['revision']}, definition version {pipeline['pipeline_definition_version']}"
        ctx.output.line(
            f"{pipeline['pipeline_name']}: {change} ({version})", "green" if change != "unchanged" else None
        )
        for warning in pipeline["warnings"]:
            print_status(f"warning: {warning['message']}")
    return {"applied": change, **pipeline}


def _with_locations(source: DefinitionSource, problem: ProblemResponse) -> CommandFailed:
    if not problem.errors:
        return CommandFailed(problem.code, f"{source.file}: {problem.message}", problem.details)
    return CommandFailed(problem.code, problem.message, map(source.located, problem.errors))


@online()
async def diff(
    ctx: CliContext,
    name: Annotated[str, typer.Argument(metavar="FILE|PIPELINE", help="A definition file, its folder, or a pipeline.")],
    from_revision: Annotated[
        int | None, typer.Option("--from", min=1, help="First revision. Default: the one before.")
    ] = None,
    to_revision: Annotated[
        int | None, typer.Option("--to", min=1, help="Second revision. Default: the newest.")
    ] = None,
) -> None:
    """Compare a file with its pipeline, or two revisions of a pipeline.

    Example: cairn diff pipeline.yaml
    """
    if from_revision is None and to_revision is None and is_path(name):
        diff = await _compare(ctx, read(only_file_in(name)))
    else:
        pipeline = await ctx.resolver.pipeline(name)
        newest = pipeline["revision"]
        last = to_revision or newest
        diff = await ctx.client.diff_revisions(pipeline["pipeline_id"], from_revision or max(1, last - 1), last)
    ctx.show(diff, lambda diff: show_diff(ctx.output, diff["text"]))


async def _compare(ctx: CliContext, source: DefinitionSource) -> JsonObject:
    current = await _find_pipeline(ctx, source)
    if current is None:
        report = await ctx.client.validate_definition(source.text, source.media_type)
        if not report["is_valid"]:
            raise CommandFailed(ExitCode.FAILED, f"{source.file} is invalid.", map(source.located, report["errors"]))
        raise UnknownReference("pipeline", source.pipeline_name or "", "Applying the file creates it.")
    try:
        return await ctx.client.compare_definition(current["pipeline_id"], source.text, source.media_type)
    except ProblemResponse as problem:
        raise _with_locations(source, problem) from None
