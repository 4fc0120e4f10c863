"""The models that a checkpoint can call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cairn.core.states import ExecutionMode
from cairn.definitions.enums import CreationMode
from cairn.definitions.execution_config import Agent, AgentConfig
from cairn.definitions.model import CheckpointDefinition
from cairn.runners.agents.roles import model_of, team_of
from cairn.runners.registry import needs_judge

ModelChoice = tuple[str | None, dict[str, Any]]  # a name, or None for the default model, and the settings


def model_choices(checkpoint: CheckpointDefinition) -> Iterator[ModelChoice]:
    """The models of agents, summaries, judges and questions. A model can occur more than once."""
    execution = checkpoint.execution
    config = execution.agent_config or AgentConfig()
    if execution.mode is ExecutionMode.AGENTIC:
        yield from (model_of(config, agent) for agent in _agents(config))
        if any(reference.use_summarization for reference in checkpoint.inputs.include_checkpoint_outputs):
            yield model_of(config)
    if needs_judge(checkpoint):
        yield model_of(config)
    script = execution.script_config
    if execution.mode is ExecutionMode.SCRIPT and script is not None and script.requires_user_input:
        yield None, {}


def _agents(config: AgentConfig) -> tuple[Agent, ...]:
    match config.creation_mode:
        case CreationMode.SINGLE:
            return (config.agent or Agent(),)
        case CreationMode.PREDEFINED:
            team = team_of(config.agents, config.discussion_mode)
            return (*team.members, team.final_agent)
        case CreationMode.META_AGENT:
            return (Agent(),)
