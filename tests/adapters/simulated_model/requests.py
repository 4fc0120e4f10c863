"""The simulated model, asked as an agent's turn asks it."""

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
TASK = "=== YOUR TASK ===\nSort the ticket and say what it is about.\n"


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
class Talk:
    """One conversation with it."""

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

    async def say(self, prompt: str) -> ModelResponse:
        parts = [] if self.messages else [SystemPromptPart(self.system)]
        self.messages.append(ModelRequest(parts=[*parts, UserPromptPart(prompt)]))
        return await self.go_on()

    async def go_on(self) -> ModelResponse:
        async with model_request_stream(
            self.model, list(self.messages), model_request_parameters=self.parameters
        ) as stream:
            async for _ in stream:
                pass
        response = stream.get()
        self.messages.append(response)
        return response

    async def answer(self, response: ModelResponse, text: str = "Done.") -> ModelResponse:
        """What the tools say, and what it says to that."""
        parts = [ToolReturnPart(call.tool_name, text, tool_call_id=call.tool_call_id) for call in response.tool_calls]
        self.messages.append(ModelRequest(parts=parts))
        return await self.go_on()


def talk(
    *tools: ToolDefinition,
    name: str = "simulated:default",
    schema: Any = None,
    steps: Sequence[Json] = (),
    call_context: ModelCallContext | None = None,
    simulated: SimulatedModelFactory | None = None,
    system: str = SYSTEM,
) -> Talk:
    model = (simulated or SimulatedModelFactory())(name, {"simulation": steps}, call_context or ModelCallContext())
    return Talk(model, system, tools, schema)


def uses(response: ModelResponse) -> list[tuple[str, Json]]:
    return [(call.tool_name, call.args_as_dict()) for call in response.tool_calls]


def output(response: ModelResponse) -> Any:
    ((name, given),) = uses(response)
    assert name == "final_result"
    return given
