"""The state of a followed run: whether it is idle, what waits for people, and which command continues it."""

from __future__ import annotations

import shlex

from cairn.cli.client import JsonObject
from cairn.cli.exit_codes import ExitCode
from cairn.cli.output import Output
from cairn.cli.references import title

EXIT_CODES = {"completed": ExitCode.OK, "failed": ExitCode.FAILED, "cancelled": ExitCode.FAILED}  # by final status
AUTOMATIC_WAITS = frozenset({None, "retry_delay", "rework", "external_blocker"})  # wait reasons that need no person
_STYLES = {"completed": "green", "failed": "red", "cancelled": "red"}


def is_idle(run: JsonObject) -> bool:
    """Whether the run has ended or makes no progress until a person acts."""
    if run["status"] != "in_progress":
        return True
    working = [checkpoint for checkpoint in run["checkpoints"] if checkpoint["status"] == "in_progress"]
    if any(checkpoint["waiting_on"] in (None, "retry_delay") for checkpoint in working):
        return False
    return bool(waiting_for_people(run)) or not working


def waiting_for_people(run: JsonObject) -> list[JsonObject]:
    return [checkpoint for checkpoint in run["checkpoints"] if _waits_for_people(checkpoint)]


def _waits_for_people(checkpoint: JsonObject) -> bool:
    if checkpoint["status"] == "in_progress":
        return checkpoint["waiting_on"] not in AUTOMATIC_WAITS
    return checkpoint["status"] in ("pending", "waiting_approval_to_start", "waiting_approval_to_complete", "failed")


def print_outcome(output: Output, run: JsonObject) -> ExitCode:
    """Print the state of an idle run and the commands that continue it. Returns the exit code."""
    code = EXIT_CODES.get(run["status"], ExitCode.WAITING)
    if output.as_json:
        return code
    for checkpoint in run["checkpoints"]:
        if checkpoint["error_message"]:
            output.line(f"{checkpoint['name']}: {checkpoint['error_message']}", "red")
    if code is not ExitCode.WAITING:
        done, total = run["progress"]["completed"], run["progress"]["total"]
        output.line(f"{title(run)} {run['status']}: {done} of {total} checkpoints", status_style(run["status"]))
        return code
    if run["status"] == "paused" or run["pause_requested"]:
        name = shlex.quote(title(run))
        if run["over_budget"]:
            output.line(f"{run['over_budget']} Raise the limit with: cairn budget {name} --resume --max-…", "yellow")
        else:
            output.line(f"{title(run)} is paused. Continue with: cairn resume {name}", "yellow")
    print_waiting(output, run)
    return code


def print_waiting(output: Output, run: JsonObject) -> None:
    """Print each checkpoint that waits for a person, with the command that continues it."""
    for checkpoint in waiting_for_people(run):
        output.line(f"{checkpoint['name']} is waiting. Continue with: {next_command(run, checkpoint)}", "yellow")


def status_style(status: str) -> str | None:
    return _STYLES.get(status)


def next_command(run: JsonObject, checkpoint: JsonObject) -> str:
    name = shlex.quote(f"{title(run)}/{checkpoint['key']}")
    match checkpoint["status"], checkpoint["waiting_on"]:
        case "in_progress", "human_form" | "script_input" | "question":
            return f"cairn submit {name}"
        case (("waiting_approval_to_start" | "waiting_approval_to_complete"), _) | ("in_progress", "action_approval"):
            return f"cairn approve {name}"
        case "pending", _:
            return f"cairn start {name}"
        case "failed", _:
            return f"cairn retry {name}"
        case _:
            return f"cairn approvals decide {name}"
