"""Commands for tools of MCP servers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client.responses import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.output import Output, local_time

tools_app = group("Manage what tools of MCP servers may do without approval.")
ToolName = Annotated[str, typer.Argument(metavar="TOOL", help="Name as listed: mcp:SERVER/TOOL or web_search.")]


class Effect(StrEnum):
    READS = "reads"
    SENDS = "sends"
    CHANGES = "changes"


class State(StrEnum):
    NEW = "new"
    LISTED = "listed"
    CHANGED = "changed"
    UNSEEN = "unseen"


class ErrorOutcome(StrEnum):
    FAILED = "failed"
    UNKNOWN = "unknown"


@tools_app.command("list")
@online()
async def list_tools(
    ctx: CliContext,
    state: Annotated[State | None, typer.Option("--state", help="Only tools in this state.")] = None,
    limit: Limit = 100,
) -> None:
    """List the tools that servers offer and that pipelines use.

    Example: cairn tools list --state changed
    """
    page = await ctx.client.list_tools(state=state.value if state is not None else None, limit=limit)
    rows = [
        (tool["name"], tool["state"], tool["effect"], len(tool["used_by"]) or "", tool["server"] or "")
        for tool in page["items"]
    ]
    headings = ("name", "state", "effect", "pipelines", "server")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No tools found. Run: cairn tools discover"))


@tools_app.command("show")
@online()
async def show_tool(ctx: CliContext, name: ToolName) -> None:
    """Show a tool and what has changed since it was listed.

    Example: cairn tools show mcp:files/read_text_file
    """
    ctx.show(await ctx.client.get_tool(name), lambda tool: _print_tool(ctx.output, tool))


@tools_app.command("set")
@online("write")
async def list_tool(  # noqa: PLR0913, PLR0917 - one option for each part of a grant
    ctx: CliContext,
    name: ToolName,
    effect: Annotated[Effect, typer.Option("--effect", help="What a call does.")],
    hosts: Annotated[
        list[str] | None, typer.Option("--host", help="Host that a tool that sends may reach. Repeatable.")
    ] = None,
    url_argument: Annotated[
        str | None, typer.Option("--url-argument", metavar="NAME", help="Argument that contains the URL.")
    ] = None,
    may_skip_approval: Annotated[
        bool, typer.Option("--may-skip-approval", help="Allow checkpoints to set tool_approval to never.")
    ] = False,
    errors: Annotated[
        ErrorOutcome, typer.Option("--errors", help="Outcome of a call that returns an error.")
    ] = ErrorOutcome.UNKNOWN,
    pipelines: Annotated[
        list[str] | None,
        typer.Option("--pipeline", help="For web_search: pipeline that may use the provider's search. Repeatable."),
    ] = None,
    digest: Annotated[
        str | None, typer.Option("--digest", help="Fail if the tool has another digest. Default: the current one.")
    ] = None,
) -> None:
    """List the current version of a tool with its effect. Show the tool first, to see what it does.

    Example: cairn tools set mcp:files/read_text_file --effect reads
    """
    body: dict[str, Any] = {
        "effect": effect.value,
        "digest": digest or (await ctx.client.get_tool(name))["digest"],
        "hosts": hosts or [],
        "url_argument": url_argument,
        "may_skip_approval": may_skip_approval,
        "error_outcome": errors.value,
        "pipelines": [(await ctx.resolver.pipeline(name))["pipeline_id"] for name in pipelines or []],
    }
    tool = await ctx.client.put_tool(name, body)
    ctx.show(tool, lambda tool: ctx.output.line(f"{tool['name']}: {tool['state']}, {tool['effect']}"))


@tools_app.command("remove")
@online("write")
async def unlist_tool(ctx: CliContext, name: ToolName) -> None:
    """Remove a tool from the list. Its calls need approval from now on.

    Example: cairn tools remove mcp:files/read_text_file
    """
    await ctx.client.remove_tool(name)
    ctx.show({"name": name}, lambda tool: ctx.output.line(f"{tool['name']}: removed"))


@tools_app.command("discover")
@online("write")
async def discover_tools(ctx: CliContext) -> None:
    """Start all MCP servers and record their tools.

    Example: cairn tools discover
    """
    ctx.show(await ctx.client.discover_tools(), lambda found: _print_discovery(ctx.output, found))


def _print_discovery(output: Output, found: JsonObject) -> None:
    output.line(f"Tools found: {found['tools']}")
    for problem in found["problems"]:
        output.line(f"{problem['server']}: {problem['message']}")


def _print_tool(output: Output, tool: JsonObject) -> None:
    grant = tool["grant"]
    listed = f"{grant['effect']}, by {grant['updated_by']}, {local_time(grant['updated_at'])}" if grant else "no"
    output.fields(
        [
            ("name", tool["name"]),
            ("state", tool["state"]),
            ("effect", tool["effect"]),
            ("listed", listed),
            ("server", tool["server"] or "-"),
            ("digest", tool["digest"] or "-"),
            ("description", tool["description"] or "-"),
            ("used by", ", ".join(use["pipeline_name"] for use in tool["used_by"]) or "-"),
        ]
    )
    if tool["unpinned"]:
        output.line(tool["unpinned"])
    for change in tool["changes"]:
        output.line(f"{change['field']} was: {change['before']}")
        output.line(f"{change['field']} is:  {change['after']}")
