"""What waits for people: forms and approvals."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli import filling
from cairn.cli.arguments import ExecutionName, Limit, as_object, read_json
from cairn.cli.client import Answer
from cairn.cli.client.answers import Problem
from cairn.cli.commands.steering import execution_told
from cairn.cli.completing import approvals as complete_approvals
from cairn.cli.desk import Desk, online
from cairn.cli.exits import Code, Ended
from cairn.cli.groups import group
from cairn.cli.naming import short, version
from cairn.cli.showing import show_artifacts, show_form
from cairn.cli.telling import moment

ApprovalName = Annotated[
    str,
    typer.Argument(
        metavar="APPROVAL",
        help="An approval: id, or the execution or run that asks.",
        autocompletion=complete_approvals,
    ),
]
Feedback = Annotated[str, typer.Option("--feedback", "-m", help="Words that go with the decision.")]
approvals_app = group("What waits for people; without a command, the list.")
forms_app = group("Forms that wait to be filled in; without a command, the list.")


def _asks(execution: Answer) -> bool:
    return execution["approval"] is not None and execution["approval"]["kind"] != "input"


@online("works")
async def submit(
    desk: Desk,
    name: ExecutionName,
    data: Annotated[
        str | None,
        typer.Option("--data", help="Answers as a JSON object by field, or @file. A file field takes a path."),
    ] = None,
    field: Annotated[
        list[str] | None, typer.Option("--field", "-f", metavar="NAME=VALUE", help="One answer, as text or JSON.")
    ] = None,
) -> None:
    """Fill in the form that an execution waits for: asked field by field, or given with --data or --field.

    What does not fit is told per field, and nothing is submitted.

    Example: cairn submit "Release notes@v1/notes" --data '{"text": "Runs can be rolled back."}'
    """
    wanted = "waits for a form"
    execution = await desk.naming.execution(name, lambda e: "submit" in e["possible"], wanted)
    if execution["form"] is None or "submit" not in execution["possible"]:
        raise Ended(Code.REFUSED, f"{execution['checkpoint_name']} does not wait for a form.")
    types = {each["name"]: each["type"] for each in execution["form"]["fields"]}
    answers = {} if data is None else as_object(read_json(data, "--data"), "--data")
    answers |= dict(_field(one, types) for one in field or ())
    if data is None and not field:
        if not filling.can_ask():
            raise Ended(Code.USAGE, "There is no terminal to ask on: give the answers with --data or --field.")
        answers = filling.ask_all(execution["form"], answers, filling.prompt)
    await _submit(desk, execution, answers, asks=data is None and not field)
    await execution_told(desk, execution["execution_id"])


async def _submit(desk: Desk, execution: Answer, answers: dict[str, Any], *, asks: bool) -> None:
    digest = execution["approval"]["digest"] if execution["approval"] else None
    while True:
        fields = await filling.with_uploads(desk.client, execution, answers)
        try:
            await desk.client.submit_form(execution["execution_id"], fields, digest=digest)
        except Problem as problem:
            again = filling.ask_again(execution["form"], answers, problem, filling.prompt) if asks else None
            if again is None:
                raise
            answers = again
        else:
            return


def _field(given: str, types: dict[str, str]) -> tuple[str, Any]:
    name, equals, value = given.partition("=")
    if not equals:
        raise Ended(Code.USAGE, f"--field is NAME=VALUE, not {given!r}.")
    if types.get(name) in ("number", "boolean"):
        return name, read_json(value, f"--field {name}")
    return name, value


@online("works")
async def approve(desk: Desk, name: ApprovalName, feedback: Feedback = "") -> None:
    """Approve what is asked: a start, or a result with what was made. It binds to what is there at this moment.

    Example: cairn approve "Release notes@v1/notes"
    """
    await _decide(desk, name, "approve", feedback)


@online("works")
async def revise(desk: Desk, name: ApprovalName, feedback: Feedback = "") -> None:
    """Send work back with feedback, to be done again; while it waits to start, refuse the start.

    Example: cairn revise "Release notes@v1/notes" --feedback "Name the month."
    """
    approval = await _asked(desk, name)
    decision = "refuse" if approval["kind"] == "start" else "revise"
    if decision == "revise" and not feedback:
        raise Ended(Code.USAGE, "Say what has to change: --feedback.")
    await _decide(desk, approval["approval_id"], decision, feedback)


@online("works")
async def reject(
    desk: Desk, name: ApprovalName, reason: Annotated[str, typer.Option("--reason", "-m", help="Why.")] = ""
) -> None:
    """Reject what was made: the execution and its run fail. A start is refused instead.

    Example: cairn reject "Release notes@v1/notes" --reason "Not wanted any more."
    """
    approval = await _asked(desk, name)
    if not reason and approval["kind"] != "start":
        raise Ended(Code.USAGE, "Say why: --reason.")
    await _decide(desk, approval["approval_id"], "refuse" if approval["kind"] == "start" else "reject", reason)


async def _asked(desk: Desk, name: str) -> Answer:
    approval = await desk.naming.approval(name, _asks)
    if approval["kind"] == "input":
        raise Ended(Code.REFUSED, f"{approval['checkpoint_name']} waits for a form: use `cairn submit`.")
    return approval


async def _decide(desk: Desk, name: str, decision: str, words: str) -> None:
    approval = await _asked(desk, name)
    await desk.client.decide_approval(approval["approval_id"], decision, digest=approval["digest"], words=words)
    await execution_told(desk, approval["execution_id"])


# ---- approvals ------------------------------------------------------------------------------------------
@approvals_app.command("list")
@online()
async def list_approvals(
    desk: Desk,
    status: Annotated[list[str] | None, typer.Option("--status", help="Of this status; pending unless said.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="start, completion, input…")] = None,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Only of this pipeline.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Only of this run.")] = None,
    limit: Limit = 50,
) -> None:
    """List what waits for people, oldest first.

    Example: cairn approvals list --kind completion
    """
    await _list(desk, status or (), kind or (), pipeline, run, limit)


async def _list(desk: Desk, status: Any, kind: Any, pipeline: str | None, run: str | None, limit: int) -> None:
    found = await desk.client.list_approvals(
        status=status,
        kind=kind,
        pipeline_id=(await desk.naming.pipeline(pipeline))["pipeline_id"] if pipeline else None,
        run_id=await desk.naming.run(run) if run else None,
        most=limit,
    )
    rows = [
        (
            short(one["approval_id"]),
            one["kind"],
            one["status"],
            f"{one['pipeline_name']} {version(one)}",
            one["checkpoint_name"],
            moment(one["asked_at"]),
        )
        for one in found["items"]
    ]
    heads = ("id", "kind", "status", "run", "checkpoint", "asked")
    desk.show(found, lambda _: desk.screen.table(heads, rows, empty="Nothing waits."))


@approvals_app.command("show")
@online()
async def show_approval(desk: Desk, name: ApprovalName) -> None:
    """Show a question with what it is about.

    Example: cairn approvals show "Release notes@v1/notes"
    """
    desk.show(await desk.naming.approval(name), lambda found: _show(desk, found))


def _show(desk: Desk, approval: Answer) -> None:
    desk.screen.facts(
        [
            ("approval", approval["approval_id"]),
            ("asks", f"{approval['kind']} of {approval['checkpoint_name']}"),
            ("run", f"{approval['pipeline_name']} {version(approval)}"),
            ("status", approval["status"]),
            ("asked", moment(approval["asked_at"])),
            ("expires", moment(approval["expires_at"])),
            ("reason", approval["reason"]),
            ("given", f"{approval['given']} of {approval['needed']}"),
            ("digest", approval["digest"]),
            ("possible", ", ".join(approval["possible"])),
        ]
    )
    for vote in approval["decisions"]:
        desk.screen.line(f"{moment(vote['at'])}  {vote['by']}: {vote['decision']} {vote['feedback']}".rstrip())
    if approval["artifacts"]:
        desk.screen.line()
        show_artifacts(desk.screen, approval["artifacts"])
    if approval["form"] and approval["kind"] == "input":
        desk.screen.line()
        show_form(desk.screen, approval["form"])


@approvals_app.command("decide")
@online("works")
async def decide(
    desk: Desk,
    name: ApprovalName,
    decision: Annotated[str, typer.Argument(help="One of those that `approvals show` names as possible.")],
    words: Annotated[str, typer.Option("--feedback", "--reason", "-m", help="Words that go with it.")] = "",
    data: Annotated[str | None, typer.Option("--data", help="Answers as a JSON object, or @file.")] = None,
) -> None:
    """Decide in any way that is possible: accept, feedback, decline, restart, fail…

    Example: cairn approvals decide "Release notes@v1/notes" approve
    """
    approval = await desk.naming.approval(name)
    if approval["possible"] and decision not in approval["possible"]:
        raise Ended(Code.REFUSED, f"{decision!r} is not possible here: {', '.join(approval['possible'])} are.")
    fields = None if data is None else as_object(read_json(data, "--data"), "--data")
    await desk.client.decide_approval(
        approval["approval_id"], decision, digest=approval["digest"], words=words, fields=fields
    )
    await execution_told(desk, approval["execution_id"])


# ---- forms ------------------------------------------------------------------------------------------------
@forms_app.command("list")
@online()
async def list_forms(
    desk: Desk,
    pipeline: Annotated[str | None, typer.Option("--pipeline", help="Only of this pipeline.")] = None,
    limit: Limit = 50,
) -> None:
    """List the forms that wait.

    Example: cairn forms list
    """
    await _list(desk, (), ("input",), pipeline, None, limit)


@forms_app.command("show")
@online()
async def show_form_of(desk: Desk, name: ExecutionName) -> None:
    """Show a form: its fields, and what was entered before.

    Example: cairn forms show "Release notes@v1/notes"
    """
    execution = await desk.naming.execution(name, lambda e: e["form"] is not None, "has a form")
    if execution["form"] is None:
        raise Ended(Code.REFUSED, f"{execution['checkpoint_name']} has no form.")
    desk.show(execution["form"], lambda form: show_form(desk.screen, form))
