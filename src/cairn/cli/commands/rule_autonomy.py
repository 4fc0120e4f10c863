"""How far rules may go by themselves: why they decided, what they would have done, samples, the emergency stop."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import Answer
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.commands.decisions import ApprovalName
from cairn.cli.commands.rules import OfPipeline, RulesFile, read_rules, rules_app, share
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import moment
from cairn.cli.references import short

OUTCOMES = {"asks": "yellow", "approves": "green"}


@rules_app.command("explain")
@online()
async def explain(ctx: CliContext, name: ApprovalName) -> None:
    """Explain which rule required or gave an approval, and why the others did not apply.

    Example: cairn rules explain "Refunds@v1/pay"
    """
    approval_id = (await ctx.naming.approval(name))["approval_id"]
    told = await ctx.client.explain_approval(approval_id)
    ctx.show(told, lambda one: _show_explanation(ctx, one))


def _show_explanation(ctx: CliContext, told: Answer) -> None:
    ctx.screen.line(told["reason"])
    for one in told["considered"]:
        whose = "" if one["scope"] == "global" else " (of the pipeline)"
        ctx.screen.line()
        ctx.screen.line(f"{one['rule']}{whose}: {one['outcome']}", OUTCOMES.get(one["outcome"]))
        for condition in one["conditions"]:
            mark = "holds" if condition["holds"] else "does not hold"
            ctx.screen.line(f"  {condition['field']} {condition['wanted']}: {condition['actual']}, {mark}")


@rules_app.command("backtest")
@online()
async def backtest(
    ctx: CliContext,
    file: RulesFile,
    pipeline: OfPipeline = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="Only approvals requested since this time, such as 2026-01-31T00:00:00Z."),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Maximum number of decisions.")] = None,
) -> None:
    """Replay rules over past decisions and compare them with what people decided.

    Example: cairn rules backtest rules.yaml
    """
    source = read_rules(file)
    scope = None if pipeline is None else (await ctx.naming.pipeline(pipeline))["pipeline_id"]
    try:
        found = await ctx.client.backtest_rules(source.text, pipeline_id=scope, since=since, limit=limit)
    except ProblemResponse as problem:
        if not problem.errors:
            raise
        raise CommandFailed(problem.code, problem.message, map(source.placed, problem.errors)) from None
    ctx.show(found, lambda one: _show_backtest(ctx, one))


def _show_backtest(ctx: CliContext, found: Answer) -> None:
    ctx.screen.facts(
        [
            ("decisions of people", found["decisions"]),
            ("between", f"{moment(found['since'])} and {moment(found['until'])}" if found["since"] else None),
            ("would have approved", found["would_approve"]),
            ("would have asked", found["would_ask"]),
            ("no rule", found["no_rule"]),
            ("people disagreed", share(found["false_approve"])),
        ]
    )
    if found["rules"]:
        ctx.screen.line()
        rows = [(one["rule"], one["approved"], share(one["false_approve"]), one["asked"]) for one in found["rules"]]
        ctx.screen.table(("rule", "approves", "people disagreed", "asks"), rows)
    if found["disagreements"]:
        ctx.screen.line()
        rows = [
            (short(one["approval_id"]), one["pipeline_name"], one["rule"], one["decision"], one["by"], one["feedback"])
            for one in found["disagreements"]
        ]
        ctx.screen.table(("approval", "pipeline", "rule", "people", "by", "words"), rows)


# ---- all at once ------------------------------------------------------------------------------------------
@rules_app.command("stop")
@online("saves")
async def stop(
    ctx: CliContext,
    reason: Annotated[str, typer.Option("--reason", "-m", help="Reason, recorded in the audit log.")] = "",
) -> None:
    """Stop all automatic approvals, so that people are asked instead. A new reason replaces the first.

    Example: cairn rules stop -m "Refunds look odd"
    """
    if not reason.strip():
        raise CommandFailed(ExitCode.USAGE, "Say why: --reason.")
    ctx.show(await ctx.client.set_emergency_stop(True, reason), lambda one: _show_stop(ctx, one))


@rules_app.command("lift-stop")
@online("saves")
async def lift_stop(
    ctx: CliContext,
    reason: Annotated[str, typer.Option("--reason", "-m", help="Reason, recorded in the audit log.")] = "",
) -> None:
    """Lift the emergency stop.

    Example: cairn rules lift-stop
    """
    ctx.show(await ctx.client.set_emergency_stop(False, reason), lambda one: _show_stop(ctx, one))


def _show_stop(ctx: CliContext, stop: Answer) -> None:
    if stop["stopped"]:
        ctx.screen.line(f"Every automatic approval is stopped, by {stop['by']}: {stop['reason']}", "red")
    else:
        ctx.screen.line("Automatic approvals go on.", "green")


@rules_app.command("stop-history")
@online()
async def stop_history(ctx: CliContext, limit: Limit = 50) -> None:
    """List every emergency stop and its end.

    Example: cairn rules stop-history
    """
    found = await ctx.client.list_emergency_stops(most=limit)
    rows = [
        (moment(one["at"]), "stopped" if one["stopped"] else "goes on", one["by"], one["reason"])
        for one in found["items"]
    ]
    ctx.show(found, lambda _: ctx.screen.table(("when", "", "by", "why"), rows, empty="Nothing was ever stopped."))


# ---- samples ----------------------------------------------------------------------------------------------
@rules_app.command("audits")
@online()
async def audits(
    ctx: CliContext,
    pipeline: OfPipeline = None,
    every: Annotated[bool, typer.Option("--all", help="Include reviewed approvals.")] = False,
    limit: Limit = 50,
) -> None:
    """List automatic approvals that await review.

    Example: cairn rules audits
    """
    scope = None if pipeline is None else (await ctx.naming.pipeline(pipeline))["pipeline_id"]
    found = await ctx.client.list_audits(reviewed=None if every else False, pipeline_id=scope, most=limit)
    rows = [
        (
            one["approval_id"],
            one["pipeline_name"],
            one["checkpoint_name"],
            one["operation_type"] or one["kind"],
            one["rule"],
            _said(one["review"]),
        )
        for one in found["items"]
    ]
    heads = ("id", "pipeline", "checkpoint", "approved", "rule", "people")
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="There is none to look at."))


@rules_app.command("review")
@online("saves")
async def review(
    ctx: CliContext,
    approval: Annotated[str, typer.Argument(metavar="APPROVAL", help="Id of the approval, from `rules audits`.")],
    agrees: Annotated[
        bool, typer.Option("--agree/--disagree", help="Whether the approval was right.", show_default=False)
    ],
    comment: Annotated[str, typer.Option("--comment", "-m", help="Feedback to send with the decision.")] = "",
) -> None:
    """Record whether an automatic approval was right. The run continues, and the rule's score changes.

    Example: cairn rules review 0b9f1c2a-5d3e-4f6a-8b7c-1d2e3f4a5b6c --agree
    """
    said = await ctx.client.review_audit(approval, agrees=agrees, comment=comment)
    ctx.show(said, lambda one: ctx.screen.line(f"{one['rule']}: {_said(one['review'])}"))


def _said(review: Answer | None) -> str:
    if review is None:
        return ""
    return f"{review['by']} {'agrees' if review['agrees'] else 'disagrees'}"
