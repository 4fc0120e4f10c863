"""What waits for people: forms and approvals."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli import prompts
from cairn.cli.arguments import ExecutionName, as_object, read_json
from cairn.cli.client import Answer
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.commands.run_control import execution_told
from cairn.cli.completion import approvals as complete_approvals
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.rendering import as_text

ApprovalName = Annotated[
    str,
    typer.Argument(
        metavar="APPROVAL",
        help="An approval: id, or its execution or run.",
        autocompletion=complete_approvals,
    ),
]
Feedback = Annotated[str, typer.Option("--feedback", "-m", help="Feedback to send with the decision.")]


def _asks(execution: Answer) -> bool:
    return execution["approval"] is not None and execution["approval"]["kind"] != "input"


@online("works")
async def submit(
    ctx: CliContext,
    name: ExecutionName,
    data: Annotated[
        str | None,
        typer.Option("--answers", help="Answers as a JSON object by field, or @file. File fields take a path."),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option("--field", "-f", metavar="NAME=VALUE", help="One answer, as text or JSON. Repeatable."),
    ] = None,
) -> None:
    """Submit the form that an execution waits for, field by field or with --answers or --field.

    Invalid fields are reported one by one, and nothing is submitted.

    Example: cairn submit "Release notes@v1/notes" --answers '{"text": "Runs can be rolled back."}'
    """
    wanted = "waits for a form"
    execution = await ctx.naming.execution(name, lambda e: "submit" in e["available_commands"], wanted)
    if execution["form"] is None or "submit" not in execution["available_commands"]:
        raise CommandFailed(ExitCode.REFUSED, f"{execution['checkpoint_name']} does not wait for a form.")
    types = {each["name"]: each["type"] for each in execution["form"]["fields"]}
    answers = {} if data is None else as_object(read_json(data, "--answers"), "--answers")
    answers |= dict(_field(one, types) for one in field or ())
    if data is None and not field:
        if not prompts.can_ask():
            raise CommandFailed(
                ExitCode.USAGE, "There is no terminal to ask on: give the answers with --answers or --field."
            )
        answers = prompts.ask_all(execution["form"], answers, prompts.prompt)
    await _submit(ctx, execution, answers, asks=data is None and not field)
    await execution_told(ctx, execution["execution_id"])


async def _submit(ctx: CliContext, execution: Answer, answers: dict[str, Any], *, asks: bool) -> None:
    digest = execution["approval"]["digest"] if execution["approval"] else None
    while True:
        fields = await prompts.with_uploads(ctx.client, execution, answers)
        try:
            await ctx.client.submit_form(execution["execution_id"], fields, digest=digest)
        except ProblemResponse as problem:
            again = prompts.ask_again(execution["form"], answers, problem, prompts.prompt) if asks else None
            if again is None:
                raise
            answers = again
        else:
            return


def _field(given: str, types: dict[str, str]) -> tuple[str, Any]:
    name, equals, value = given.partition("=")
    if not equals:
        raise CommandFailed(ExitCode.USAGE, f"--field is NAME=VALUE, not {given!r}.")
    if types.get(name) in ("number", "boolean"):
        return name, read_json(value, f"--field {name}")
    return name, value


@online("works")
async def approve(
    ctx: CliContext,
    name: ApprovalName,
    feedback: Feedback = "",
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter of the action, as JSON or text."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only preview the changes of --set.")] = False,
) -> None:
    """Approve a start, a result or an action, as it is at this moment.

    Example: cairn approve "Refund@v1/refund" --set amount=89.99 --feedback "By policy"
    """
    if not change:
        return await _decide(ctx, name, "approve", feedback)
    approval = await _asked(ctx, name)
    proposed: Answer = approval["action"]["current_parameters"] if approval["action"] else {}
    changed = dict(_parameter(one, proposed) for one in change)
    preview = await ctx.client.preview_modification(approval["approval_id"], changed)
    if dry_run or not preview["validation"]["passed"]:
        ctx.show(preview, lambda found: show_changes(ctx, found))
        if not preview["validation"]["passed"]:
            raise CommandFailed(ExitCode.REFUSED, "These parameters do not fit: nothing is decided.")
        return None
    await ctx.client.decide_approval(
        approval["approval_id"], "approve", digest=approval["digest"], words=feedback, modified_params=changed
    )
    return await execution_told(ctx, approval["execution_id"])


def _parameter(given: str, proposed: Answer) -> tuple[str, Any]:
    """A text where a text was proposed; else JSON where it is JSON."""
    name, equals, value = given.partition("=")
    if not equals:
        raise CommandFailed(ExitCode.USAGE, f"--set is NAME=VALUE, not {given!r}.")
    if isinstance(proposed.get(name), str):
        return name, value
    from cairn.documents import DocumentError, decode_json

    try:
        return name, decode_json(value.encode())
    except DocumentError:
        return name, value


def show_changes(ctx: CliContext, preview: Answer) -> None:
    rows = [
        (one["field"], one["change_type"], _short(one["original"]), _short(one["modified"])) for one in preview["diff"]
    ]
    ctx.screen.table(("field", "change", "original", "modified"), rows, empty="Nothing changes.")
    for error in preview["validation"]["errors"]:
        ctx.screen.line(f"{error['path'] or 'parameters'}: {error['message']}")


def _short(value: Any) -> str:
    text = as_text(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


@online("works")
async def revise(ctx: CliContext, name: ApprovalName, feedback: Feedback = "") -> None:
    """Send work back with feedback. If it waits to start, refuse the start.

    Example: cairn revise "Release notes@v1/notes" --feedback "Name the month."
    """
    approval = await _asked(ctx, name)
    decision = "refuse" if approval["kind"] == "start" else "revise"
    if decision == "revise" and not feedback:
        raise CommandFailed(ExitCode.USAGE, "Say what has to change: --feedback.")
    await _decide(ctx, approval["approval_id"], decision, feedback)


@online("works")
async def reject(
    ctx: CliContext, name: ApprovalName, reason: Annotated[str, typer.Option("--reason", "-m", help="Reason.")] = ""
) -> None:
    """Reject a result, so that the execution and its run fail. A start is refused instead.

    Example: cairn reject "Release notes@v1/notes" --reason "Not wanted any more."
    """
    approval = await _asked(ctx, name)
    if not reason and approval["kind"] != "start":
        raise CommandFailed(ExitCode.USAGE, "Say why: --reason.")
    await _decide(ctx, approval["approval_id"], "refuse" if approval["kind"] == "start" else "reject", reason)


async def _asked(ctx: CliContext, name: str) -> Answer:
    approval = await ctx.naming.approval(name, _asks)
    if approval["kind"] == "input":
        raise CommandFailed(ExitCode.REFUSED, f"{approval['checkpoint_name']} waits for a form: use `cairn submit`.")
    return approval


async def _decide(ctx: CliContext, name: str, decision: str, words: str) -> None:
    approval = await _asked(ctx, name)
    await ctx.client.decide_approval(approval["approval_id"], decision, digest=approval["digest"], words=words)
    await execution_told(ctx, approval["execution_id"])
