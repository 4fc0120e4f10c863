"""One tool, and those that one speaker has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from cairn.definitions.json_schema.validator import SchemaError, check_value
from cairn.documents import DocumentError, decode_json
from cairn.runners.prompt_layouts import fenced, one_line

if TYPE_CHECKING:
    from pydantic_ai.native_tools import AbstractNativeTool

LONGEST = 50_000  # characters of a result that a model is given
FAULTS = 5  # that one refusal names


class ToolError(Exception):
    """The tool does not do that; the words are for the model."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    parameters: dict[str, Any]  # JSON Schema of an object
    use: Callable[[dict[str, Any]], Awaitable[str]] | None = None  # None: it waits for others
    waits_for: str = ""  # rework, action or question
    check: Callable[[dict[str, Any]], None] | None = None  # Refusal if it cannot be waited for


@dataclass(frozen=True, slots=True)
class Toolbox:
    tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    native: tuple[AbstractNativeTool, ...] = ()  # that the provider itself has

    def with_tools(self, *tools: Tool) -> Toolbox:
        return Toolbox({**self.tools, **{tool.name: tool for tool in tools}}, self.native)

    def find(self, name: str) -> Tool:
        tool = self.tools.get(name)
        if tool is None:
            raise ToolError(f"There is no tool {name!r}. There are: {', '.join(self.tools) or 'none'}.")
        return tool


NO_TOOLS = Toolbox()


def arguments(tool: Tool, given: str | dict[str, Any] | None) -> dict[str, Any]:
    """What the model has called it with, if that fits."""
    try:
        value = decode_json(given or "{}") if isinstance(given, str | None) else given
    except DocumentError as error:
        raise ToolError(f"The arguments of {tool.name} are no JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ToolError(f"The arguments of {tool.name} are an object.")
    try:
        faults = check_value(tool.parameters, cast("Any", value))
    except SchemaError:  # of another program's tool: that checks by itself
        faults = []
    if faults:
        told = "; ".join(f"{path or 'arguments'}: {message}" for path, message in faults[:FAULTS])
        raise ToolError(f"The arguments of {tool.name} do not fit: {told}.")
    if tool.check is not None:
        tool.check(value)
    return cast("dict[str, Any]", value)


def as_data(title: str, content: str, language: str = "text") -> str:
    """A result that a model cannot take for anything else, cut where it is too long."""
    cut = ""
    if len(content) > LONGEST:
        cut = f"\nOf {len(content):,} characters these are the first {LONGEST:,}."
        content = content[:LONGEST]
    return f"{one_line(title)}:\n{fenced(content, language)}{cut}"
