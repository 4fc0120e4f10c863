"""A meta-agent decides which agents work on a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cairn.definitions.execution_config import Agent, AgentConfig
from cairn.runners.agents.answer_schema import AnswerSchema
from cairn.runners.agents.answers import AgentAnswer
from cairn.runners.mismatches import Mismatch, check

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 20_000}
_NAME: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 60}


def shape_of(config: AgentConfig) -> AnswerSchema:
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
    return AnswerSchema(schema, "The agents who are to work on the task.")


def check_design(config: AgentConfig, answer: AgentAnswer) -> list[Mismatch]:
    found = check(shape_of(config).schema, answer.value, "agents")
    if found:
        return found
    names = [one["name"].strip().casefold() for one in _agents(answer)]
    twice = sorted({name for name in names if names.count(name) > 1})
    return [Mismatch("agents", f"two agents are called {name!r}: give each a name of its own") for name in twice]


def designed(config: AgentConfig, answer: AgentAnswer) -> tuple[Agent, ...]:
    """The agents; what cannot be read of the design leaves one who does all of it."""
    if check_design(config, answer):
        return (Agent(name="Agent", role="You do the task.", tools=config.tools),)
    return tuple(Agent(**{**one, "name": one["name"].strip()}) for one in _agents(answer))


def _agents(answer: AgentAnswer) -> Sequence[Mapping[str, Any]]:
    return cast("Sequence[Mapping[str, Any]]", answer.value["agents"])
