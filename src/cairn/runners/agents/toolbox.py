"""Tools, and the set of tools that an agent has in a turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from cairn.definitions.json_schema.validator import SchemaError, check_value
from cairn.documents import DocumentError, decode_json
from cairn.runners.prompt_layouts import fenced, one_line

if TYPE_CHECKING:
    from pydantic_ai.native_tools import AbstractNativeTool

    from cairn.ports.tools import OfferedTool

MAX_RESULT_CHARACTERS = 50_000
MAX_ERRORS = 5  # named in one message


class ToolError(Exception):
    """A tool call failed. The model receives the message."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of a tool call."""

    text: str
    is_failed: bool = False
    metadata: Mapping[str, Any] | None = None  # saved with the message, not shown to the model


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    parameters: dict[str, Any]  # JSON Schema of an object
    # None: the result comes from outside this process.
    use: Callable[[dict[str, Any]], Awaitable[str | ToolAnswer]] | None = None
    waits_for: str = ""  # rework, action or question
    check: Callable[[dict[str, Any]], None] | None = None  # raises ToolError if a deferred call is invalid
    offered: OfferedTool | None = None  # if another program offers the tool
    is_held: Callable[[dict[str, Any]], Awaitable[bool]] | None = None  # whether a call needs approval first

    @property
    def full_name(self) -> str:
        """The name in definitions and rules."""
        return self.offered.name if self.offered is not None else self.name


@dataclass(frozen=True, slots=True)
class Toolbox:
    tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    native: tuple[AbstractNativeTool, ...] = ()  # tools that the provider runs

    def find(self, name: str) -> Tool:
        tool = self.tools.get(name)
        if tool is None:
            raise ToolError(f"Unknown tool {name!r}. Available tools: {', '.join(self.tools) or 'none'}.")
        return tool

    @classmethod
    def of(cls, tools: Sequence[Tool], native: tuple[AbstractNativeTool, ...] = ()) -> Toolbox:
        """Raises ValueError if the model would know two tools by one name."""
        by_name: dict[str, Tool] = {}
        for tool in tools:
            if (other := by_name.setdefault(tool.name, tool)) is not tool:
                raise ValueError(
                    f"{other.full_name} and {tool.full_name} would both have the name {tool.name} for the model. Rename"
                    " a server in mcp_servers, or list fewer of its tools in the checkpoint."
                )
        return cls(by_name, native)


NO_TOOLS = Toolbox()


def parse_arguments(tool: Tool, arguments: str | dict[str, Any] | None) -> dict[str, Any]:
    """The arguments of a tool call. Raises ToolError if they are invalid."""
    try:
        value = decode_json(arguments or "{}") if isinstance(arguments, str | None) else arguments
    except DocumentError as error:
        raise ToolError(f"The arguments of {tool.name} are not valid JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ToolError(f"The arguments of {tool.name} must be an object.")
    try:
        errors = check_value(tool.parameters, cast("Any", value))
    except SchemaError:  # the schema of an MCP tool is unusable; its server checks the arguments
        errors = []
    if errors:
        message = "; ".join(f"{path}: {text}" if path else text for path, text in errors[:MAX_ERRORS])
        raise ToolError(f"Invalid arguments of {tool.name}: {message}.")
    if tool.check is not None:
        tool.check(value)
    return cast("dict[str, Any]", value)


def as_data(title: str, content: str, language: str = "text") -> str:
    """Fence a tool result, so that a model can't mistake it for instructions. Long results are truncated."""
    cut = ""
    if len(content) > MAX_RESULT_CHARACTERS:
        cut = f"\nCut: these are the first {MAX_RESULT_CHARACTERS:,} of {len(content):,} characters."
        content = content[:MAX_RESULT_CHARACTERS]
    return f"{one_line(title)}:\n{fenced(content, language)}{cut}"
