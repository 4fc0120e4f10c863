"""How a run stands: whether anything happens in it by itself, what waits for people, and what they can do."""

from __future__ import annotations

import shlex

from cairn.cli.client import Answer
from cairn.cli.exit_codes import ExitCode
from cairn.cli.output import Output
from cairn.cli.references import title

ENDED = {"completed": ExitCode.OK, "failed": ExitCode.REFUSED, "cancelled": ExitCode.REFUSED}
GOES_ON = frozenset({"in_progress"})  # an execution of this status needs nobody, unless it waits for people
BY_ITSELF = frozenset({None, "retry_delay", "rework", "external_blocker"})  # what is waited for without people


def is_at_rest(run: Answer) -> bool:
    """Nothing happens in it until somebody does something."""
    if run["status"] != "in_progress":
        return True
    working = [item for item in run["checkpoints"] if item["status"] in GOES_ON]
    if any(item["waiting_on"] is None or item["waiting_on"] == "retry_delay" for item in working):
        return False
    return bool(waiting(run)) or not working


def waiting(run: Answer) -> list[Answer]:
    """What waits for people."""
    return [item for item in run["checkpoints"] if _waits_for_people(item)]


def _waits_for_people(item: Answer) -> bool:
    if item["status"] == "in_progress":
        return item["waiting_on"] not in BY_ITSELF
    return item["status"] in ("pending", "waiting_approval_to_start", "waiting_approval_to_complete", "failed")


def outcome(screen: Output, run: Answer) -> ExitCode:
    """Say how it stands, and what can be done; the answer is the exit code."""
    code = ENDED.get(run["status"], ExitCode.WAITS)
    if screen.as_json:
        return code
    for item in run["checkpoints"]:
        if item["error"]:
            screen.line(f"{item['name']}: {item['error']}", "red")
    if code is not ExitCode.WAITS:
        done, total = run["progress"]["completed"], run["progress"]["total"]
        screen.line(f"{title(run)} {run['status']}: {done} of {total} checkpoints", _STYLE.get(run["status"]))
        return code
    if run["status"] == "paused" or run["pause_requested"]:
        name = shlex.quote(title(run))
        if run["over_budget"]:
            screen.line(f"{run['over_budget']} Raise it: cairn budget {name} --resume --max-…", "yellow")
        else:
            screen.line(f"{title(run)} is paused: cairn resume {name}", "yellow")
    for item in waiting(run):
        screen.line(f"{item['name']} waits: {advice(run, item)}", "yellow")
    return code


_STYLE = {"completed": "green", "failed": "red", "cancelled": "red"}


def advice(run: Answer, item: Answer) -> str:
    name = shlex.quote(f"{title(run)}/{item['key']}")
    match item["status"], item["waiting_on"]:
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
