"""Resolve the library agents that a definition refers to."""

from __future__ import annotations

from cairn.definitions.enums import CreationMode
from cairn.definitions.execution_config import Agent, AgentConfig
from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.library_agents import Library, LibraryAgent
from cairn.definitions.model import CheckpointDefinition, PipelineDefinition


def uses_library(definition: PipelineDefinition) -> bool:
    """Whether the definition refers to any library agent."""
    return definition.names_library_agents


def agents_of(checkpoint: CheckpointDefinition) -> tuple[Agent, ...]:
    config = checkpoint.execution.agent_config
    return config.all_agents if config is not None else ()


def resolve(definition: PipelineDefinition, library: Library) -> PipelineDefinition:
    """Merge library agents into the definition. Unknown agents stay unresolved, and the runner reports them."""
    if not uses_library(definition):
        return definition
    fields = {name: getattr(definition, name) for name in type(definition).model_fields}
    checkpoints = tuple(resolve_checkpoint(checkpoint, library) for checkpoint in definition.checkpoints)
    return PipelineDefinition.model_construct(
        _fields_set=definition.model_fields_set, **{**fields, "checkpoints": checkpoints}
    )


def resolve_checkpoint(checkpoint: CheckpointDefinition, library: Library) -> CheckpointDefinition:
    config = checkpoint.execution.agent_config
    if config is None or not any(agent.library_agent for agent in agents_of(checkpoint)):
        return checkpoint
    only_agent = _single_library_agent(config, library)
    resolved = config.model_copy(
        update={
            "agent": _merge(config.agent, library) if config.agent is not None else None,
            "agents": tuple(_merge(agent, library) for agent in config.agents),
        }
    )
    execution = checkpoint.execution.model_copy(update={"agent_config": resolved})
    schemas = dict[str, JsonSchema | None]()
    if only_agent is not None and checkpoint.input_schema is None:
        schemas["input_schema"] = only_agent.input_schema
    if only_agent is not None and checkpoint.output_schema is None and _has_one_untyped_json_artifact(checkpoint):
        schemas["output_schema"] = only_agent.output_schema
    return checkpoint.model_copy(update={"execution": execution, **schemas})


def _single_library_agent(config: AgentConfig, library: Library) -> LibraryAgent | None:
    """The library agent, if it executes the checkpoint alone. The checkpoint then gets its schemas."""
    if config.creation_mode is not CreationMode.SINGLE or config.agent is None:
        return None
    return library.get(config.agent.library_agent or "")


def _has_one_untyped_json_artifact(checkpoint: CheckpointDefinition) -> bool:
    artifacts = [artifact for artifact in checkpoint.output.artifacts if artifact.format == "json"]
    return len(artifacts) == 1 and artifacts[0].content_schema is None


def _merge(agent: Agent, library: Library) -> Agent:
    """The checkpoint's settings override those of the library agent."""
    base = library.get(agent.library_agent or "")
    if base is None:
        return agent
    return Agent(
        agent_id=agent.agent_id,
        name=agent.name or base.display_name,
        role=agent.role or base.role,
        system_prompt=base.system_prompt if agent.system_prompt is None else agent.system_prompt,
        task_prompt=agent.task_prompt or base.task_prompt,
        tools=base.tools if agent.tools is None else agent.tools,
        model=agent.model or base.model,
        model_settings=agent.model_settings or base.model_settings,
    )
