"""Agents that come with the product. Each is a YAML file beside this one, named after the agent."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from cairn.definitions.library_agents import Library, LibraryAgent, read_agent
from cairn.documents import decode_yaml


@cache
def builtin_agents() -> Library:
    """All of them, by name."""
    found = (entry for entry in files("cairn.definitions.agents").iterdir() if entry.name.endswith(".yaml"))
    read = (_read(entry.read_text("utf-8")) for entry in sorted(found, key=lambda entry: entry.name))
    return {agent.name: agent for agent in read}


def _read(text: str) -> LibraryAgent:
    document, positions = decode_yaml(text)
    return read_agent(document, positions=positions)
