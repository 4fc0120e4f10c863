"""Arguments and options that many commands share."""

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
Limit = Annotated[int, typer.Option("--limit", min=1, help="Maximum number of items.", show_default="50")]


def read_json(given: str, what: str) -> Value:
    """JSON from the command line, or from a file (`@file`, JSON or YAML; `@-` is standard input)."""
    from cairn.documents import DocumentError, decode_json, decode_yaml

    name = given[1:] if given.startswith("@") else None
    text = given.encode() if name is None else read_bytes(name)
    try:
        if name is not None and name.endswith((".yaml", ".yml")):
            return decode_yaml(text)[0]
        return decode_json(text)
    except DocumentError as error:
        raise CommandFailed(ExitCode.USAGE, f"{name or what} is not JSON that can be taken: {error}.") from None


def read_bytes(name: str) -> bytes:
    import sys

    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandFailed(
            ExitCode.USAGE, f"{name} cannot be read: {(error.strerror or str(error)).lower()}."
        ) from None


def as_object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CommandFailed(ExitCode.USAGE, f"{what} has to be a JSON object.")
    return cast("dict[str, Any]", value)
