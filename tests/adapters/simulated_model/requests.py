"""Conversations with the simulated model, in the form in which agents send requests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from cairn.adapters.simulated_model import SimulatedModelFactory
from cairn.ports.models import ModelCallContext

Json = dict[str, Any]
SYSTEM = "You are Triage. You sort tickets."
TICKET = {
    "ticket_id": "T-1042",
    "customer": "ACME",
    "email": "ops@acme.example",
    "text": "The invoice export has been broken since Monday. It is urgent, the month ends on Friday.",
    "amount": 129.5,
}
INPUT = f"=== INPUT ===\n```json\n{json.dumps(TICKET)}\n```\n"
TASK = "=== YOUR TASK ===\nSort the ticket and describe its topic.\n"


def tool(name: str, properties: Mapping[str, Any], *required: str, description: str = "") -> ToolDefinition:
    schema = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolDefinition(name=name, description=description, parameters_json_schema=schema)


TEXT: Json = {"type": "string"}
WRITE = tool("write_file", {"path": TEXT, "content": TEXT}, "path", "content")
PROPOSE = tool(
    "propose_action",
    {
        "operation_type": {"type": "string", "enum": ["refund", "send_email"]},
        "parameters": {"type": "object"},
        "reasoning": TEXT,
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "risk_level": {"enum": ["low", "medium", "high"]},
    },
    "operation_type",
    "parameters",
    "reasoning",
    "confidence",
)
REWORK = tool("request_rework", {"checkpoint": {"enum": ["draft"]}, "prompt": TEXT, "reason": TEXT}, "checkpoint")
ASK = tool("ask_human", {"question": TEXT}, "question")
RUN = tool("code_execution", {"code": TEXT}, "code")
SEARCH = tool("web_search", {"query": TEXT}, "query")


@dataclass
class SimulatedConversation:
    model: Model
    system: str = SYSTEM
    tools: Sequence[ToolDefinition] = ()
    schema: Any = None
    messages: list[ModelMessage] = field(default_factory=list[Any])

    @property
    def parameters(self) -> ModelRequestParameters:
        if self.schema is None:
            return ModelRequestParameters(function_tools=list(self.tools))
        output = ToolDefinition(name="final_result", parameters_json_schema=self.schema, kind="output")
        return ModelRequestParameters(
            function_tools=list(self.tools), output_tools=[output], output_mode="tool", allow_text_output=False
        )

    async def send(self, prompt: str) -> ModelResponse:
        parts = [] if self.messages else [SystemPromptPart(self.system)]
        self.messages.append(ModelRequest(parts=[*parts, UserPromptPart(prompt)]))
        return await self._request_reply()

    async def _request_reply(self) -> ModelResponse:
        async with model_request_stream(
            self.model, list(self.messages), model_request_parameters=self.parameters
        ) as stream:
            async for _ in stream:
                pass
        response = stream.get()
        self.messages.append(response)
        return response

    async def return_tool_results(self, response: ModelResponse, text: str = "Done.") -> ModelResponse:
        """Send the same result for every tool call; return the next reply."""
        parts = [ToolReturnPart(call.tool_name, text, tool_call_id=call.tool_call_id) for call in response.tool_calls]
        self.messages.append(ModelRequest(parts=parts))
        return await self._request_reply()


def converse(
    *tools: ToolDefinition,
    name: str = "simulated:default",
    schema: Any = None,
    steps: Sequence[Json] = (),
    call_context: ModelCallContext | None = None,
    simulated: SimulatedModelFactory | None = None,
    system: str = SYSTEM,
) -> SimulatedConversation:
    model = (simulated or SimulatedModelFactory())(name, {"simulation": steps}, call_context or ModelCallContext())
    return SimulatedConversation(model, system, tools, schema)


def tool_calls(response: ModelResponse) -> list[tuple[str, Json]]:
    return [(call.tool_name, call.args_as_dict()) for call in response.tool_calls]


def output(response: ModelResponse) -> Any:
    ((name, arguments),) = tool_calls(response)
    assert name == "final_result"
    return arguments
