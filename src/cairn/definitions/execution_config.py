"""The `execution` section of a checkpoint: its mode, and the configuration of that mode."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from cairn.core.states import ExecutionMode, OnFailure
from cairn.definitions.enums import CreationMode, DiscussionMode, FieldType, FormFormat
from cairn.definitions.frozen_model import Count, DefinitionModel, JsonSchema


class Agent(DefinitionModel):
    agent_id: str | None = None
    library_agent: str | None = None
    name: str | None = None
    role: str | None = None
    system_prompt: str | None = None
    task_prompt: str | None = None
    tools: tuple[str, ...] | None = None
    model: str | None = None
    model_settings: dict[str, Any] = Field(default_factory=dict)


class AgentConfig(DefinitionModel):
    creation_mode: CreationMode = CreationMode.SINGLE
    agent: Agent | None = None
    agents: tuple[Agent, ...] = ()
    meta_agent_instructions: str | None = None
    max_agents: Count = 5
    discussion_mode: DiscussionMode = DiscussionMode.SEQUENTIAL
    max_turns: Count = 6
    show_conversation: bool = True
    tools: tuple[str, ...] = ()
    model: str | None = None
    model_settings: dict[str, Any] = Field(default_factory=dict)

    @property
    def all_agents(self) -> tuple[Agent, ...]:
        return (self.agent, *self.agents) if self.agent is not None else self.agents


class ScriptLimits(DefinitionModel):
    """Resource limits of a script. None: the limit from the settings."""

    memory_mb: Count | None = None
    processes: Count | None = None
    open_files: Count | None = None
    file_size_mb: Count | None = None


class ScriptConfig(DefinitionModel):
    script_path: str | None = None
    script_source: str | None = None
    entry_function: str = "main"
    requires_user_input: bool = False
    user_input_prompt: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    parameters_schema: JsonSchema | None = None
    signature: JsonSchema | None = Field(default=None, exclude=True)  # of the entry function, if no schema is declared
    python: str | None = None
    limits: ScriptLimits = ScriptLimits()
    network: bool = False

    @property
    def form_schema(self) -> JsonSchema | None:
        """The schema of the parameters that people are asked for."""
        return self.parameters_schema if self.parameters_schema is not None else self.signature


class FunctionConfig(DefinitionModel):
    function: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class InputField(DefinitionModel):
    field_id: str | None = None
    name: str
    type: FieldType = FieldType.TEXT
    label: str = ""
    required: bool = True
    default: Any = None
    validation: str | dict[str, Any] | None = None


class HumanOnlyConfig(DefinitionModel):
    instructions: str
    input_fields: tuple[InputField, ...] = ()
    save_as_artifact: bool = False
    artifact_name: str | None = None
    artifact_format: FormFormat = FormFormat.JSON


class RetryConfig(DefinitionModel):
    max_auto_retries: Count = 0
    on_failure: OnFailure = OnFailure.PAUSE_PIPELINE
    retry_delay_seconds: Count = 5


class TimeoutConfig(DefinitionModel):
    enabled: bool = False
    timeout_minutes: int | float | None = None
    on_timeout: OnFailure = OnFailure.PAUSE_PIPELINE


class ExecutionConfig(DefinitionModel):
    mode: ExecutionMode
    agent_config: AgentConfig | None = None
    script_config: ScriptConfig | None = None
    function_config: FunctionConfig | None = None
    human_only_config: HumanOnlyConfig | None = None
    retry_config: RetryConfig = RetryConfig()
    timeout_config: TimeoutConfig = TimeoutConfig()
