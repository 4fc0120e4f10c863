"""Prompts for form fields and passwords on the terminal, and uploads the files of a form."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cairn.cli.arguments import os_reason
from cairn.cli.client import JsonObject
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import print_status

if TYPE_CHECKING:
    from cairn.cli.client import Client
    from cairn.cli.client.responses import ProblemResponse

ReadLine = Callable[[str], str]  # shows a label and returns the line that is typed
YES, NO = frozenset({"y", "yes", "true", "1"}), frozenset({"n", "no", "false", "0"})


async def upload_files(client: Client, execution: JsonObject, answers: dict[str, Any]) -> dict[str, Any]:
    """Upload the files named in file fields, and replace each path by the upload's id."""
    files = {field["name"] for field in execution["form"]["fields"] if field["type"] == "file"}
    uploaded = dict(answers)
    for name in files & answers.keys():
        if isinstance(answers[name], str) and answers[name] and not _is_upload_id(answers[name]):
            uploaded[name] = await _upload(client, execution["execution_id"], _path(answers[name]))
    return uploaded


def _is_upload_id(answer: str) -> bool:
    from uuid import UUID

    try:
        return str(UUID(answer)) == answer and not Path(answer).exists()
    except ValueError:
        return False


def _path(answer: str) -> Path:
    return Path(answer).expanduser()


async def _upload(client: Client, execution_id: str, file: Path) -> str:
    try:
        upload = await client.upload_file(execution_id, file)
    except OSError as error:
        raise CommandFailed(ExitCode.USAGE, f"Can't read {file}: {os_reason(error)}.") from None
    return upload["upload_id"]


def ask_for_answers(form: JsonObject, read_line: ReadLine) -> dict[str, Any]:
    """Ask for every field of the form. Earlier answers are the defaults."""
    print_status(form["instructions"])
    if form["feedback"]:
        print_status(f"Feedback: {form['feedback']}")
    previous: JsonObject = form["values"] or {}
    answers: dict[str, Any] = {}
    for field in form["fields"]:
        answer = _ask(field, previous.get(field["name"], field["default"]), read_line)
        if answer is not None:
            answers[field["name"]] = answer
    return answers


def ask_again(
    form: JsonObject, answers: dict[str, Any], problem: ProblemResponse, read_line: ReadLine
) -> dict[str, Any] | None:
    """Ask again for the invalid fields and keep the other answers. None if other errors remain."""
    messages = {error["path"].rpartition("/")[2]: error["message"] for error in problem.errors}
    invalid = [field for field in form["fields"] if field["name"] in messages]
    if not invalid or len(invalid) < len(messages):
        return None
    corrected = dict(answers)
    for field in invalid:
        print_status(f"{field['label']}: {messages[field['name']]}")
        answer = _ask(field, None, read_line)
        corrected.pop(field["name"], None)
        if answer is not None:
            corrected[field["name"]] = answer
    return corrected


def _ask(field: JsonObject, default: Any, read_line: ReadLine) -> Any:
    """Ask until the answer has the type of the field. An empty answer means the default."""
    hints = {
        "boolean": " (y/n)",
        "file": " (path of a file)",
        "multiline_text": " (end with a line that is only a dot)",
    }
    optional = "" if field["required"] else ", optional"
    shown_default = "" if default is None else f" [{default}]"
    label = f"{field['label']}{hints.get(field['type'], '')}{optional}{shown_default}: "
    while True:
        typed = _read_lines(label, read_line) if field["type"] == "multiline_text" else read_line(label).strip()
        if not typed:
            if default is not None or not field["required"]:
                return default
            print_status("Required.")
            continue
        try:
            return _parse(field["type"], typed)
        except ValueError as error:
            print_status(str(error))


def _read_lines(label: str, read_line: ReadLine) -> str:
    lines: list[str] = []
    prompt = label
    while (line := read_line(prompt)) != ".":
        if not line and not lines:
            return ""
        lines.append(line)
        prompt = ""
    return "\n".join(lines)


def _parse(type: str, typed: str) -> Any:
    match type:
        case "number":
            from cairn.documents import DocumentError, decode_json

            try:
                value = decode_json(typed.encode())
            except DocumentError:
                value = None
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return value
            raise ValueError("Enter a number, such as 3 or 2.5.")
        case "boolean":
            if typed.lower() not in YES | NO:
                raise ValueError("Enter y or n.")
            return typed.lower() in YES
        case "file":
            if not _path(typed).is_file():
                raise ValueError(f"File not found: {typed}")
            return typed
        case _:
            return typed


def is_interactive() -> bool:
    return sys.stdin.isatty()


def read_line(label: str) -> str:
    """Show the label on standard error, so that piped output stays clean, and read a line."""
    sys.stderr.write(label)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise CommandFailed(
            ExitCode.INTERRUPTED, "The input ended before the form was complete. Nothing was submitted."
        )
    return line.rstrip("\n")


def read_secret(label: str, *, confirm: bool = False) -> str:
    """Read a value without showing it, or one line from a pipe."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        if not line:
            raise CommandFailed(ExitCode.USAGE, f"{label}: standard input is empty.")
        return line.removesuffix("\n")
    secret = getpass.getpass(f"{label}: ")
    if confirm and getpass.getpass("Repeat to confirm: ") != secret:
        raise CommandFailed(ExitCode.USAGE, "The two entries are different.")
    return secret
