"""Commands for the agent library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from cairn.cli.arguments import Limit, read_bytes
from cairn.cli.client import JsonObject
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.definition_files import JSON, YAML, DefinitionSource, files_in
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import local_time, print_status

agents_app = group("Manage the agent library.")
AgentName = Annotated[str, typer.Argument(metavar="NAME", help="Name as listed.")]


@agents_app.command("list")
@online("optional")
async def list_agents(
    ctx: CliContext,
    search: Annotated[str, typer.Argument(metavar="WORDS", help="Filter by words.")] = "",
    limit: Limit = 100,
) -> None:
    """List the agents that checkpoints can refer to.

    Example: cairn agents list ticket
    """
    page = await ctx.client.list_agents(search=search, limit=limit)
    rows = [
        (agent["name"], agent["title"], _source(agent), agent["used_count"] or "", _description(agent))
        for agent in page["items"]
    ]
    headings = ("name", "title", "source", "used by", "description")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No agents found."))


def _source(agent: JsonObject) -> str:
    return "Cairn" if agent["is_builtin"] else f"{agent['updated_by']}, revision {agent['revision']}"


def _description(agent: JsonObject) -> str:
    return agent["description"] or agent["role"] or ""


@agents_app.command("show")
@online("optional")
async def show_agent(ctx: CliContext, name: AgentName) -> None:
    """Print an agent as YAML, ready to edit and apply.

    Example: cairn agents show tester > tester.yaml
    """
    agent, text = await ctx.client.get_agent(name)
    ctx.show(agent, lambda _: ctx.output.raw(text))


@agents_app.command("history")
@online("optional")
async def list_agent_revisions(ctx: CliContext, name: AgentName, limit: Limit = 50) -> None:
    """List the revisions of an agent, newest first.

    Example: cairn agents history tester
    """
    page = await ctx.client.list_agent_revisions(name, limit=limit)
    rows = [
        (
            revision["revision"],
            local_time(revision["created_at"]),
            revision["created_by"],
            "saved" if revision["document"] else "deleted",
        )
        for revision in page["items"]
    ]
    headings, none = ("revision", "saved at", "saved by", "change"), f"{name} is built in and has no revisions."
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty=none))


@agents_app.command("apply")
@online("write")
async def apply_agents(
    ctx: CliContext,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Agents in YAML or JSON. Use - for stdin.")],
) -> None:
    """Create or update agents from files. Applying the same file again changes nothing.

    Example: cairn agents apply tester.yaml
    """
    saved = [await _apply(ctx, source) for name in files for source in _sources(name)]
    if ctx.output.as_json:
        ctx.output.json(saved)


def _sources(name: str) -> Iterator[DefinitionSource]:
    for file in files_in(name):
        yield DefinitionSource(file, read_bytes(file), JSON if file.endswith(".json") else YAML)


async def _apply(ctx: CliContext, source: DefinitionSource) -> JsonObject:
    try:
        saved = await ctx.client.put_agent(_name_in(source), source.text, source.media_type)
    except ProblemResponse as problem:
        if not problem.errors:
            raise
        raise CommandFailed(problem.code, problem.message, map(source.located, problem.errors)) from None
    if not ctx.output.as_json:
        for warning in saved["warnings"]:
            print_status(f"warning: {warning}")
        ctx.output.line(f"{saved['name']}: revision {saved['revision']}, {local_time(saved['updated_at'])}")
    return saved


def _name_in(source: DefinitionSource) -> str:
    from cairn.documents import DocumentError, decode_json, decode_yaml

    try:
        value = decode_json(source.text) if source.media_type == JSON else decode_yaml(source.text)[0]
    except DocumentError as error:
        finding = {"message": error.message, "line": error.line, "column": error.column}
        raise CommandFailed(
            ExitCode.FAILED, f"{source.file} is not valid YAML or JSON.", [source.located(finding)]
        ) from None
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or not name.strip():
        raise CommandFailed(ExitCode.FAILED, f"{source.file} does not name the agent. Add `name`.")
    return name


@agents_app.command("delete")
@online("write")
async def delete_agent(ctx: CliContext, name: AgentName) -> None:
    """Delete a saved agent. Refused while pipelines use it, unless a built-in agent has the same name.

    Example: cairn agents delete tester
    """
    await ctx.client.delete_agent(name)
    print_status(f"{name}: deleted")
