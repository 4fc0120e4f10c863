"""The policy for agents on this server, from the settings."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from cairn.documents import digest
from cairn.ports import ProcessLimits, SandboxLevel
from cairn.ports.tools import NoToolGrants, ToolRegistry


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server: a command to start, or a URL."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout_seconds: float = 60.0  # for one call
    is_stateful: bool = False  # calls depend on earlier calls in the same session, so they can't wait for approval

    @property
    def address(self) -> str:
        """The command with its arguments, or the URL."""
        return self.url if self.url is not None else shlex.join((self.command or "", *self.args))

    @property
    def digest(self) -> str:
        """Of everything that selects the server. Secrets count by name, so that a new value changes nothing."""
        return digest(
            {
                "command": self.command,
                "args": list(self.args),
                "env": dict(self.env),
                "url": self.url,
                "headers": dict(self.headers),
            }
        )


class McpSecrets(Protocol):
    """Resolves `secret:NAME` in the settings of MCP servers."""

    def __call__(self, name: str, *, server: str, url: str | None, pipeline_id: str | None = None) -> str | None:
        """The secret, or None if it doesn't exist or this server may not use it.

        `pipeline_id`: None if an admin starts the server, or if the use was checked when a call was approved.
        """
        ...


def no_secrets(name: str, *, server: str, url: str | None, pipeline_id: str | None = None) -> None:  # noqa: ARG001
    return None


@dataclass(frozen=True, slots=True)
class SearchPolicy:
    """How agents search the web."""

    mode: str = "off"  # native: the provider's own search; backend: the search service at `url`; off
    url: str | None = None  # takes `q` and responds with JSON, as SearXNG does
    api_key: Callable[[], str | None] = lambda: None  # sent as a bearer token
    max_results: int = 8


@dataclass(frozen=True, slots=True)
class AgentPolicy:
    code_level: SandboxLevel = SandboxLevel.BUBBLEWRAP  # minimum level for code_execution
    code_timeout_seconds: float = 60.0  # for one program
    code_limits: ProcessLimits = field(default_factory=ProcessLimits)
    mcp_servers: Mapping[str, McpServer] = field(default_factory=dict[str, McpServer])
    get_secret: McpSecrets = no_secrets
    search: SearchPolicy = field(default_factory=SearchPolicy)
    tools: ToolRegistry = field(default_factory=NoToolGrants)
