"""The built-in agents of the library. Each YAML file in this folder defines the agent of that name."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from cairn.definitions.library_agents import Library, LibraryAgent, read_agent
from cairn.documents import decode_yaml


@cache
def builtin_agents() -> Library:
    """The built-in agents by name."""
    entries = (entry for entry in files("cairn.definitions.agents").iterdir() if entry.name.endswith(".yaml"))
    agents = (_read(entry.read_text("utf-8")) for entry in sorted(entries, key=lambda entry: entry.name))
    return {agent.name: agent for agent in agents}


def _read(text: str) -> LibraryAgent:
    document, positions = decode_yaml(text)
    return read_agent(document, positions=positions)
