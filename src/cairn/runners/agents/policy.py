"""What agents may do here: the settings' word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cairn.ports import ProcessLimits, SandboxLevel


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of tools that the settings name: a program that is started, or an address."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 60.0  # that a call may take


@dataclass(frozen=True, slots=True)
class SearchPolicy:
    """How agents search the web."""

    way: str = "off"  # native: by the provider's own tool; backend: at an address; off: not at all
    url: str | None = None  # that takes `q` and answers with JSON, as SearXNG does
    key: Callable[[], str | None] = lambda: None  # for its header
    results: int = 8


@dataclass(frozen=True, slots=True)
class AgentPolicy:
    """As an admin has set them."""

    code_level: SandboxLevel = SandboxLevel.BUBBLEWRAP  # weaker is refused
    code_timeout_seconds: float = 60.0  # of one piece of code
    code_bounds: ProcessLimits = field(default_factory=ProcessLimits)
    mcp_servers: Mapping[str, McpServer] = field(default_factory=dict[str, McpServer])
    secret: Callable[[str], str | None] = lambda _: None  # by its name, as `secret:NAME` in what a server is given
    search: SearchPolicy = field(default_factory=SearchPolicy)
