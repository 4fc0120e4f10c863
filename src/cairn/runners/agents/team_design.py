"""Let a meta-agent design the team that works on a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cairn.definitions.execution_config import Agent, AgentConfig
from cairn.runners.agents.answer_schema import AnswerSchema
from cairn.runners.agents.answers import AgentAnswer
from cairn.runners.mismatches import Mismatch, check

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 20_000}
_NAME: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 60}


def design_schema(config: AgentConfig) -> AnswerSchema:
    properties: dict[str, Any] = {"name": _NAME, "role": _TEXT, "system_prompt": _TEXT, "task_prompt": _TEXT}
    if config.tools:
        properties["tools"] = {"type": "array", "items": {"enum": list(config.tools)}, "uniqueItems": True}
    agent: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": ["name", "role", "system_prompt", "task_prompt"],
        "additionalProperties": False,
    }
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"agents": {"type": "array", "minItems": 1, "maxItems": config.max_agents, "items": agent}},
        "required": ["agents"],
        "additionalProperties": False,
    }
    return AnswerSchema(schema, "The agents that will work on the task.")


def check_design(config: AgentConfig, answer: AgentAnswer) -> list[Mismatch]:
    mismatches = check(design_schema(config).schema, answer.value, "agents")
    if mismatches:
        return mismatches
    names = [agent["name"].strip().casefold() for agent in _agents(answer)]
    repeated = sorted({name for name in names if names.count(name) > 1})
    return [Mismatch("agents", f"the name {name!r} is used twice: give each agent a unique name") for name in repeated]


def designed_agents(config: AgentConfig, answer: AgentAnswer) -> tuple[Agent, ...]:
    """The agents of the design. If the design is invalid, one agent does all of the work."""
    if check_design(config, answer):
        return (Agent(name="Agent", role="You do the task.", tools=config.tools),)
    return tuple(Agent(**{**agent, "name": agent["name"].strip()}) for agent in _agents(answer))


def _agents(answer: AgentAnswer) -> Sequence[Mapping[str, Any]]:
    return cast("Sequence[Mapping[str, Any]]", answer.value["agents"])
