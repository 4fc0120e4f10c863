"""Commands for the built-in pipeline templates."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.output import print_status
from cairn.cli.references import UnknownReference

templates_app = group("List and use pipeline templates.")
TemplateName = Annotated[str, typer.Argument(metavar="NAME", help="Name as listed.")]


@templates_app.command("list")
@online("optional")
async def list_templates(
    ctx: CliContext, name: Annotated[str | None, typer.Argument(metavar="NAME", help="Print this template.")] = None
) -> None:
    """List the built-in templates, or print one.

    Example: cairn templates text-report > pipeline.yaml
    """
    if name is not None:
        ctx.show(await _find(ctx, name), lambda template: ctx.output.raw(template["text"]))
        return
    page = await ctx.client.list_templates()
    rows = [
        (template["name"], template["title"], ", ".join(template["uses"]), template["description"])
        for template in page["items"]
    ]
    ctx.show(page, lambda _: ctx.output.table(("name", "title", "uses", "description"), rows))


@templates_app.command("show")
@online("optional")
async def show_template(ctx: CliContext, name: TemplateName) -> None:
    """Print a template as a definition to edit and apply.

    Example: cairn templates show ticket-triage > pipeline.yaml
    """
    ctx.show(await _find(ctx, name), lambda template: ctx.output.raw(template["text"]))


@templates_app.command("use")
@online("write")
async def use_template(ctx: CliContext, name: TemplateName) -> None:
    """Create a pipeline from a template.

    Example: cairn templates use ticket-triage
    """
    from cairn.documents import encode_json

    await _find(ctx, name)
    created = await ctx.client.create_pipeline(encode_json({"template": name}), "application/json")
    ctx.show(
        created, lambda pipeline: ctx.output.line(f"{pipeline['pipeline_name']}: created ({pipeline['pipeline_id']})")
    )
    print_status(f'Start it with: cairn run "{created["pipeline_name"]}"')


async def _find(ctx: CliContext, name: str) -> JsonObject:
    page = await ctx.client.list_templates()
    matches = [template for template in page["items"] if template["name"] == name]
    if not matches:
        raise UnknownReference(
            "template", name, f"Available: {', '.join(template['name'] for template in page['items'])}."
        )
    return matches[0]
