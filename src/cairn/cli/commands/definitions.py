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
async def validate(desk: CliContext, files: Files) -> None:
    """Check definitions without saving them. Errors name the file, line and column.

    Example: cairn validate pipeline.yaml
    """
    answers: list[Answer] = []
    for source in collect(files):
        found = await desk.client.validate_definition(source.text, source.media_type)
        answers.append({"file": source.file, **found})
        if not desk.screen.as_json:
            _tell_findings(desk, source, found)
    if desk.screen.as_json:
        desk.screen.answer(answers)
    if not all(answer["valid"] for answer in answers):
        raise CommandFailed(ExitCode.REFUSED)


def _tell_findings(desk: CliContext, source: DefinitionSource, found: Answer) -> None:
    for fault in found["errors"]:
        desk.screen.line(source.placed(fault), "red")
    for warning in found["warnings"]:
        desk.screen.line(source.placed({**warning, "message": f"warning: {warning['message']}"}), "yellow")
    if found["valid"]:
        desk.screen.line(f"{source.file}: valid", "green")


@online("saves")
async def apply(
    desk: CliContext,
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

        made = await desk.client.create_pipeline(encode_json({"template": template}), "application/json")
        answers = [_applied(desk, made, "created")]
    else:
        answers = [await save(desk, source, force=force) for source in collect(files or [])]
    if desk.screen.as_json:
        desk.screen.answer(answers)


async def save(desk: CliContext, source: DefinitionSource, *, force: bool = False) -> Answer:
    """Create or change the pipeline of that name."""
    known = await _known(desk, source)
    try:
        if known is None:
            return _applied(desk, await desk.client.create_pipeline(source.text, source.media_type), "created")
        saved = await desk.client.replace_definition(known["pipeline_id"], source.text, source.media_type, force=force)
    except ProblemResponse as problem:
        raise _placed(source, problem) from None
    return _applied(desk, saved, "changed" if saved["revision"] != known["revision"] else "unchanged")


async def _known(desk: CliContext, source: DefinitionSource) -> Answer | None:
    if source.pipeline_name is None:
        return None
    listed = (await desk.client.list_pipelines(search=source.pipeline_name))["items"]
    same = [found for found in listed if found["pipeline_name"] == source.pipeline_name]
    if len(same) > 1:
        told = (f"{found['pipeline_id']}  revision {found['revision']}" for found in same)
        raise CommandFailed(
            ExitCode.NOT_FOUND, f"Several pipelines are called {source.pipeline_name!r}: delete or rename one.", told
        )
    return same[0] if same else None


def _applied(desk: CliContext, pipeline: Answer, done: str) -> Answer:
    if not desk.screen.as_json:
        version = f"revision {pipeline['revision']}, definition version {pipeline['pipeline_definition_version']}"
        desk.screen.line(f"{pipeline['pipeline_name']}: {done} ({version})", "green" if done != "unchanged" else None)
        for warning in pipeline["warnings"]:
            tell(f"warning: {warning['message']}")
    return {"applied": done, **pipeline}


def _placed(source: DefinitionSource, problem: ProblemResponse) -> CommandFailed:
    if not problem.errors:
        return CommandFailed(problem.code, f"{source.file}: {problem.message}", problem.more)
    return CommandFailed(problem.code, problem.message, map(source.placed, problem.errors))


@online()
async def diff(
    desk: CliContext,
    what: Annotated[str, typer.Argument(metavar="FILE|PIPELINE", help="A definition file or a pipeline.")],
    before: Annotated[int | None, typer.Option("--from", min=1, help="Revision of the pipeline.")] = None,
    after: Annotated[int | None, typer.Option("--to", min=1, help="Revision. Default: the newest.")] = None,
) -> None:
    """Show what applying a file would change, or the difference between two revisions.

    Example: cairn diff pipeline.yaml
    """
    if before is None and after is None:
        found = await _compare(desk, read(what))
    else:
        pipeline = await desk.naming.pipeline(what)
        newest = pipeline["revision"]
        last = after or newest
        found = await desk.client.diff_revisions(pipeline["pipeline_id"], before or max(1, last - 1), last)
    desk.show(found, lambda told: show_diff(desk.screen, told["text"]))


async def _compare(desk: CliContext, source: DefinitionSource) -> Answer:
    known = await _known(desk, source)
    if known is None:
        checked = await desk.client.validate_definition(source.text, source.media_type)
        if not checked["valid"]:
            raise CommandFailed(ExitCode.REFUSED, f"{source.file} cannot work.", map(source.placed, checked["errors"]))
        raise UnknownReference("pipeline", source.pipeline_name or "", "Applying the file would make it.")
    try:
        return await desk.client.compare_definition(known["pipeline_id"], source.text, source.media_type)
    except ProblemResponse as problem:
        raise _placed(source, problem) from None
