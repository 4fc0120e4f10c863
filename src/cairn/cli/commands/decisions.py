"""Commands that submit forms and decide approvals."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from cairn.cli import prompts
from cairn.cli.arguments import ExecutionName, as_object, read_json
from cairn.cli.client import JsonObject
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.commands.run_control import show_execution_result
from cairn.cli.completion import approvals as complete_approvals
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time
from cairn.cli.references import short
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


def _is_decidable(execution: JsonObject) -> bool:
    return execution["approval"] is not None and execution["approval"]["kind"] != "input"


@online("work")
async def submit(
    ctx: CliContext,
    name: ExecutionName,
    answers_json: Annotated[
        str | None,
        typer.Option("--answers", help="Answers as a JSON object by field, or @file. File fields take a path."),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option("--field", "-f", metavar="NAME=VALUE", help="One answer, as text or JSON. Repeatable."),
    ] = None,
) -> None:
    """Submit the form that an execution waits for.

    Asks for each field, unless you give --answers or --field. If an answer is invalid, nothing is submitted.

    Example: cairn submit "Release notes@v1/notes" --answers '{"text": "Runs can be rolled back."}'
    """
    execution = await ctx.resolver.execution(name, _waits_for_form, "is waiting for a form")
    if execution["form"] is None or not _waits_for_form(execution):
        raise CommandFailed(ExitCode.FAILED, f"{execution['checkpoint_name']} is not waiting for a form.")
    types = {form_field["name"]: form_field["type"] for form_field in execution["form"]["fields"]}
    answers = {} if answers_json is None else as_object(read_json(answers_json, "--answers"), "--answers")
    answers |= dict(_parse_field(argument, types) for argument in field or ())
    if answers_json is None and not field:
        if not prompts.is_interactive():
            raise CommandFailed(ExitCode.USAGE, "Can't ask without a terminal. Use --answers or --field.")
        answers = prompts.ask_for_answers(execution["form"], prompts.read_line)
    await _submit(ctx, execution, answers, can_ask_again=answers_json is None and not field)
    await show_execution_result(ctx, execution["execution_id"])


async def _submit(ctx: CliContext, execution: JsonObject, answers: dict[str, Any], *, can_ask_again: bool) -> None:
    digest = execution["approval"]["digest"] if execution["approval"] else None
    while True:
        fields = await prompts.upload_files(ctx.client, execution, answers)
        try:
            await ctx.client.submit_form(execution["execution_id"], fields, digest=digest)
        except ProblemResponse as problem:
            corrected = (
                prompts.ask_again(execution["form"], answers, problem, prompts.read_line) if can_ask_again else None
            )
            if corrected is None:
                raise
            answers = corrected
        else:
            return


def _waits_for_form(execution: JsonObject) -> bool:
    return "submit" in execution["available_commands"]


def _parse_field(argument: str, types: dict[str, str]) -> tuple[str, Any]:
    name, equals, value = argument.partition("=")
    if not equals:
        raise CommandFailed(ExitCode.USAGE, f"Invalid --field {argument!r}. Use NAME=VALUE.")
    if types.get(name) in ("number", "boolean"):
        return name, read_json(value, f"--field {name}")
    return name, value


@online("work")
async def approve(  # noqa: PLR0913, PLR0917 - one option for each part of a decision
    ctx: CliContext,
    name: ApprovalName,
    feedback: Feedback = "",
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter of the action, as JSON or text."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only preview the changes of --set.")] = False,
    learn: Annotated[bool, typer.Option("--learn", help="Show the changes of --set to agents as an example.")] = False,
    use_earlier: Annotated[
        bool, typer.Option("--use-earlier", help="Use the result of the earlier action that this one repeats.")
    ] = False,
    execute_again: Annotated[
        bool, typer.Option("--execute-again", help="Execute an action that repeats an earlier one.")
    ] = False,
    override: Annotated[
        bool, typer.Option("--override", help="Approve as an admin, instead of the people who are asked.")
    ] = False,
) -> None:
    """Approve a start, a result or an action.

    An action that repeats earlier ones needs --use-earlier or --execute-again.

    Example: cairn approve "Refund@v1/refund" --set amount=89.99 --feedback "By policy"
    """
    if use_earlier and execute_again:
        raise CommandFailed(ExitCode.USAGE, "Use either --use-earlier or --execute-again.")
    if override and not feedback:
        raise CommandFailed(ExitCode.USAGE, "A reason is required for --override. Add --feedback.")
    on_repeat = "use_earlier" if use_earlier else "execute_again" if execute_again else None
    if not changes:
        return await _decide(ctx, name, "approve", feedback, on_repeat, override=override)
    approval = await _decidable_approval(ctx, name)
    proposed: JsonObject = approval["action"]["current_parameters"] if approval["action"] else {}
    modified = dict(_parse_parameter(change, proposed) for change in changes)
    preview = await ctx.client.preview_modification(approval["approval_id"], modified)
    if dry_run or not preview["validation"]["passed"]:
        ctx.show(preview, lambda preview: show_changes(ctx, preview))
        if not preview["validation"]["passed"]:
            raise CommandFailed(ExitCode.FAILED, "The parameters are invalid. Nothing was decided.")
        return None
    with _explained_repeats():
        await ctx.client.decide_approval(
            approval["approval_id"],
            "approve",
            digest=approval["digest"],
            feedback=feedback,
            modified_params=modified,
            on_repeat=on_repeat,
            override=override,
            learn=learn,
        )
    return await show_execution_result(ctx, approval["execution_id"])


@contextmanager
def _explained_repeats() -> Generator[None]:
    """List the earlier actions that an action repeats, and the options to choose from."""
    try:
        yield
    except ProblemResponse as problem:
        if not problem.repeats:
            raise
        earlier = [f"{short(a['id'])}, {a['state']}, {local_time(a['at'])}" for a in problem.repeats]
        details = (*earlier, "Add --use-earlier or --execute-again.")
        raise CommandFailed(ExitCode.FAILED, "This action repeats earlier ones.", details) from None


def _parse_parameter(argument: str, proposed: JsonObject) -> tuple[str, Any]:
    """Text if the proposed value is text. Otherwise JSON if the value is valid JSON, else text."""
    name, equals, value = argument.partition("=")
    if not equals:
        raise CommandFailed(ExitCode.USAGE, f"Invalid --set {argument!r}. Use NAME=VALUE.")
    if isinstance(proposed.get(name), str):
        return name, value
    from cairn.documents import DocumentError, decode_json

    try:
        return name, decode_json(value.encode())
    except DocumentError:
        return name, value


def show_changes(ctx: CliContext, preview: JsonObject) -> None:
    rows = [
        (change["field"], change["change_type"], _shortened(change["original"]), _shortened(change["modified"]))
        for change in preview["diff"]
    ]
    ctx.output.table(("field", "change", "original", "modified"), rows, empty="No changes.")
    for error in preview["validation"]["errors"]:
        ctx.output.line(f"{error['path'] or 'parameters'}: {error['message']}")


def _shortened(value: Any) -> str:
    text = as_text(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


@online("work")
async def revise(ctx: CliContext, name: ApprovalName, feedback: Feedback = "") -> None:
    """Send work back with feedback, or reject a start.

    Example: cairn revise "Release notes@v1/notes" --feedback "Name the month."
    """
    approval = await _decidable_approval(ctx, name)
    decision = "refuse" if approval["kind"] == "start" else "revise"
    if decision == "revise" and not feedback:
        raise CommandFailed(ExitCode.USAGE, "Feedback is required. Add --feedback.")
    await _decide(ctx, approval["approval_id"], decision, feedback)


@online("work")
async def reject(
    ctx: CliContext, name: ApprovalName, reason: Annotated[str, typer.Option("--reason", "-m", help="Reason.")] = ""
) -> None:
    """Reject a result or a start. After a rejected result, the execution and its run fail.

    Example: cairn reject "Release notes@v1/notes" --reason "No longer needed."
    """
    approval = await _decidable_approval(ctx, name)
    if not reason and approval["kind"] != "start":
        raise CommandFailed(ExitCode.USAGE, "A reason is required. Add --reason.")
    await _decide(ctx, approval["approval_id"], "refuse" if approval["kind"] == "start" else "reject", reason)


async def _decidable_approval(ctx: CliContext, name: str) -> JsonObject:
    approval = await ctx.resolver.approval(name, _is_decidable)
    if approval["kind"] == "input":
        raise CommandFailed(
            ExitCode.FAILED, f"{approval['checkpoint_name']} is waiting for a form. Use `cairn submit`."
        )
    return approval


async def _decide(
    ctx: CliContext, name: str, decision: str, feedback: str, on_repeat: str | None = None, *, override: bool = False
) -> None:
    approval = await _decidable_approval(ctx, name)
    with _explained_repeats():
        await ctx.client.decide_approval(
            approval["approval_id"],
            decision,
            digest=approval["digest"],
            feedback=feedback,
            on_repeat=on_repeat,
            override=override,
        )
    await show_execution_result(ctx, approval["execution_id"])
