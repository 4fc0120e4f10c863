"""Commands for the server, its settings, schemas and versions."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from cairn.cli import server_location
from cairn.cli.context import AsJson, CliContext, DataDir, offline, online
from cairn.cli.output import Output
from cairn.cli.versions import read_versions, version_line

config_app = typer.Typer(help="Show the settings.", no_args_is_help=True)


@offline
def serve(
    data_dir: DataDir = None,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option("--port", help="Port to listen on.", show_default="8700")] = None,
) -> None:
    """Start the server, its worker and the web app in one process.

    Example: cairn serve --port 8700 --data-dir ./cairn-data
    """
    from cairn.cli.server import run_server  # takes a second to import
    from cairn.cli.settings import read_settings

    settings = read_settings(data_dir=data_dir, host=host, port=port)
    raise typer.Exit(run_server(settings))


@offline
def schema(
    agent: Annotated[bool, typer.Option("--agent", help="Print the schema of library agents instead.")] = False,
) -> None:
    """Print the JSON Schema of a pipeline definition, for editors.

    Example: cairn schema > pipeline.schema.json
    """
    from cairn.definitions import agent_schema, authoring_schema

    typer.echo(json.dumps(agent_schema() if agent else authoring_schema(), indent=2, ensure_ascii=False))


@offline
def version(as_json: AsJson = False) -> None:
    """Print the versions of Cairn, Python and SQLite.

    Example: cairn version
    """
    versions = read_versions()
    typer.echo(json.dumps(versions) if as_json else version_line(versions))


@online()
async def status(ctx: CliContext) -> None:
    """Show the server, your identity and its health.

    Example: cairn status
    """
    health = await ctx.client.get_health()
    session = await ctx.client.get_session()
    drift = health["drift"]
    address = None if ctx.embedded else ctx.server_name
    fields = [
        ("server", address or "not running (this command opened the data folder)"),
        ("version", health["version"]),
        ("database", health["database"]),
        ("actions", health["actions"]),
        ("data", session["data_dir"]),
        ("user", f"{session['actor']} ({', '.join(session['roles'])})"),
        ("drift", f"{drift['rewritten']} rewritten, {drift['moved_aside']} moved aside" if drift else None),
    ]
    ctx.show({**session, "address": address, **health}, lambda _: ctx.output.fields(fields))


@config_app.command("show")
@offline
def show_config(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show all settings with their values and sources. Secrets are hidden.

    Example: cairn config show
    """
    from cairn.cli.settings import read_settings, setting_sources

    settings = read_settings(data_dir=data_dir)
    folder = server_location.data_folder(data_dir)
    sources = setting_sources(folder, has_data_dir_option=data_dir is not None)
    values: dict[str, Any] = json.loads(settings.model_dump_json())
    output = Output(as_json=as_json)
    if as_json:
        output.json({name: {"value": value, "source": sources.get(name, "default")} for name, value in values.items()})
        return
    rows = [(name, _plain(value), sources.get(name, "default")) for name, value in values.items()]
    output.table(("setting", "value", "source"), rows)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
