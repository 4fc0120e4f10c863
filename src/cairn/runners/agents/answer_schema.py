"""The parts of a model request besides its messages: tools and the schema of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from cairn.runners.agents.toolbox import Tool, Toolbox

FINAL_RESULT = "final_result"  # the tool that a model calls to return an object


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The JSON Schema of an answer that is an object."""

    schema: dict[str, Any]
    description: str = "The complete result."


def request_parameters(tools: Toolbox, answer: AnswerSchema | None) -> ModelRequestParameters:
    """Tools and output settings. Structured output is native if the provider supports it."""
    functions = [_definition(tool) for tool in tools.tools.values()]
    if answer is None:
        return ModelRequestParameters(function_tools=functions, native_tools=list(tools.native))
    return ModelRequestParameters(
        function_tools=functions,
        native_tools=list(tools.native),
        output_mode="auto",
        output_tools=[
            ToolDefinition(
                name=FINAL_RESULT, parameters_json_schema=answer.schema, description=answer.description, kind="output"
            )
        ],
        output_object=OutputObjectDefinition(answer.schema, FINAL_RESULT, answer.description),
        allow_text_output=False,
    )


def _definition(tool: Tool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name,
        parameters_json_schema=tool.parameters,
        description=tool.description,
        kind="function" if tool.use is not None else "external",
    )
