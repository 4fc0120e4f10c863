"""A pipeline definition in its full form, as immutable typed values. Each document that passes the checks parses."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from pydantic import Field

from cairn.core.comparisons import Operator
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ExecutionMode, OnBlocker, OnFailure, OnInvalid
from cairn.definitions.enums import (
    ContentFormat,
    LoopKind,
    OnAgentFailure,
    OnInterrupt,
    OnLimit,
    PreviousVersionPoint,
    ReferencePoint,
    Strictness,
    ToolApproval,
    ValidationMode,
)
from cairn.definitions.execution_config import ExecutionConfig
from cairn.definitions.frozen_model import Count, DefinitionModel, JsonSchema
from cairn.definitions.script_files import ScriptFile, normalize_path


class RunTimeout(DefinitionModel):
    enabled: bool = False
    timeout_minutes: int | float | None = None
    on_timeout: OnFailure = OnFailure.FAIL_RUN


class PipelineConfig(DefinitionModel):
    auto_advance: bool = False
    timeout_config: RunTimeout = RunTimeout()


class RestartPolicy(DefinitionModel):
    require_second_pass: bool = False
    max_restarts: Count = 3


class Recovery(DefinitionModel):
    on_agent_failure: OnAgentFailure = OnAgentFailure.RETRY
    on_session_interrupt: OnInterrupt = OnInterrupt.RESUME_FROM_CHECKPOINT
    on_external_blocker: OnBlocker = OnBlocker.ESCALATE
    max_recovery_attempts: Count = 3


class BudgetLimits(DefinitionModel):
    max_cost_usd: int | float | None = None
    max_tokens: Count | None = None
    max_calls: Count | None = None


class BudgetDefinition(BudgetLimits):
    """The budget of each run, and of all runs of the pipeline in a calendar month."""

    per_month: BudgetLimits | None = None


class ActionDeclaration(DefinitionModel):
    """An operation that can be proposed. It only narrows a type of the catalogue with the same name."""

    parameters_schema: JsonSchema | None = Field(default=None, alias="schema")
    risk_level: RiskLevel | None = None
    description: str = ""
    title: str = ""  # a template
    hosts: tuple[str, ...] | None = None
    identity: tuple[str, ...] | None = None  # the parameters that make two actions the same; None: all
    amount: str | None = None  # the name of the parameter
    currency: str | None = None


class Dependencies(DefinitionModel):
    required_checkpoint_ids: tuple[str, ...] = ()  # keys


class OutputReference(DefinitionModel):
    checkpoint_id: str  # a key
    artifact_ids: tuple[str, ...] | None = None  # names; None: all
    use_summarization: bool = False


class Inputs(DefinitionModel):
    include_previous_version: bool = False
    include_checkpoint_outputs: tuple[OutputReference, ...] = ()


class HumanInteraction(DefinitionModel):
    requires_approval_to_start: bool = False
    requires_approval_to_complete: bool = False
    max_revision_iterations: Count = 3


class ArtifactDeclaration(DefinitionModel):
    artifact_id: str | None = None
    name: str
    format: str
    description: str = ""
    content_schema: dict[str, Any] | None = Field(default=None, alias="schema")


class ValidationConfig(DefinitionModel):
    enabled: bool = False
    validation_mode: ValidationMode | None = None
    schema_validation_strictness: Strictness = Strictness.STRICT
    custom_validation_prompt: str | None = None
    on_validation_failure: OnInvalid = OnInvalid.RETRY
    max_validation_retries: Count = 2


class OutputDefinition(DefinitionModel):
    artifacts: tuple[ArtifactDeclaration, ...] = ()
    validation: ValidationConfig = ValidationConfig()


class Example(DefinitionModel):
    input: dict[str, Any] | None = None
    output: dict[str, Any] | None = None


class InjectionPoints(DefinitionModel):
    previous_version_context: PreviousVersionPoint = PreviousVersionPoint.BEFORE_TASK_PROMPT
    checkpoint_references: ReferencePoint = ReferencePoint.BEFORE_TASK_PROMPT


class InjectionFormat(DefinitionModel):
    include_file_paths: bool = True
    include_file_contents: bool = True
    content_format: ContentFormat = ContentFormat.MARKDOWN


class Instructions(DefinitionModel):
    system_prompt: str | None = None
    task_prompt: str | None = None
    examples: tuple[Example, ...] = ()
    injection_points: InjectionPoints = InjectionPoints()
    injection_format: InjectionFormat = InjectionFormat()


class LoopCondition(DefinitionModel):
    kind: LoopKind
    script_path: str | None = None
    entry_function: str = "main"
    field: str | None = None
    operator: Operator = Operator.EQUAL
    value: Any = None


class Loop(DefinitionModel):
    until: LoopCondition
    max_iterations: Count = 10
    on_limit: OnLimit = OnLimit.FAIL


class CheckpointDefinition(DefinitionModel):
    key: str
    checkpoint_id: str | None = None
    checkpoint_name: str
    checkpoint_description: str = ""
    created_at: str | None = None
    updated_at: str | None = None
    stage: str | None = None
    dependencies: Dependencies = Dependencies()
    inputs: Inputs = Inputs()
    input_mapping: dict[str, str] = Field(default_factory=dict)
    input_schema: JsonSchema | None = None
    output_schema: JsonSchema | None = None
    execution: ExecutionConfig
    human_interaction: HumanInteraction = HumanInteraction()
    output: OutputDefinition = OutputDefinition()
    instructions: Instructions = Instructions()
    loop: Loop | None = None
    decides: bool = False
    tool_approval: ToolApproval = ToolApproval.ASK

    @property
    def needs(self) -> tuple[str, ...]:
        return self.dependencies.required_checkpoint_ids

    @property
    def stage_name(self) -> str:
        """The name of the stage. By default, a checkpoint is its own stage."""
        return self.stage or self.key

    @property
    def script_file(self) -> str | None:
        """The path of the script file, if there is one."""
        config = self.execution.script_config
        if self.execution.mode is not ExecutionMode.SCRIPT or config is None or config.script_path is None:
            return None
        return normalize_path(config.script_path)


class PipelineDefinition(DefinitionModel):
    pipeline_id: str | None = None
    pipeline_name: str
    pipeline_description: str = ""
    pipeline_definition_version: Count | None = None
    created_at: str | None = None
    updated_at: str | None = None
    original_prompt: str | None = None
    checkpoint_order: tuple[str, ...] = ()
    config: PipelineConfig = PipelineConfig()
    input_schema: JsonSchema | None = None
    actions: dict[str, ActionDeclaration] = Field(default_factory=dict)
    restart_policy: RestartPolicy = RestartPolicy()
    recovery: Recovery | None = None
    budget: BudgetDefinition | None = None
    scripts: dict[str, ScriptFile] = Field(default_factory=dict)
    checkpoints: tuple[CheckpointDefinition, ...] = ()

    @cached_property
    def by_key(self) -> dict[str, CheckpointDefinition]:
        return {checkpoint.key: checkpoint for checkpoint in self.checkpoints}

    @cached_property
    def by_id(self) -> dict[str | None, CheckpointDefinition]:
        return {checkpoint.checkpoint_id: checkpoint for checkpoint in self.checkpoints}

    @property
    def missing_scripts(self) -> list[tuple[int, str]]:
        """The positions of checkpoints whose script file is missing, each with the path of the file."""
        files = ((position, c.script_file) for position, c in enumerate(self.checkpoints))
        return [(position, path) for position, path in files if path is not None and path not in self.scripts]

    @cached_property
    def names_library_agents(self) -> bool:
        configs = (checkpoint.execution.agent_config for checkpoint in self.checkpoints)
        return any(agent.library_agent for config in configs if config is not None for agent in config.all_agents)

    def checkpoint(self, key: str) -> CheckpointDefinition:
        return self.by_key[key]
