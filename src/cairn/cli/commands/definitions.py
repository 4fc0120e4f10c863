"""Definitions: checked, applied, compared."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.client import Answer
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.context import CliContext, online
from cairn.cli.definition_files import DefinitionSource, collect, read
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import tell
from cairn.cli.references import UnknownReference
from cairn.cli.rendering import show_diff

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="Definition files, or folders that contain them. Use - for stdin."),
]


@online("checks")
async def validate(ctx: CliContext, files: Files) -> None:
    """Check definitions without saving them. Errors name the file, line and column.

    Example: cairn validate pipeline.yaml
    """
    answers: list[Answer] = []
    for source in collect(files):
        found = await ctx.client.validate_definition(source.text, source.media_type)
        answers.append({"file": source.file, **found})
        if not ctx.screen.as_json:
            _tell_findings(ctx, source, found)
    if ctx.screen.as_json:
        ctx.screen.answer(answers)
    if not all(answer["valid"] for answer in answers):
        raise CommandFailed(ExitCode.REFUSED)


def _tell_findings(ctx: CliContext, source: DefinitionSource, found: Answer) -> None:
    for fault in found["errors"]:
        ctx.screen.line(source.placed(fault), "red")
    for warning in found["warnings"]:
        ctx.screen.line(source.placed({**warning, "message": f"warning: {warning['message']}"}), "yellow")
    if found["valid"]:
        ctx.screen.line(f"{source.file}: valid", "green")


@online("saves")
async def apply(
    ctx: CliContext,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Definition files, or folders that contain them. Use - for stdin."),
    ] = None,
    template: Annotated[
        str | None, typer.Option("--template", help="Create a pipeline from a template instead. See `cairn templates`.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Cancel runs that block the change.")] = False,
) -> None:
    """Create or update pipelines from files. Applying the same file again changes nothing.

    Files in a `scripts` folder next to a definition are saved with it.

    Example: cairn apply pipeline.yaml
    """
    if (template is None) == (not files):
        raise CommandFailed(ExitCode.USAGE, "Name files to apply, or a --template.")
    if template is not None:
        from cairn.documents import encode_json

        made = await ctx.client.create_pipeline(encode_json({"template": template}), "application/json")
        answers = [_applied(ctx, made, "created")]
    else:
        answers = [await save(ctx, source, force=force) for source in collect(files or [])]
    if ctx.screen.as_json:
        ctx.screen.answer(answers)


async def save(ctx: CliContext, source: DefinitionSource, *, force: bool = False) -> Answer:
    """Create or change the pipeline of that name."""
    known = await _known(ctx, source)
    try:
        if known is None:
            return _applied(ctx, await ctx.client.create_pipeline(source.text, source.media_type), "created")
        saved = await ctx.client.replace_definition(known["pipeline_id"], source.text, source.media_type, force=force)
    except ProblemResponse as problem:
        raise _placed(source, problem) from None
    return _applied(ctx, saved, "changed" if saved["revision"] != known["revision"] else "unchanged")


async def _known(ctx: CliContext, source: DefinitionSource) -> Answer | None:
    if source.pipeline_name is None:
        return None
    listed = (await ctx.client.list_pipelines(search=source.pipeline_name))["items"]
    same = [found for found in listed if found["pipeline_name"] == source.pipeline_name]
    if len(same) > 1:
        told = (f"{found['pipeline_id']}  revision {found['revision']}" for found in same)
        raise CommandFailed(
            ExitCode.NOT_FOUND, f"Several pipelines are called {source.pipeline_name!r}: delete or rename one.", told
        )
    return same[0] if same else None


def _applied(ctx: CliContext, pipeline: Answer, done: str) -> Answer:
    if not ctx.screen.as_json:
        version = f"revision {pipeline['revision']}, definition version {pipeline['pipeline_definition_version']}"
        ctx.screen.line(f"{pipeline['pipeline_name']}: {done} ({version})", "green" if done != "unchanged" else None)
        for warning in pipeline["warnings"]:
            tell(f"warning: {warning['message']}")
    return {"applied": done, **pipeline}


def _placed(source: DefinitionSource, problem: ProblemResponse) -> CommandFailed:
    if not problem.errors:
        return CommandFailed(problem.code, f"{source.file}: {problem.message}", problem.more)
    return CommandFailed(problem.code, problem.message, map(source.placed, problem.errors))


@online()
async def diff(
    ctx: CliContext,
    what: Annotated[str, typer.Argument(metavar="FILE|PIPELINE", help="A definition file or a pipeline.")],
    before: Annotated[int | None, typer.Option("--from", min=1, help="Revision of the pipeline.")] = None,
    after: Annotated[int | None, typer.Option("--to", min=1, help="Revision. Default: the newest.")] = None,
) -> None:
    """Show what applying a file would change, or the difference between two revisions.

    Example: cairn diff pipeline.yaml
    """
    if before is None and after is None:
        found = await _compare(ctx, read(what))
    else:
        pipeline = await ctx.naming.pipeline(what)
        newest = pipeline["revision"]
        last = after or newest
        found = await ctx.client.diff_revisions(pipeline["pipeline_id"], before or max(1, last - 1), last)
    ctx.show(found, lambda told: show_diff(ctx.screen, told["text"]))


async def _compare(ctx: CliContext, source: DefinitionSource) -> Answer:
    known = await _known(ctx, source)
    if known is None:
        checked = await ctx.client.validate_definition(source.text, source.media_type)
        if not checked["valid"]:
            raise CommandFailed(ExitCode.REFUSED, f"{source.file} cannot work.", map(source.placed, checked["errors"]))
        raise UnknownReference("pipeline", source.pipeline_name or "", "Applying the file would make it.")
    try:
        return await ctx.client.compare_definition(known["pipeline_id"], source.text, source.media_type)
    except ProblemResponse as problem:
        raise _placed(source, problem) from None
