"""A form, filled in field by field on a terminal, or from JSON; files are uploaded on the way."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Answer
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import tell

if TYPE_CHECKING:
    from cairn.cli.client import Client
    from cairn.cli.client.responses import ProblemResponse

Ask = Callable[[str], str]
YES, NO = frozenset({"y", "yes", "true", "1"}), frozenset({"n", "no", "false", "0"})


async def with_uploads(client: Client, execution: Answer, answers: dict[str, Any]) -> dict[str, Any]:
    """What is given for a file field is a path: its file is uploaded, and the upload's id is the answer."""
    files = {field["name"] for field in execution["form"]["fields"] if field["type"] == "file"}
    filled = dict(answers)
    for name in files & answers.keys():
        if isinstance(answers[name], str) and answers[name] and not _is_upload(answers[name]):
            filled[name] = await _upload(client, execution["execution_id"], _path(answers[name]))
    return filled


def _is_upload(given: str) -> bool:
    from uuid import UUID

    try:
        return str(UUID(given)) == given and not Path(given).exists()
    except ValueError:
        return False


def _path(given: str) -> Path:
    return Path(given).expanduser()


async def _upload(client: Client, execution_id: str, file: Path) -> str:
    try:
        uploaded = await client.upload_file(execution_id, file)
    except OSError as error:
        raise CommandFailed(
            ExitCode.USAGE, f"{file} cannot be read: {(error.strerror or str(error)).lower()}."
        ) from None
    return uploaded["upload_id"]


def ask_all(form: Answer, known: dict[str, Any], ask: Ask) -> dict[str, Any]:
    """Every field that has no answer yet."""
    tell(form["instructions"])
    if form["feedback"]:
        tell(f"To be revised: {form['feedback']}")
    before: Answer = form["values"] or {}
    answers = dict(known)
    for field in form["fields"]:
        if field["name"] not in known:
            given = _ask(field, before.get(field["name"], field["default"]), ask)
            if given is not None:
                answers[field["name"]] = given
    return answers


def ask_again(form: Answer, answers: dict[str, Any], problem: ProblemResponse, ask: Ask) -> dict[str, Any] | None:
    """Only the fields that do not fit; None if the fault is in none of them. What was entered is kept."""
    told = {error["path"].rpartition("/")[2]: error["message"] for error in problem.errors}
    wrong = [field for field in form["fields"] if field["name"] in told]
    if not wrong or len(wrong) < len(told):
        return None
    again = dict(answers)
    for field in wrong:
        tell(f"{field['label']}: {told[field['name']]}")
        given = _ask(field, None, ask)
        again.pop(field["name"], None)
        if given is not None:
            again[field["name"]] = given
    return again


def _ask(field: Answer, default: Any, ask: Ask) -> Any:
    """One field, until what is typed is of its type; an empty answer takes the default, or none."""
    hint = {"boolean": " (y/n)", "file": " (path of a file)", "multiline_text": " (end with a line of one dot)"}
    needed = "" if field["required"] else ", may be left empty"
    shown = "" if default is None else f" [{default}]"
    label = f"{field['label']}{hint.get(field['type'], '')}{needed}{shown}: "
    while True:
        typed = _lines(label, ask) if field["type"] == "multiline_text" else ask(label).strip()
        if not typed:
            if default is not None or not field["required"]:
                return default
            tell("This is required.")
            continue
        try:
            return _read(field["type"], typed)
        except ValueError as fault:
            tell(str(fault))


def _lines(label: str, ask: Ask) -> str:
    lines: list[str] = []
    prompt = label
    while (line := ask(prompt)) != ".":
        if not line and not lines:
            return ""
        lines.append(line)
        prompt = ""
    return "\n".join(lines)


def _read(type: str, typed: str) -> Any:
    match type:
        case "number":
            from cairn.documents import DocumentError, decode_json

            try:
                value = decode_json(typed.encode())
            except DocumentError:
                value = None
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return value
            raise ValueError("This has to be a number, such as 3 or 2.5.")
        case "boolean":
            if typed.lower() not in YES | NO:
                raise ValueError("Answer y or n.")
            return typed.lower() in YES
        case "file":
            if not _path(typed).is_file():
                raise ValueError(f"There is no file {typed}.")
            return typed
        case _:
            return typed


def can_ask() -> bool:
    return sys.stdin.isatty()


def prompt(label: str) -> str:
    """On standard error, so that what is piped on stays clean."""
    sys.stderr.write(label)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise CommandFailed(
            ExitCode.INTERRUPTED, "The input ended before the form was filled in; nothing was submitted."
        )
    return line.rstrip("\n")


def ask_hidden(what: str, *, twice: bool = False) -> str:
    """From the terminal without showing it; from a pipe, one line."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        if not line:
            raise CommandFailed(ExitCode.USAGE, f"{what}: standard input is empty.")
        return line.removesuffix("\n")
    given = getpass.getpass(f"{what}: ")
    if twice and getpass.getpass("The same again: ") != given:
        raise CommandFailed(ExitCode.USAGE, "The two are not the same.")
    return given
