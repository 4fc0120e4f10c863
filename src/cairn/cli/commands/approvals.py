"""Approvals: the queue, one with all that it is about, and what is done with it besides deciding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from cairn.cli.arguments import Limit, as_object, read_json
from cairn.cli.client import Answer
from cairn.cli.command_groups import group
from cairn.cli.commands.decisions import ApprovalName
from cairn.cli.commands.run_control import execution_told
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import moment
from cairn.cli.references import short, version
from cairn.cli.rendering import as_text, show_artifacts, show_form

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
    wanted = ApprovalListOptions(status or (), kind or (), mine, sort)
    await list_waiting(ctx, wanted, pipeline, run, limit)


@dataclass(frozen=True)
class ApprovalListOptions:
    """Which approvals, in which order."""

    status: Sequence[str] = ()
    kind: Sequence[str] = ()
    mine: bool = False
    sort: str = "age"


async def list_waiting(
    ctx: CliContext, wanted: ApprovalListOptions, pipeline: str | None, run: str | None, limit: int
) -> None:
    found = await ctx.client.list_approvals(
        status=wanted.status,
        kind=wanted.kind,
        mine=wanted.mine,
        sort=wanted.sort,
        pipeline_id=(await ctx.naming.pipeline(pipeline))["pipeline_id"] if pipeline else None,
        run_id=await ctx.naming.run(run) if run else None,
        most=limit,
    )
    rows = [
        (
            short(one["approval_id"]),
            one["kind"],
            one["title"],
            one["risk_level"] or "",
            one["status"],
            f"{one['pipeline_name']} {version(one)}",
            moment(one["requested_at"]),
            moment(one["expires_at"]),
        )
        for one in found["items"]
    ]
    heads = ("id", "kind", "asks", "risk", "status", "run", "asked", "until")
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="Nothing waits."))


@approvals_app.command("show")
@online()
async def show_approval(ctx: CliContext, name: ApprovalName) -> None:
    """Show an approval with everything needed to decide it.

    Example: cairn approvals show "Release notes@v1/notes"
    """
    ctx.show(await ctx.naming.approval(name), lambda found: _show(ctx, found))


def _show(ctx: CliContext, approval: Answer) -> None:
    ctx.screen.facts(
        [
            ("approval", approval["approval_id"]),
            ("asks", approval["title"]),
            ("kind", f"{approval['kind']} of {approval['checkpoint_name']}"),
            ("run", f"{approval['pipeline_name']} {version(approval)}"),
            ("status", approval["status"]),
            ("asked", moment(approval["requested_at"])),
            ("expires", moment(approval["expires_at"])),
            ("then", _then(approval)),
            ("reason", approval["reason"]),
            ("given", f"{approval['received_approvals']} of {approval['required_approvals']}"),
            ("put to", ", ".join(approval["assigned_to"])),
            ("warning", approval["warning"]),
            ("rule", approval["rule"]),
            ("digest", approval["digest"]),
            ("possible", ", ".join(approval["available_decisions"])),
        ]
    )
    for vote in approval["decisions"]:
        ctx.screen.line(f"{moment(vote['at'])}  {vote['by']}: {vote['decision']} {vote['feedback']}".rstrip())
    for comment in approval["comments"]:
        ctx.screen.line(f"{moment(comment['at'])}  {comment['by']} says: {comment['text']}")
    if approval["action"]:
        ctx.screen.line()
        _show_action(ctx, approval["action"])
    if approval["artifacts"]:
        ctx.screen.line()
        show_artifacts(ctx.screen, approval["artifacts"])
    if approval["form"] and approval["kind"] == "input":
        ctx.screen.line()
        show_form(ctx.screen, approval["form"])


def _then(approval: Answer) -> str:
    """What happens when nobody decides in time."""
    return {
        "fail": "it fails",
        "cancel": "the run is cancelled",
        "escalate": f"{', '.join(approval['escalate_to']) or 'others'} may decide as well",
    }.get(approval["on_timeout"] or "", "")


def _show_action(ctx: CliContext, action: Answer) -> None:
    sure = action["confidence"]
    ctx.screen.facts(
        [
            ("action", action["operation_type"]),
            ("risk", action["risk_level"]),
            ("because", " ".join(action["risk_reasons"])),
            ("confidence", f"{sure:.0%}" if sure is not None else ""),
            ("reasoning", action["reasoning"]),
            ("outcome", action["outcome"]),
        ]
    )
    for name, value in action["current_parameters"].items():
        ctx.screen.line(f"  {name}: {as_text(value)}")


@approvals_app.command("assign")
@online("works")
async def assign(
    ctx: CliContext,
    name: ApprovalName,
    to: Annotated[list[str], typer.Argument(help="Users, email addresses, roles or groups.")],
    reason: Annotated[str, typer.Option("--reason", "-m", help="Reason.")] = "",
) -> None:
    """Assign an approval to other people.

    Example: cairn approvals assign "Refund@v1/refund" finance --reason "They know the account"
    """
    approval = await ctx.naming.approval(name)
    handed = await ctx.client.assign_approval(approval["approval_id"], to, reason=reason)
    ctx.show(handed, lambda found: ctx.screen.line(f"It is put to {', '.join(found['assigned_to'])} now."))


@approvals_app.command("comment")
@online("works")
async def comment(
    ctx: CliContext, name: ApprovalName, text: Annotated[str, typer.Argument(help="Text of the comment.")]
) -> None:
    """Add a comment to an approval without deciding it.

    Example: cairn approvals comment "Refund@v1/refund" "Verified with the policy"
    """
    approval = await ctx.naming.approval(name)
    said = await ctx.client.add_comment(approval["approval_id"], text)
    ctx.show(said, lambda found: ctx.screen.line(f"{len(found['comments'])} comments."))


@approvals_app.command("batch")
@online("works")
async def batch(
    ctx: CliContext,
    decision: Annotated[str, typer.Argument(help="approve, revise or reject.")],
    names: Annotated[list[str], typer.Argument(metavar="APPROVAL…", help="Approvals by id or unique prefix.")],
    words: Annotated[
        str, typer.Option("--feedback", "--reason", "-m", help="Feedback to send with the decision.")
    ] = "",
) -> None:
    """Decide several approvals the same way. Each one succeeds or fails on its own.

    Example: cairn approvals batch approve 3f2a 9c41
    """
    asked = [await ctx.naming.approval(name) for name in names]
    items = [{"approval_id": one["approval_id"], "digest": one["digest"]} for one in asked]
    done = await ctx.client.decide_batch(items, decision, words=words)

    def tell(found: Answer) -> None:
        ctx.screen.line(f"{found['decided']} decided, {found['failed']} failed.")
        for one in found["items"]:
            if one["error"]:
                ctx.screen.line(f"{short(one['approval_id'])}: {one['error']}")

    ctx.show(done, tell)
    if done["failed"]:
        raise CommandFailed(ExitCode.REFUSED, "Not all of them could be decided.")


@approvals_app.command("corrections")
@online()
async def corrections(
    ctx: CliContext,
    operation: Annotated[str | None, typer.Option("--operation", help="Filter by operation type.")] = None,
    limit: Limit = 50,
) -> None:
    """List corrections that people made before approving, and how often they make them.

    Example: cairn approvals corrections --operation send_email
    """
    rates = await ctx.client.get_modification_rates()
    found = await ctx.client.list_learning_cases(operation_type=operation, most=limit)

    def tell(_: Answer) -> None:
        for rate in rates["items"]:
            ctx.screen.line(f"{rate['operation_type']}: {rate['modified']} of {rate['approved']} were corrected")
        rows = [
            (moment(one["at"]), one["operation_type"], one["by"], ", ".join(c["field"] for c in one["changes"]))
            for one in found["items"]
        ]
        ctx.screen.table(("when", "operation", "by", "fields"), rows, empty="Nothing was corrected.")

    ctx.show({**found, "rates": rates["items"]}, tell)


@approvals_app.command("decide")
@online("works")
async def decide(
    ctx: CliContext,
    name: ApprovalName,
    decision: Annotated[str, typer.Argument(help="One of the decisions listed by `approvals show`.")],
    words: Annotated[
        str, typer.Option("--feedback", "--reason", "-m", help="Feedback to send with the decision.")
    ] = "",
    data: Annotated[str | None, typer.Option("--answers", help="Answers as a JSON object, or @file.")] = None,
) -> None:
    """Make any available decision: accept, feedback, decline, restart, fail…

    Example: cairn approvals decide "Release notes@v1/notes" approve
    """
    approval = await ctx.naming.approval(name)
    if approval["available_decisions"] and decision not in approval["available_decisions"]:
        raise CommandFailed(
            ExitCode.REFUSED, f"{decision!r} is not possible here: {', '.join(approval['available_decisions'])} are."
        )
    fields = None if data is None else as_object(read_json(data, "--answers"), "--answers")
    await ctx.client.decide_approval(
        approval["approval_id"], decision, digest=approval["digest"], words=words, fields=fields
    )
    await execution_told(ctx, approval["execution_id"])
