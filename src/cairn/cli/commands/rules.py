"""Rules for approvals as texts: checked, applied, shown, compared."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from cairn.cli.arguments import Limit, read_bytes
from cairn.cli.client import Answer
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, offline, online
from cairn.cli.definition_files import YAML, DefinitionSource
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import moment, tell
from cairn.cli.rendering import show_diff

rules_app = group("Manage approval rules.")
RulesFile = Annotated[str, typer.Argument(metavar="FILE", help="Rules in YAML. Use - for stdin.")]
OfPipeline = Annotated[
    str | None, typer.Option("--pipeline", help="Use the rules of this pipeline instead of the global ones.")
]
Version = Annotated[int | None, typer.Option("--version", min=1, help="Version to print.")]


@rules_app.command("list")
@online()
async def list_rules(
    ctx: CliContext, days: Annotated[int, typer.Option("--days", min=1, help="Number of days to count.")] = 90
) -> None:
    """List active rules, what they did, and how people judged them.

    Example: cairn rules
    """
    found = await ctx.client.get_autonomy(days=days)
    stop = await ctx.client.get_emergency_stop()
    ctx.show({**found, "emergency_stop": stop}, lambda _: _show_rules(ctx, found, stop))


def _show_rules(ctx: CliContext, found: Answer, stop: Answer) -> None:
    if stop["stopped"]:
        ctx.screen.line(f"Every automatic approval is stopped, by {stop['by']}: {stop['reason']}", "red")
    rows = [
        (
            one["rule"],
            one["pipeline_name"] or one["scope"],
            one["mode"] if one["mode"] != "rollout" else f"rollout {one['rollout_percentage']:g} %",
            one["approved"] or "",
            one["asked"] or "",
            share(one["disagreement"]),
            share(one["shadow"]),
            share(one["modification"]),
        )
        for one in found["rules"]
    ]
    heads = ("rule", "of", "mode", "approved", "asked", "people disagreed", "wrong in shadow", "corrected")
    ctx.screen.table(heads, rows, empty="There are no rules: checkpoints ask as their settings say.")


def share(of: Answer) -> str:
    """So many of so many, with what can be said of it."""
    if not of["of"]:
        return ""
    return f"{of['count']} of {of['of']} ({of['low']:.0%} to {of['high']:.0%})"


@rules_app.command("show")
@online()
async def show_rules(ctx: CliContext, pipeline: OfPipeline = None, version: Version = None) -> None:
    """Print the active rules as written, or an earlier version.

    Example: cairn rules show
    """
    scope = await _scope(ctx, pipeline)
    client = ctx.client
    if version is not None:
        shown = await (
            client.get_rule_version(version) if scope is None else client.get_pipeline_rule_version(scope, version)
        )
    else:
        shown = await (client.get_rules() if scope is None else client.get_pipeline_rules(scope))
    ctx.show(shown, lambda one: ctx.screen.raw(one["text"]))
    watched: Answer = shown.get("file") or {"path": "", "faults": []}
    for fault in watched["faults"]:
        tell(DefinitionSource(watched["path"], b"", YAML).placed(fault))


@rules_app.command("check")
@online("checks")
async def check_rules(ctx: CliContext, file: RulesFile) -> None:
    """Check rules without saving them. Errors name the file, line and column.

    Example: cairn rules check rules.yaml
    """
    source = read_rules(file)
    found = await ctx.client.check_rules(source.text)
    ctx.show({"file": file, **found}, lambda _: _show_check(ctx, source, found))
    if not found["valid"]:
        raise CommandFailed(ExitCode.REFUSED)


def _show_check(ctx: CliContext, source: DefinitionSource, found: Answer) -> None:
    for fault in found["errors"]:
        ctx.screen.line(source.placed(fault), "red")
    for warning in found["warnings"]:
        ctx.screen.line(source.placed({**warning, "message": f"warning: {warning['message']}"}), "yellow")
    if found["valid"]:
        ctx.screen.line(f"{source.file}: valid ({_count(found['rules'])})", "green")


@rules_app.command("apply")
@online("saves")
async def apply_rules(
    ctx: CliContext,
    file: RulesFile,
    pipeline: OfPipeline = None,
    comment: Annotated[str, typer.Option("--comment", "-m", help="Reason, stored with the version.")] = "",
) -> None:
    """Publish rules. Applying the same rules again changes nothing.

    Example: cairn rules apply rules.yaml -m "Small refunds by themselves"
    """
    source, scope = read_rules(file), await _scope(ctx, pipeline)
    try:
        if scope is None:
            saved = await ctx.client.put_rules(source.text, comment=comment)
        else:
            saved = await ctx.client.put_pipeline_rules(scope, source.text, comment=comment)
    except ProblemResponse as problem:
        if not problem.errors:
            raise
        raise CommandFailed(problem.code, problem.message, map(source.placed, problem.errors)) from None
    whose = pipeline or "global rules"
    ctx.show(
        saved, lambda one: ctx.screen.line(f"{whose}: revision {one['revision']} ({_count(one['rules'])})", "green")
    )
    for warning in saved["warnings"]:
        tell(source.placed({**warning, "message": f"warning: {warning['message']}"}))


@rules_app.command("remove")
@online("saves")
async def remove_rules(
    ctx: CliContext, pipeline: Annotated[str, typer.Option("--pipeline", help="Pipeline whose rules to remove.")]
) -> None:
    """Remove the rules of a pipeline. Their versions are kept.

    Example: cairn rules remove --pipeline "Sales report"
    """
    scope = (await ctx.naming.pipeline(pipeline))["pipeline_id"]
    gone = await ctx.client.delete_pipeline_rules(scope)
    ctx.show(gone, lambda one: ctx.screen.line(f"{pipeline}: no rules, revision {one['revision']}"))


@rules_app.command("versions")
@online()
async def list_versions(ctx: CliContext, pipeline: OfPipeline = None, limit: Limit = 50) -> None:
    """List all versions of the rules, with author, time and reason.

    Example: cairn rules versions
    """
    scope = await _scope(ctx, pipeline)
    if scope is None:
        found = await ctx.client.list_rule_versions(most=limit)
    else:
        found = await ctx.client.list_pipeline_rule_versions(scope, most=limit)
    rows = [(one["revision"], moment(one["created_at"]), one["author"], one["comment"]) for one in found["items"]]
    ctx.show(found, lambda _: ctx.screen.table(("revision", "saved", "by", "why"), rows, empty="None was saved."))


@rules_app.command("diff")
@online()
async def diff_versions(
    ctx: CliContext,
    before: Annotated[int, typer.Option("--from", min=1, help="First version.")],
    after: Annotated[int, typer.Option("--to", min=1, help="Second version.")],
    pipeline: OfPipeline = None,
) -> None:
    """Show the difference between two versions.

    Example: cairn rules diff --from 1 --to 2
    """
    scope = await _scope(ctx, pipeline)
    if scope is None:
        found = await ctx.client.diff_rule_versions(before, after)
    else:
        found = await ctx.client.diff_pipeline_rule_versions(scope, before, after)
    ctx.show(found, lambda one: show_diff(ctx.screen, one["text"]))


@rules_app.command("schema")
@offline
def rules_schema() -> None:
    """Print the JSON Schema of rules, for editors.

    Example: cairn rules schema > rules.schema.json
    """
    from cairn.definitions.rules import schema

    typer.echo(json.dumps(schema(), indent=2, ensure_ascii=False))


def read_rules(file: str) -> DefinitionSource:
    return DefinitionSource(file, read_bytes(file), YAML)


async def _scope(ctx: CliContext, pipeline: str | None) -> str | None:
    return None if pipeline is None else (await ctx.naming.pipeline(pipeline))["pipeline_id"]


def _count(rules: list[Answer]) -> str:
    return "1 rule" if len(rules) == 1 else f"{len(rules)} rules"
