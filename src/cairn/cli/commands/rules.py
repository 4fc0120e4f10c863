"""Commands for approval rules and their versions."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from cairn.cli.arguments import Limit, read_bytes
from cairn.cli.client import JsonObject
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, offline, online
from cairn.cli.definition_files import YAML, DefinitionSource
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time, print_status
from cairn.cli.rendering import show_diff

rules_app = group("Manage approval rules.")
RulesFile = Annotated[str, typer.Argument(metavar="FILE", help="Rules in YAML. Use - for stdin.")]
PipelineOption = Annotated[
    str | None, typer.Option("--pipeline", help="Use the rules of this pipeline instead of the global ones.")
]
VersionOption = Annotated[
    int | None, typer.Option("--version", min=1, help="Version to print. Default: the active one.")
]


@rules_app.command("list")
@online()
async def list_rules(
    ctx: CliContext, days: Annotated[int, typer.Option("--days", min=1, help="Number of days to include.")] = 90
) -> None:
    """List active rules with their results and reviews.

    Example: cairn rules
    """
    autonomy = await ctx.client.get_autonomy(days=days)
    stop = await ctx.client.get_emergency_stop()
    ctx.show({**autonomy, "emergency_stop": stop}, lambda _: _show_rules(ctx, autonomy, stop))


def _mode(rule: JsonObject) -> str:
    match rule["mode"]:
        case "rollout":
            return f"active, {rule['rollout_percentage']:g}%"
        case "full":
            return "active, 100%"
        case mode:
            return mode.replace("_", " ")


def _show_rules(ctx: CliContext, autonomy: JsonObject, stop: JsonObject) -> None:
    if stop["stopped"]:
        ctx.output.line(f"Emergency stop by {stop['by']}: {stop['reason']}", "red")
    rows = [
        (
            rule["rule"],
            rule["pipeline_name"] or rule["scope"],
            _mode(rule),
            rule["approved"] or "",
            rule["required_approval"] or "",
            proportion_text(rule["disagreement"]),
            proportion_text(rule["shadow"]),
            proportion_text(rule["modification"]),
        )
        for rule in autonomy["rules"]
    ]
    headings = ("rule", "scope", "mode", "approved", "required approval", "disagreed", "wrong in shadow", "corrected")
    ctx.output.table(headings, rows, empty="No rules. Each checkpoint's own settings apply.")


def proportion_text(proportion: JsonObject) -> str:
    """The count, the total and the confidence interval."""
    if not proportion["total"]:
        return ""
    return f"{proportion['count']} of {proportion['total']} ({proportion['low']:.0%} to {proportion['high']:.0%})"


@rules_app.command("show")
@online()
async def show_rules(ctx: CliContext, pipeline: PipelineOption = None, version: VersionOption = None) -> None:
    """Print the active rules as written, or an earlier version.

    Example: cairn rules show
    """
    pipeline_id = await pipeline_id_of(ctx, pipeline)
    client = ctx.client
    if version is not None:
        rules = await (
            client.get_rule_version(version)
            if pipeline_id is None
            else client.get_pipeline_rule_version(pipeline_id, version)
        )
    else:
        rules = await (client.get_rules() if pipeline_id is None else client.get_pipeline_rules(pipeline_id))
    ctx.show(rules, lambda rules: ctx.output.raw(rules["text"]))
    rules_file: JsonObject = rules.get("file") or {"path": "", "errors": []}
    for error in rules_file["errors"]:
        print_status(DefinitionSource(rules_file["path"], b"", YAML).located(error))


@rules_app.command("check")
@online("optional")
async def check_rules(ctx: CliContext, file: RulesFile) -> None:
    """Check rules without saving them. Errors name the file, line and column.

    Example: cairn rules check rules.yaml
    """
    source = read_rules(file)
    report = await ctx.client.check_rules(source.text)
    ctx.show({"file": file, **report}, lambda _: _show_check(ctx, source, report))
    if not report["is_valid"]:
        raise CommandFailed(ExitCode.FAILED)


def _show_check(ctx: CliContext, source: DefinitionSource, report: JsonObject) -> None:
    for error in report["errors"]:
        ctx.output.line(source.located(error), "red")
    for warning in report["warnings"]:
        ctx.output.line(source.located({**warning, "message": f"warning: {warning['message']}"}), "yellow")
    if report["is_valid"]:
        ctx.output.line(f"{source.file}: valid ({_rule_count(report['rules'])})", "green")


@rules_app.command("apply")
@online("write")
async def apply_rules(
    ctx: CliContext,
    file: RulesFile,
    pipeline: PipelineOption = None,
    comment: Annotated[str, typer.Option("--comment", "-m", help="Reason, stored with the version.")] = "",
) -> None:
    """Publish rules. Applying the same rules again changes nothing.

    Example: cairn rules apply rules.yaml -m "Approve small refunds automatically"
    """
    source, pipeline_id = read_rules(file), await pipeline_id_of(ctx, pipeline)
    try:
        if pipeline_id is None:
            saved = await ctx.client.put_rules(source.text, comment=comment)
        else:
            saved = await ctx.client.put_pipeline_rules(pipeline_id, source.text, comment=comment)
    except ProblemResponse as problem:
        if not problem.errors:
            raise
        raise CommandFailed(problem.code, problem.message, map(source.located, problem.errors)) from None
    owner = pipeline or "global rules"
    ctx.show(
        saved,
        lambda rules: ctx.output.line(f"{owner}: version {rules['revision']} ({_rule_count(rules['rules'])})", "green"),
    )
    for warning in saved["warnings"]:
        print_status(source.located({**warning, "message": f"warning: {warning['message']}"}))


@rules_app.command("delete")
@online("write")
async def delete_rules(
    ctx: CliContext, pipeline: Annotated[str, typer.Option("--pipeline", help="Pipeline whose rules to delete.")]
) -> None:
    """Delete the rules of a pipeline. Earlier versions remain available.

    Example: cairn rules delete --pipeline "Sales report"
    """
    pipeline_id = (await ctx.resolver.pipeline(pipeline))["pipeline_id"]
    deleted = await ctx.client.delete_pipeline_rules(pipeline_id)
    ctx.show(deleted, lambda deleted: ctx.output.line(f"{pipeline}: rules deleted, version {deleted['revision']}"))


@rules_app.command("versions")
@online()
async def list_versions(ctx: CliContext, pipeline: PipelineOption = None, limit: Limit = 50) -> None:
    """List all versions of the rules, newest first.

    Example: cairn rules versions
    """
    pipeline_id = await pipeline_id_of(ctx, pipeline)
    if pipeline_id is None:
        page = await ctx.client.list_rule_versions(limit=limit)
    else:
        page = await ctx.client.list_pipeline_rule_versions(pipeline_id, limit=limit)
    rows = [
        (version["revision"], local_time(version["created_at"]), version["created_by"], version["comment"])
        for version in page["items"]
    ]
    ctx.show(
        page,
        lambda _: ctx.output.table(("version", "created", "created by", "comment"), rows, empty="No versions found."),
    )


@rules_app.command("diff")
@online()
async def diff_versions(
    ctx: CliContext,
    from_version: Annotated[int, typer.Option("--from", min=1, help="First version.")],
    to_version: Annotated[int, typer.Option("--to", min=1, help="Second version.")],
    pipeline: PipelineOption = None,
) -> None:
    """Show the difference between two versions.

    Example: cairn rules diff --from 1 --to 2
    """
    pipeline_id = await pipeline_id_of(ctx, pipeline)
    if pipeline_id is None:
        diff = await ctx.client.diff_rule_versions(from_version, to_version)
    else:
        diff = await ctx.client.diff_pipeline_rule_versions(pipeline_id, from_version, to_version)
    ctx.show(diff, lambda diff: show_diff(ctx.output, diff["text"]))


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


async def pipeline_id_of(ctx: CliContext, pipeline: str | None) -> str | None:
    return None if pipeline is None else (await ctx.resolver.pipeline(pipeline))["pipeline_id"]


def _rule_count(rules: list[JsonObject]) -> str:
    return "1 rule" if len(rules) == 1 else f"{len(rules)} rules"
