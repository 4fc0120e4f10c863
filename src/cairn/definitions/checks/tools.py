"""Tools that agents name: each is there. That the names are ones of tools is a matter of shape."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cairn.definitions.findings import Finding
from cairn.definitions.outline import CheckpointOutline, DefinitionOutline, unknown_name
from cairn.definitions.raw_document import objects, texts

_AGENTS = ("execution", "agent_config")
_MCP = "mcp:"


def check_tools(outline: DefinitionOutline, servers: Collection[str]) -> Iterator[Finding]:
    """`servers`: of tools (MCP), that the settings name."""
    for step in outline.checkpoints:
        for way, name in _named(step):
            server = name.removeprefix(_MCP).partition("/")[0]
            if name.startswith(_MCP) and server not in servers:
                message = unknown_name("MCP server", server, sorted(servers))
                yield Finding(step.pointer(*way), f"{message}: an admin names servers in the settings (mcp_servers)")


def _named(step: CheckpointOutline) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every tool that is named, with its place."""
    holders: list[tuple[str | int, ...]] = [_AGENTS, (*_AGENTS, "agent")]
    for holder in holders:
        for at, name in texts(step.document, *(str(part) for part in holder), "tools"):
            yield (*holder, "tools", at), name
    for number, agent in objects(step.document, *_AGENTS, "agents"):
        for at, name in texts(agent, "tools"):
            yield (*_AGENTS, "agents", number, "tools", at), name
