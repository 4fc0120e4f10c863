"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cairn.cli import completion
from cairn.cli.exit_codes import CommandFailed, ExitCode

if TYPE_CHECKING:
    from cairn.documents import Value

PipelineName = Annotated[
    str, typer.Argument(metavar="PIPELINE", help="Name or id of a pipeline.", autocompletion=completion.pipelines)
]
RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run: id, 'pipeline@v3', or a pipeline for its newest run.",
        autocompletion=completion.runs,
    ),
]
ExecutionName = Annotated[
    str,
    typer.Argument(
        metavar="EXECUTION",
        help="An execution: id, 'run/key', or a run with only one match.",
        autocompletion=completion.executions,
    ),
]
CheckpointName = Annotated[str, typer.Argument(metavar="CHECKPOINT", help="A checkpoint: id, or 'pipeline/key'.")]
Force = Annotated[bool, typer.Option("--force", help="Cancel runs that block the change.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="Maximum number of items.")]


def read_json(argument: str, label: str) -> Value:
    """Parse JSON from the command line, or from a file if the argument is `@file` (`@-` for standard input).

    Files may be JSON or YAML. `label` names the argument in error messages.
    """
    from cairn.documents import DocumentError, decode_json, decode_yaml

    file = argument[1:] if argument.startswith("@") else None
    text = argument.encode() if file is None else read_bytes(file)
    try:
        if file is not None and file.endswith((".yaml", ".yml")):
            return decode_yaml(text)[0]
        return decode_json(text)
    except DocumentError as error:
        raise CommandFailed(ExitCode.USAGE, f"{file or label} is not valid JSON: {error}.") from None


def read_bytes(file: str) -> bytes:
    import sys

    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise CommandFailed(ExitCode.USAGE, f"Can't read {file}: {os_reason(error)}.") from None


def os_reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def as_object(value: Any, label: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CommandFailed(ExitCode.USAGE, f"{label} must be a JSON object.")
    return cast("dict[str, Any]", value)
