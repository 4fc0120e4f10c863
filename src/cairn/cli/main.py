"""`cairn`: starts the server, and looks after its data."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError

from cairn import __version__
from cairn.config import Settings

app = typer.Typer(
    name="cairn",
    help="Runs multi-step work that people must be able to trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Where everything is kept.", show_default="./cairn-data")
]


def main() -> None:
    app()


@app.command()
def serve(
    data_dir: DataDir = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.", show_default="8700")] = None,
) -> None:
    """Start the server, its worker and the web app in one process.

    Example: cairn serve --port 8700 --data-dir ./cairn-data
    """
    from cairn.cli.serving import run_server  # the server's parts take a second to import

    settings = read_settings(data_dir=data_dir, host=host, port=port)
    raise typer.Exit(run_server(settings))


@app.command()
def doctor(
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer as JSON.")] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Put right what differs; nothing of yours is deleted.")
    ] = False,
) -> None:
    """Compare the folders with the database, and verify the trail. Exits with 0 when all agrees.

    Example: cairn doctor --data-dir ./cairn-data
    """
    from cairn.cli.doctoring import examine  # the store's parts take half a second to import
    from cairn.cli.explaining import CANNOT_START, explain

    settings = read_settings(data_dir=data_dir)
    if settings.database_url is None and not (settings.data_dir / "cairn.db").is_file():
        typer.echo(f"cairn: {settings.data_dir} is not a data folder of Cairn: it has no cairn.db.", err=True)
        raise typer.Exit(2)
    try:
        verdict = asyncio.run(examine(settings, repair=repair))
    except CANNOT_START as error:
        typer.echo(f"cairn: {explain(error)}", err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(verdict.as_json(), indent=2))
    else:
        for line in verdict.lines():
            typer.echo(line)
    raise typer.Exit(0 if verdict.is_well else 1)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a pipeline definition, for editors.

    Example: cairn schema > pipeline.schema.json
    """
    from cairn.definitions import authoring_schema

    typer.echo(json.dumps(authoring_schema(), indent=2, ensure_ascii=False))


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def read_settings(**given: Any) -> Settings:
    """Settings from the command line, the environment and the file; one readable line for each that is wrong."""
    known = {f"CAIRN_{name.upper()}" for name in Settings.model_fields}
    for name in sorted(name for name in os.environ if name.startswith("CAIRN_") and name not in known):
        typer.echo(f"cairn: {name} is no setting of Cairn, and has no effect.", err=True)
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        for fault in error.errors():
            name = "_".join(str(part) for part in fault["loc"])
            typer.echo(f"cairn: setting {name}: {fault['msg']} (got {fault['input']!r})", err=True)
        raise typer.Exit(2) from None
    except SettingsError as error:
        typer.echo(f'cairn: {error}: lists are written as JSON, such as ["my_functions"].', err=True)
        raise typer.Exit(2) from None
