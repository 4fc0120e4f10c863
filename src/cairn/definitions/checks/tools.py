"""Check that the tool servers (MCP) that agents use exist. The schema checks the names of other tools."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cairn.definitions.findings import Finding
from cairn.definitions.outline import CheckpointOutline, DefinitionOutline, unknown_server
from cairn.definitions.raw_document import objects, texts

_AGENTS = ("execution", "agent_config")
_MCP = "mcp:"


def check_tools(outline: DefinitionOutline, servers: Collection[str]) -> Iterator[Finding]:
    for checkpoint in outline.checkpoints:
        for path, name in _tools(checkpoint):
            server = name.removeprefix(_MCP).partition("/")[0]
            if name.startswith(_MCP) and server not in servers:
                yield Finding(checkpoint.pointer(*path), unknown_server(server, servers))


def _tools(checkpoint: CheckpointOutline) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every tool of an agent, with its path."""
    holders: list[tuple[str | int, ...]] = [_AGENTS, (*_AGENTS, "agent")]
    for holder in holders:
        for index, name in texts(checkpoint.document, *(str(part) for part in holder), "tools"):
            yield (*holder, "tools", index), name
    for number, agent in objects(checkpoint.document, *_AGENTS, "agents"):
        for index, name in texts(agent, "tools"):
            yield (*_AGENTS, "agents", number, "tools", index), name
