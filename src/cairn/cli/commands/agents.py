"""The agent library: listed, shown, saved, removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from cairn.cli.arguments import Limit, read_bytes
from cairn.cli.client import Answer
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.definition_files import JSON, YAML, DefinitionSource, files_in
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import moment, tell

agents_app = group("Manage the agent library.")
AgentName = Annotated[str, typer.Argument(metavar="NAME", help="Name as listed.")]


@agents_app.command("list")
@online("checks")
async def list_agents(
    ctx: CliContext,
    search: Annotated[str, typer.Argument(metavar="WORDS", help="Filter by words.")] = "",
    limit: Limit = 100,
) -> None:
    """List the agents that checkpoints can refer to.

    Example: cairn agents list ticket
    """
    found = await ctx.client.list_agents(search=search, most=limit)
    rows = [(one["name"], one["title"], _from(one), one["used_count"] or "", _about(one)) for one in found["items"]]
    heads = ("name", "title", "from", "used by", "description")
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty="There is no such agent."))


def _from(agent: Answer) -> str:
    return "Cairn" if agent["is_ready_made"] else f"{agent['updated_by']}, revision {agent['revision']}"


def _about(agent: Answer) -> str:
    return agent["description"] or agent["role"] or ""


@agents_app.command("show")
@online("checks")
async def show_agent(ctx: CliContext, name: AgentName) -> None:
    """Print an agent as YAML, ready to edit and apply.

    Example: cairn agents show tester > tester.yaml
    """
    shown, text = await ctx.client.get_agent(name)
    ctx.show(shown, lambda _: ctx.screen.raw(text))


@agents_app.command("history")
@online("checks")
async def list_agent_revisions(ctx: CliContext, name: AgentName, limit: Limit = 50) -> None:
    """List an agent's revisions, newest first, with author and time.

    Example: cairn agents history tester
    """
    found = await ctx.client.list_agent_revisions(name, most=limit)
    rows = [
        (one["revision"], moment(one["changed_at"]), one["changed_by"], "saved" if one["document"] else "removed")
        for one in found["items"]
    ]
    heads, none = ("revision", "when", "who", ""), f"{name} is as it came with Cairn."
    ctx.show(found, lambda _: ctx.screen.table(heads, rows, empty=none))


@agents_app.command("apply")
@online("saves")
async def apply_agents(
    ctx: CliContext,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Agents in YAML or JSON. Use - for stdin.")],
) -> None:
    """Create or update agents from files. Applying the same file again changes nothing.

    Example: cairn agents apply tester.yaml
    """
    answers = [await _apply(ctx, source) for name in files for source in _sources(name)]
    if ctx.screen.as_json:
        ctx.screen.answer(answers)


def _sources(name: str) -> Iterator[DefinitionSource]:
    for file in files_in(name):
        yield DefinitionSource(file, read_bytes(file), JSON if file.endswith(".json") else YAML)


async def _apply(ctx: CliContext, source: DefinitionSource) -> Answer:
    try:
        saved = await ctx.client.put_agent(_name_in(source), source.text, source.media_type)
    except ProblemResponse as problem:
        if not problem.errors:
            raise
        raise CommandFailed(problem.code, problem.message, map(source.placed, problem.errors)) from None
    if not ctx.screen.as_json:
        for warning in saved["warnings"]:
            tell(f"warning: {warning}")
        ctx.screen.line(f"{saved['name']}: revision {saved['revision']}, {moment(saved['updated_at'])}")
    return saved


def _name_in(source: DefinitionSource) -> str:
    from cairn.documents import DocumentError, decode_json, decode_yaml

    try:
        value = decode_json(source.text) if source.media_type == JSON else decode_yaml(source.text)[0]
    except DocumentError as error:
        place = {"message": error.message, "line": error.line, "column": error.column}
        raise CommandFailed(ExitCode.REFUSED, f"{source.file} cannot be read.", [source.placed(place)]) from None
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or not name.strip():
        raise CommandFailed(ExitCode.REFUSED, f"{source.file} does not say which agent it is: add `name`.")
    return name


@agents_app.command("remove")
@online("saves")
async def remove_agent(ctx: CliContext, name: AgentName) -> None:
    """Remove a saved agent. Refused while pipelines use it, unless a built-in agent has the same name.

    Example: cairn agents remove tester
    """
    await ctx.client.remove_agent(name)
    tell(f"{name} is removed.")
