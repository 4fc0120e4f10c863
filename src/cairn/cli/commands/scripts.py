"""Script files of a pipeline, one by one; `apply` brings all that lie beside a definition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cairn.cli.arguments import PipelineName, read_bytes
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.output import size
from cairn.cli.rendering import warn

scripts_app = group("Manage the script files of a pipeline.")
ScriptPath = Annotated[str, typer.Argument(metavar="PATH", help="Path in the scripts folder, with forward slashes.")]


@scripts_app.command("list")
@online()
async def list_scripts(ctx: CliContext, name: PipelineName) -> None:
    """List the script files of a pipeline and the checkpoints that use them.

    Example: cairn scripts list "Sales report"
    """
    found = await ctx.client.list_scripts((await ctx.naming.pipeline(name))["pipeline_id"])
    rows = [(one["path"], size(one["size_bytes"]), ", ".join(one["used_by"])) for one in found["items"]]
    empty = "It has no scripts."
    ctx.show(found, lambda _: ctx.screen.table(("path", "size", "used by"), rows, empty=empty))


@scripts_app.command("show")
@online()
async def show_script(ctx: CliContext, name: PipelineName, path: ScriptPath) -> None:
    """Print a script.

    Example: cairn scripts show "Sales report" check.py
    """
    pipeline_id = (await ctx.naming.pipeline(name))["pipeline_id"]
    text = await ctx.client.get_script(pipeline_id, path)
    ctx.show({"path": path, "text": text}, lambda one: ctx.screen.raw(one["text"]))


@scripts_app.command("put")
@online("saves")
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
    pipeline_id = (await ctx.naming.pipeline(name))["pipeline_id"]
    saved = await ctx.client.put_script(pipeline_id, path or Path(file).name, read_bytes(file))
    ctx.show(saved, lambda one: ctx.screen.line(f"{one['path']}: revision {one['revision']}"))
    warn(saved)


@scripts_app.command("delete")
@online("saves")
async def delete_script(ctx: CliContext, name: PipelineName, path: ScriptPath) -> None:
    """Remove a script that no checkpoint uses. Earlier revisions keep it.

    Example: cairn scripts delete "Sales report" check.py
    """
    pipeline_id = (await ctx.naming.pipeline(name))["pipeline_id"]
    removed = await ctx.client.delete_script(pipeline_id, path)
    ctx.show(removed, lambda one: ctx.screen.line(f"{one['path']}: removed, revision {one['revision']}"))
