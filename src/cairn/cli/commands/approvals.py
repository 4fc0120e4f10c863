"""Commands for approvals: list, show, assign, comment and decide several at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from cairn.cli.arguments import Limit, as_object, read_json
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.commands.actions import print_request
from cairn.cli.commands.decisions import ApprovalName
from cairn.cli.commands.run_control import show_execution_result
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time
from cairn.cli.references import short, version
from cairn.cli.rendering import show_artifacts, show_form

approvals_app = group("Manage approvals.")


@approvals_app.command("list")
@online()
async def list_approvals(
    ctx: CliContext,
    status: Annotated[list[str] | None, typer.Option("--status", help="Filter by status. Default: pending.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Filter by kind: start, completion, input…")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Filter by run.")] = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only approvals you can decide.")] = False,
    sort: Annotated[str, typer.Option("--sort", help="Sort by age, deadline, risk or priority.")] = "age",
    limit: Limit = 50,
) -> None:
    """List pending approvals, oldest first.

    Example: cairn approvals list --mine --sort deadline
    """
    options = ApprovalListOptions(status or (), kind or (), mine, sort)
    await print_approvals(ctx, options, pipeline, run, limit)


@dataclass(frozen=True)
class ApprovalListOptions:
    """Filters and sort order of the list of approvals."""

    status: Sequence[str] = ()
    kind: Sequence[str] = ()
    mine: bool = False
    sort: str = "age"


async def print_approvals(
    ctx: CliContext, options: ApprovalListOptions, pipeline: str | None, run: str | None, limit: int
) -> None:
    page = await ctx.client.list_approvals(
        status=options.status,
        kind=options.kind,
        mine=options.mine,
        sort=options.sort,
        pipeline_id=(await ctx.resolver.pipeline(pipeline))["pipeline_id"] if pipeline else None,
        run_id=await ctx.resolver.run(run) if run else None,
        limit=limit,
    )
    rows = [
        (
            short(approval["approval_id"]),
            approval["kind"],
            approval["title"],
            approval["risk_level"] or "",
            approval["status"],
            f"{approval['pipeline_name']} {version(approval)}",
            local_time(approval["requested_at"]),
            local_time(approval["expires_at"]),
        )
        for approval in page["items"]
    ]
    headings = ("id", "kind", "title", "risk", "status", "run", "requested", "deadline")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No approvals found."))


@approvals_app.command("show")
@online()
async def show_approval(ctx: CliContext, name: ApprovalName) -> None:
    """Show an approval with everything you need to decide it.

    Example: cairn approvals show "Release notes@v1/notes"
    """
    ctx.show(await ctx.resolver.approval(name), lambda approval: _show(ctx, approval))


def _show(ctx: CliContext, approval: JsonObject) -> None:
    ctx.output.fields(
        [
            ("approval", approval["approval_id"]),
            ("title", approval["title"]),
            ("kind", f"{approval['kind']} of {approval['checkpoint_name']}"),
            ("run", f"{approval['pipeline_name']} {version(approval)}"),
            ("status", approval["status"]),
            ("requested", local_time(approval["requested_at"])),
            ("deadline", local_time(approval["expires_at"])),
            ("on timeout", _timeout_effect(approval)),
            ("reason", "" if approval["action"] else approval["reason"]),  # an action lists its risk reasons
            ("approvals", f"{approval['received_approvals']} of {approval['required_approvals']}"),
            ("assigned to", ", ".join(approval["assigned_to"])),
            ("warning", approval["warning"]),
            ("rule", approval["rule"]),
            ("digest", approval["digest"]),
            ("decisions", ", ".join(approval["available_decisions"])),
        ]
    )
    for vote in approval["decisions"]:
        ctx.output.line(f"{local_time(vote['at'])}  {vote['by']}: {vote['decision']} {vote['feedback']}".rstrip())
    for comment in approval["comments"]:
        ctx.output.line(f"{local_time(comment['at'])}  {comment['by']} commented: {comment['text']}")
    if approval["action"]:
        ctx.output.line()
        _show_action(ctx, approval["action"])
    if approval["artifacts"]:
        ctx.output.line()
        show_artifacts(ctx.output, approval["artifacts"])
    if approval["form"] and approval["kind"] == "input":
        ctx.output.line()
        show_form(ctx.output, approval["form"])


def _timeout_effect(approval: JsonObject) -> str:
    return {
        "fail": "the execution fails",
        "cancel": "the run is cancelled",
        "escalate": f"{', '.join(approval['escalate_to']) or 'other users'} can decide too",
    }.get(approval["on_timeout"] or "", "")


def _show_action(ctx: CliContext, action: JsonObject) -> None:
    confidence = action["confidence"]
    ctx.output.fields(
        [
            ("action", action["operation_type"]),
            ("risk", action["risk_level"]),
            ("risk reasons", " ".join(action["risk_reasons"])),
            ("confidence", f"{confidence:.0%}" if confidence is not None else ""),
            ("reasoning", action["reasoning"]),
            ("state", action["state"]),
            ("untrusted", "it read content from outside" if action["untrusted"] else ""),
        ]
    )
    print_request(ctx.output, action)


@approvals_app.command("assign")
@online("work")
async def assign(
    ctx: CliContext,
    name: ApprovalName,
    assigned_to: Annotated[list[str], typer.Argument(metavar="USER…", help="Users, email addresses, roles or groups.")],
    reason: Annotated[str, typer.Option("--reason", "-m", help="Reason.")] = "",
) -> None:
    """Assign an approval to other people.

    Example: cairn approvals assign "Refund@v1/refund" finance --reason "They know the account"
    """
    approval = await ctx.resolver.approval(name)
    assigned = await ctx.client.assign_approval(approval["approval_id"], assigned_to, reason=reason)
    ctx.show(assigned, lambda approval: ctx.output.line(f"Assigned to {', '.join(approval['assigned_to'])}."))


@approvals_app.command("comment")
@online("work")
async def comment(
    ctx: CliContext,
    name: ApprovalName,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text of the comment.")],
) -> None:
    """Add a comment to an approval without deciding it.

    Example: cairn approvals comment "Refund@v1/refund" "Verified with the policy"
    """
    approval = await ctx.resolver.approval(name)
    commented = await ctx.client.add_comment(approval["approval_id"], text)
    ctx.show(commented, lambda approval: ctx.output.line(f"Comment added ({len(approval['comments'])} in total)."))


@approvals_app.command("batch")
@online("work")
async def batch(
    ctx: CliContext,
    decision: Annotated[str, typer.Argument(metavar="DECISION", help="approve, revise or reject.")],
    names: Annotated[list[str], typer.Argument(metavar="APPROVAL…", help="Approvals by id or unique prefix.")],
    feedback: Annotated[
        str, typer.Option("--feedback", "--reason", "-m", help="Feedback to send with the decision.")
    ] = "",
    use_earlier: Annotated[
        bool, typer.Option("--use-earlier", help="Use the earlier results of actions that repeat earlier ones.")
    ] = False,
) -> None:
    """Decide several approvals the same way. Each one succeeds or fails on its own.

    Example: cairn approvals batch approve 3f2a 9c41
    """
    approvals = [await ctx.resolver.approval(name) for name in names]
    items = [{"approval_id": approval["approval_id"], "digest": approval["digest"]} for approval in approvals]
    result = await ctx.client.decide_batch(
        items, decision, feedback=feedback, on_repeat="use_earlier" if use_earlier else None
    )

    def print_text(result: JsonObject) -> None:
        ctx.output.line(f"{result['decided']} decided, {result['failed']} failed.")
        for approval in result["items"]:
            if approval["error_message"]:
                ctx.output.line(f"{short(approval['approval_id'])}: {approval['error_message']}")

    ctx.show(result, print_text)
    if result["failed"]:
        raise CommandFailed(ExitCode.FAILED, "Some approvals were not decided.")


@approvals_app.command("corrections")
@online()
async def corrections(
    ctx: CliContext,
    operation: Annotated[str | None, typer.Option("--operation", help="Filter by operation type.")] = None,
    limit: Limit = 50,
) -> None:
    """List corrections that people made before approving. Includes how often they make them.

    Example: cairn approvals corrections --operation send_email
    """
    rates = await ctx.client.get_modification_rates()
    page = await ctx.client.list_corrections(operation_type=operation, limit=limit)

    def print_text(_: JsonObject) -> None:
        for rate in rates["items"]:
            ctx.output.line(f"{rate['operation_type']}: {rate['modified']} of {rate['approved']} corrected")
        rows = [
            (
                local_time(correction["at"]),
                correction["operation_type"],
                correction["by"],
                ", ".join(change["field"] for change in correction["changes"]),
            )
            for correction in page["items"]
        ]
        ctx.output.table(("time", "operation", "user", "fields"), rows, empty="No corrections found.")

    ctx.show({**page, "rates": rates["items"]}, print_text)


@approvals_app.command("decide")
@online("work")
async def decide(
    ctx: CliContext,
    name: ApprovalName,
    decision: Annotated[str, typer.Argument(metavar="DECISION", help="A decision listed by `approvals show`.")],
    feedback: Annotated[
        str, typer.Option("--feedback", "--reason", "-m", help="Feedback to send with the decision.")
    ] = "",
    answers: Annotated[str | None, typer.Option("--answers", help="Answers as a JSON object, or @file.")] = None,
) -> None:
    """Make any available decision. `cairn approvals show` lists the decisions.

    Example: cairn approvals decide "Release notes@v1/notes" approve
    """
    approval = await ctx.resolver.approval(name)
    if approval["available_decisions"] and decision not in approval["available_decisions"]:
        available = ", ".join(approval["available_decisions"])
        raise CommandFailed(ExitCode.FAILED, f"Decision {decision!r} is not available. Use one of: {available}.")
    fields = None if answers is None else as_object(read_json(answers, "--answers"), "--answers")
    await ctx.client.decide_approval(
        approval["approval_id"], decision, digest=approval["digest"], feedback=feedback, fields=fields
    )
    await show_execution_result(ctx, approval["execution_id"])
