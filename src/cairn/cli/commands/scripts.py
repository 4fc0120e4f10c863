"""Commands for single script files. `cairn apply` saves all scripts next to a definition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cairn.cli.arguments import PipelineName, read_bytes
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.output import file_size
from cairn.cli.rendering import print_warnings

scripts_app = group("Manage the script files of a pipeline.")
ScriptPath = Annotated[str, typer.Argument(metavar="PATH", help="Path in the scripts folder, with forward slashes.")]


@scripts_app.command("list")
@online()
async def list_scripts(ctx: CliContext, name: PipelineName) -> None:
    """List the script files of a pipeline. Includes the checkpoints that use them.

    Example: cairn scripts list "Sales report"
    """
    page = await ctx.client.list_scripts((await ctx.resolver.pipeline(name))["pipeline_id"])
    rows = [(script["path"], file_size(script["size_bytes"]), ", ".join(script["used_by"])) for script in page["items"]]
    empty = "No scripts found."
    ctx.show(page, lambda _: ctx.output.table(("path", "size", "used by"), rows, empty=empty))


@scripts_app.command("show")
@online()
async def show_script(ctx: CliContext, name: PipelineName, path: ScriptPath) -> None:
    """Print a script.

    Example: cairn scripts show "Sales report" check.py
    """
    pipeline_id = (await ctx.resolver.pipeline(name))["pipeline_id"]
    text = await ctx.client.get_script(pipeline_id, path)
    ctx.show({"path": path, "text": text}, lambda script: ctx.output.raw(script["text"]))


@scripts_app.command("put")
@online("write")
async def put_script(
    ctx: CliContext,
    name: PipelineName,
    file: Annotated[str, typer.Argument(metavar="FILE", help="File to read. Use - for stdin.")],
    path: Annotated[
        str | None, typer.Option("--path", help="Path in the scripts folder. Default: the file's name.")
    ] = None,
) -> None:
    """Write a script. A change creates a new revision of the definition.

    Example: cairn scripts put "Sales report" scripts/check.py
    """
    pipeline_id = (await ctx.resolver.pipeline(name))["pipeline_id"]
    saved = await ctx.client.put_script(pipeline_id, path or Path(file).name, read_bytes(file))
    ctx.show(saved, lambda script: ctx.output.line(f"{script['path']}: revision {script['revision']}"))
    print_warnings(saved)


@scripts_app.command("delete")
@online("write")
async def delete_script(ctx: CliContext, name: PipelineName, path: ScriptPath) -> None:
    """Delete a script that no checkpoint uses. Earlier revisions keep it.

    Example: cairn scripts delete "Sales report" check.py
    """
    pipeline_id = (await ctx.resolver.pipeline(name))["pipeline_id"]
    deleted = await ctx.client.delete_script(pipeline_id, path)
    ctx.show(deleted, lambda script: ctx.output.line(f"{script['path']}: deleted, revision {script['revision']}"))
