"""Commands for actions: list, show, settle, revoke, release."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import JsonObject
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.command_groups import group
from cairn.cli.completion import actions as complete
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import Output, local_time
from cairn.cli.references import short
from cairn.cli.rendering import as_text

actions_app = group("Manage actions that leave Cairn.")
ActionName = Annotated[
    str, typer.Argument(metavar="ACTION", help="An action: id, or start of its id.", autocompletion=complete)
]
STYLES = {"done": "green", "failed": "red", "unknown": "red", "waiting": "yellow", "approved": "cyan"}


@actions_app.command("list")
@online()
async def list_actions(
    ctx: CliContext,
    state: Annotated[
        list[str] | None, typer.Option("--state", help="Filter by state: waiting, approved, done, unknown…")
    ] = None,
    operation: Annotated[str | None, typer.Option("--operation", help="Filter by operation type.")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Filter by pipeline.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Filter by run.")] = None,
    unsettled: Annotated[bool, typer.Option("--unsettled", help="Only unknown outcomes to settle.")] = False,
    executed: Annotated[
        bool, typer.Option("--executed", help="What the run and the runs it retries have executed. Needs --run.")
    ] = False,
    limit: Limit = 50,
) -> None:
    """List actions, newest first.

    Example: cairn actions list --unsettled
    """
    run_id = await ctx.resolver.run(run) if run else None
    if executed:
        if run_id is None:
            raise CommandFailed(ExitCode.USAGE, "--executed needs a run. Add --run.")
        page = await ctx.client.list_executed_actions(run_id, limit=limit)
    else:
        page = await ctx.client.list_actions(
            state=state or (),
            operation_type=operation,
            run_id=run_id,
            pipeline_id=(await ctx.resolver.pipeline(pipeline))["pipeline_id"] if pipeline else None,
            unsettled=unsettled,
            limit=limit,
        )
    ctx.show(page, lambda page: print_actions(ctx.output, page["items"]))


def print_actions(output: Output, actions: list[JsonObject]) -> None:
    rows = [
        (
            short(action["action_id"]),
            action["summary"],
            action["risk_level"],
            action["state"],
            action["approved_by"],
            local_time(action["proposed_at"]),
            local_time(action["started_at"]),
        )
        for action in actions
    ]
    headings = ("id", "action", "risk", "state", "approved by", "proposed", "started")
    output.table(headings, rows, empty="No actions found.")


@actions_app.command("show")
@online()
async def show_action(ctx: CliContext, name: ActionName) -> None:
    """Show an action with its exact request, its votes and its outcome.

    Example: cairn actions show 3f2a
    """
    ctx.show(await ctx.resolver.action(name), lambda action: _show(ctx.output, action))


def _show(output: Output, action: JsonObject) -> None:
    output.fields(
        [
            ("id", action["action_id"]),
            ("action", action["summary"]),
            ("state", action["state"]),
            ("reason", action["state_reason"]),
            ("operation", action["operation_type"]),
            ("effect", action["effect"]),
            ("risk", action["risk_level"]),
            ("run", action["run_id"]),
            ("approved by", action["approved_by"]),
            ("approved until", local_time(action["approved_until"]) if action["state"] == "approved" else None),
            ("proposed", local_time(action["proposed_at"])),
            ("started", local_time(action["started_at"])),
            ("ended", local_time(action["ended_at"])),
            ("reported by", action["reported_by"]),
            ("reused from", action["reused_from"]),
            ("digest", action["digest"]),
            ("commands", ", ".join(action["available_commands"])),
        ]
    )
    print_request(output, action)
    for vote in action["votes"]:
        output.line(f"{local_time(vote['at'])}  {vote['by']}: {vote['choice']} {vote['on_repeat'] or ''}".rstrip())
    if action["result"] is not None:
        output.line(f"result: {as_text(action['result'])}")


def print_request(output: Output, action: JsonObject) -> None:
    """Print exactly what is sent, and the earlier actions that it repeats."""
    for name, value in (action["request"] or action["current_parameters"]).items():
        output.line(f"  {name}: {as_text(value)}")
    for earlier in action["repeats"]:
        line = f"repeats {short(earlier['action_id'])}, {earlier['state']}: {earlier['summary']}"
        output.line(line, "yellow")


@actions_app.command("settle")
@online("work")
async def settle(
    ctx: CliContext,
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="happened, did-not-happen, send-again or give-up.")],
    names: Annotated[
        list[str],
        typer.Argument(metavar="ACTION…", help="Actions by id or start of the id.", autocompletion=complete),
    ],
    feedback: Annotated[str, typer.Option("--feedback", "-m", help="What you found out.")] = "",
) -> None:
    """Settle actions whose outcomes are unknown. Each one succeeds or fails on its own.

    Example: cairn actions settle happened 3f2a 9c41 -m "The bank confirmed both"
    """
    actions = [await ctx.resolver.action(name) for name in names]
    settled: list[JsonObject] = []
    errors: list[str] = []
    for action in actions:
        try:
            result = await ctx.client.settle_action(action["action_id"], answer.replace("-", "_"), feedback=feedback)
            settled.append(result)
        except ProblemResponse as problem:
            errors.append(f"{short(action['action_id'])}: {problem}")

    def print_text(settled: list[JsonObject]) -> None:
        for action in settled:
            output_state = action["state"] if not action["settled"] else f"{action['state']}, given up"
            ctx.output.line(f"{short(action['action_id'])}: {output_state}", STYLES.get(action["state"]))

    ctx.show(settled, print_text)
    if errors:
        raise CommandFailed(ExitCode.FAILED, "Some actions were not settled.", errors)


@actions_app.command("revoke")
@online("work")
async def revoke(
    ctx: CliContext,
    name: ActionName,
    reason: Annotated[str, typer.Option("--reason", "-m", help="Reason.")] = "",
) -> None:
    """Refuse an action that has not started, even if it is approved.

    Example: cairn actions revoke 3f2a -m "The order was cancelled"
    """
    if not reason.strip():
        raise CommandFailed(ExitCode.USAGE, "A reason is required. Add --reason.")
    action = await ctx.resolver.action(name)
    revoked = await ctx.client.revoke_action(action["action_id"], reason)
    ctx.show(revoked, lambda action: ctx.output.line(f"{short(action['action_id'])}: {action['state']}"))


@actions_app.command("release")
@online("work")
async def release(
    ctx: CliContext,
    yes: Annotated[bool, typer.Option("--yes", help="Release the actions that are held.")] = False,
) -> None:
    """Review what a restored database lacks, and let actions start again.

    Without --yes, only shows the actions whose outcomes became unknown.

    Example: cairn actions release --yes
    """
    gate = await (ctx.client.release_actions() if yes else ctx.client.get_action_gate())

    def print_text(gate: JsonObject) -> None:
        if gate["unknown"]:
            print_actions(ctx.output, gate["unknown"])
        ctx.output.line(*gate_line(gate))
        if gate["held"]:
            ctx.output.line("Settle the unknown outcomes with `cairn actions settle`, then add --yes.")

    ctx.show(gate, print_text)


def gate_line(gate: JsonObject) -> tuple[str, str]:
    if gate["held"]:
        return f"Actions are held. {gate['reason']}", "red"
    if gate["stopped"]:
        return "Actions are stopped. `cairn rules lift-stop` lets them start again.", "red"
    return "Actions can start.", "green"
