"""Pipeline definitions: load and check them, assign ids, compare them, and compile them for a run."""

from cairn.definitions.agent_resolution import resolve, uses_library
from cairn.definitions.agents import builtin_agents
from cairn.definitions.authoring.expansion import expand
from cairn.definitions.authoring.patches import apply_patch
from cairn.definitions.authoring.yaml_export import to_yaml
from cairn.definitions.diff import Change, ChangeKind, diff, text_diff
from cairn.definitions.execution_config import InputField
from cairn.definitions.findings import AgentError, DefinitionError, DefinitionLimits, Finding, RulesError, Severity
from cairn.definitions.frozen_model import Document, JsonSchema
from cairn.definitions.ids import assign_ids, is_structural, stamp, structure, without_ids
from cairn.definitions.json_schema.validator import (
    SchemaError,
    SchemaViolation,
    check_value,
    compile_schema,
    fill_defaults,
)
from cairn.definitions.library_agents import Library, LibraryAgent, agent_schema, read_agent
from cairn.definitions.loader import LoadedDefinition, check, load
from cairn.definitions.model import ArtifactDeclaration, CheckpointDefinition, PipelineDefinition
from cairn.definitions.published_schemas import authoring_schema, full_schema
from cairn.definitions.run_plan import compile_graph, compile_plan, compile_policies
from cairn.definitions.templates import BuiltinTemplate, builtin_templates

parse = PipelineDefinition.parse

__all__ = [
    "AgentError",
    "ArtifactDeclaration",
    "BuiltinTemplate",
    "Change",
    "ChangeKind",
    "CheckpointDefinition",
    "DefinitionError",
    "DefinitionLimits",
    "Document",
    "Finding",
    "InputField",
    "JsonSchema",
    "Library",
    "LibraryAgent",
    "LoadedDefinition",
    "PipelineDefinition",
    "RulesError",
    "SchemaError",
    "SchemaViolation",
    "Severity",
    "agent_schema",
    "apply_patch",
    "assign_ids",
    "authoring_schema",
    "builtin_agents",
    "builtin_templates",
    "check",
    "check_value",
    "compile_graph",
    "compile_plan",
    "compile_policies",
    "compile_schema",
    "diff",
    "expand",
    "fill_defaults",
    "full_schema",
    "is_structural",
    "load",
    "parse",
    "read_agent",
    "resolve",
    "stamp",
    "structure",
    "text_diff",
    "to_yaml",
    "uses_library",
    "without_ids",
]
