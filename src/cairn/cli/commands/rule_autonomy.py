"""Commands that explain, backtest and review automatic approvals."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import JsonObject
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.commands.decisions import ApprovalName
from cairn.cli.commands.rules import PipelineOption, RulesFile, pipeline_id_of, proportion_text, read_rules, rules_app
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed
from cairn.cli.output import local_time
from cairn.cli.references import short

MATCH_TEXTS = {True: "matches", False: "does not match", None: "unknown"}
OUTCOME_STYLES = {"requires approval": "yellow", "approves": "green"}


@rules_app.command("explain")
@online()
async def explain(ctx: CliContext, name: ApprovalName) -> None:
    """Explain an approval rule by rule. Shows why it was required or given automatically.

    For an execution or a run without a pending approval, explains the newest one.

    Example: cairn rules explain "Refunds@v1/pay"
    """
    approval_id = (await ctx.resolver.latest_approval(name))["approval_id"]
    explanation = await ctx.client.explain_approval(approval_id)
    ctx.show(explanation, lambda explanation: _show_explanation(ctx, explanation))


def _show_explanation(ctx: CliContext, explanation: JsonObject) -> None:
    ctx.output.line(explanation["reason"])
    for rule in explanation["evaluated_rules"]:
        scope = "" if rule["scope"] == "global" else " (pipeline rule)"
        ctx.output.line()
        ctx.output.line(f"{rule['rule']}{scope}: {rule['outcome']}", OUTCOME_STYLES.get(rule["outcome"]))
        for condition in rule["conditions"]:
            result = MATCH_TEXTS[condition["matched"]]
            ctx.output.line(f"  {condition['field']} {condition['expected']}: {condition['actual']}, {result}")


@rules_app.command("backtest")
@online()
async def backtest(
    ctx: CliContext,
    file: RulesFile,
    pipeline: PipelineOption = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="Only approvals requested since this time, such as 2026-01-31T00:00:00Z."),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Maximum number of decisions.")] = None,
) -> None:
    """Replay rules over past decisions. Compares the results with what people decided.

    Example: cairn rules backtest rules.yaml
    """
    source = read_rules(file)
    pipeline_id = await pipeline_id_of(ctx, pipeline)
    try:
        backtest = await ctx.client.backtest_rules(source.text, pipeline_id=pipeline_id, since=since, limit=limit)
    except ProblemResponse as problem:
        if not problem.errors:
            raise
        raise CommandFailed(problem.code, problem.message, map(source.located, problem.errors)) from None
    ctx.show(backtest, lambda backtest: _show_backtest(ctx, backtest))


def _show_backtest(ctx: CliContext, backtest: JsonObject) -> None:
    ctx.output.fields(
        [
            ("decisions", backtest["decisions"]),
            (
                "period",
                f"{local_time(backtest['since'])} to {local_time(backtest['until'])}" if backtest["since"] else None,
            ),
            ("would approve", backtest["would_approve"]),
            ("would require approval", backtest["would_require_approval"]),
            ("no rule applies", backtest["no_rule"]),
            ("false approvals", proportion_text(backtest["false_approval_rate"])),
        ]
    )
    if backtest["rules"]:
        ctx.output.line()
        rows = [
            (item["rule"], item["approved"], proportion_text(item["false_approval_rate"]), item["required_approval"])
            for item in backtest["rules"]
        ]
        ctx.output.table(("rule", "would approve", "false approvals", "would require approval"), rows)
    if backtest["disagreements"]:
        ctx.output.line()
        rows = [
            (
                short(item["approval_id"]),
                item["pipeline_name"],
                item["rule"],
                item["decision"],
                item["by"],
                item["feedback"],
            )
            for item in backtest["disagreements"]
        ]
        ctx.output.table(("approval", "pipeline", "rule", "decision", "user", "feedback"), rows)


# ---- audits -----------------------------------------------------------------------------------------------
@rules_app.command("audits")
@online()
async def audits(
    ctx: CliContext,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    include_reviewed: Annotated[bool, typer.Option("--all", help="Include reviewed approvals.")] = False,
    limit: Limit = 50,
) -> None:
    """List automatic approvals that await review.

    Example: cairn rules audits
    """
    pipeline_id = await pipeline_id_of(ctx, pipeline)
    page = await ctx.client.list_audits(
        reviewed=None if include_reviewed else False, pipeline_id=pipeline_id, limit=limit
    )
    rows = [
        (
            audit["approval_id"],
            audit["pipeline_name"],
            audit["checkpoint_name"],
            audit["operation_type"] or audit["kind"],
            audit["rule"],
            _review_text(audit["review"]),
        )
        for audit in page["items"]
    ]
    headings = ("id", "pipeline", "checkpoint", "approved", "rule", "review")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No approvals to review."))


@rules_app.command("review")
@online("write")
async def review(
    ctx: CliContext,
    approval: Annotated[str, typer.Argument(metavar="APPROVAL", help="Id of the approval, from `rules audits`.")],
    agrees: Annotated[
        bool, typer.Option("--agree/--disagree", help="Whether the approval was right.", show_default=False)
    ],
    comment: Annotated[str, typer.Option("--comment", "-m", help="Comment, stored with the review.")] = "",
) -> None:
    """Record whether an automatic approval was right. Affects the rule's score, not the run.

    Example: cairn rules review 0b9f1c2a-5d3e-4f6a-8b7c-1d2e3f4a5b6c --agree
    """
    reviewed = await ctx.client.review_audit(approval, agrees=agrees, comment=comment)
    ctx.show(reviewed, lambda audit: ctx.output.line(f"{audit['rule']}: {_review_text(audit['review'])}"))


def _review_text(review: JsonObject | None) -> str:
    if review is None:
        return ""
    return f"{review['by']} {'agrees' if review['agrees'] else 'disagrees'}"
