"""Pipelines that come with Cairn."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.client import Answer
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.output import tell
from cairn.cli.references import UnknownReference

templates_app = group("List and use pipeline templates.")
TemplateName = Annotated[str, typer.Argument(metavar="NAME", help="Name as listed.")]


@templates_app.command("list")
@online("checks")
async def list_templates(
    ctx: CliContext, name: Annotated[str | None, typer.Argument(metavar="NAME", help="Print this template.")] = None
) -> None:
    """List the built-in templates, or print one.

    Example: cairn templates text-report > pipeline.yaml
    """
    if name is not None:
        ctx.show(await _find(ctx, name), lambda one: ctx.screen.raw(one["text"]))
        return
    found = await ctx.client.list_templates()
    rows = [(each["name"], each["title"], ", ".join(each["uses"]), each["description"]) for each in found["items"]]
    ctx.show(found, lambda _: ctx.screen.table(("name", "title", "uses", "description"), rows))


@templates_app.command("show")
@online("checks")
async def show_template(ctx: CliContext, name: TemplateName) -> None:
    """Print a template as a definition to edit and apply.

    Example: cairn templates show ticket-triage > pipeline.yaml
    """
    ctx.show(await _find(ctx, name), lambda one: ctx.screen.raw(one["text"]))


@templates_app.command("use")
@online("saves")
async def use_template(ctx: CliContext, name: TemplateName) -> None:
    """Create a pipeline from a template.

    Example: cairn templates use ticket-triage
    """
    from cairn.documents import encode_json

    await _find(ctx, name)
    made = await ctx.client.create_pipeline(encode_json({"template": name}), "application/json")
    ctx.show(made, lambda one: ctx.screen.line(f"{one['pipeline_name']}: created  {one['pipeline_id']}"))
    tell(f'Start it with: cairn run "{made["pipeline_name"]}"')


async def _find(ctx: CliContext, name: str) -> Answer:
    found = await ctx.client.list_templates()
    named = [each for each in found["items"] if each["name"] == name]
    if not named:
        raise UnknownReference("template", name, f"There are: {', '.join(each['name'] for each in found['items'])}.")
    return named[0]
