"""What a model is asked for besides the messages: its tools, and the shape of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from cairn.runners.agents.toolbox import Tool, Toolbox

FINAL_RESULT = "final_result"  # the tool by which a model hands over an object


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """An object that is asked for."""

    schema: dict[str, Any]
    description: str = "The result, whole."


def parameters_of(tools: Toolbox, shape: AnswerSchema | None) -> ModelRequestParameters:
    """The provider's own way for objects is taken where it has one: by a tool, or by the form of its text."""
    functions = [_defined(tool) for tool in tools.tools.values()]
    if shape is None:
        return ModelRequestParameters(function_tools=functions, native_tools=list(tools.native))
    return ModelRequestParameters(
        function_tools=functions,
        native_tools=list(tools.native),
        output_mode="auto",
        output_tools=[
            ToolDefinition(
                name=FINAL_RESULT, parameters_json_schema=shape.schema, description=shape.description, kind="output"
            )
        ],
        output_object=OutputObjectDefinition(shape.schema, FINAL_RESULT, shape.description),
        allow_text_output=False,
    )


def _defined(tool: Tool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name,
        parameters_json_schema=tool.parameters,
        description=tool.description,
        kind="function" if tool.use is not None else "external",
    )
