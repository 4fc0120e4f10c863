"""Pipeline definitions: read, checked with the place of each fault, given ids, compared, compiled for the run."""

from cairn.definitions import forms, mapping, script_forms
from cairn.definitions.agents import ready_agents
from cairn.definitions.amending import amend
from cairn.definitions.checking import Loaded, check, load
from cairn.definitions.compiling import compile_graph, compile_plan, compile_policies
from cairn.definitions.diffing import Change, ChangeKind, diff, text_diff
from cairn.definitions.execution import InputField
from cairn.definitions.expansion import expand
from cairn.definitions.findings import AgentError, DefinitionError, Finding, Limits, RulesError, Severity
from cairn.definitions.ids import assign_ids, is_structural, stamp, structure, without_ids
from cairn.definitions.library import Library, LibraryAgent, agent_schema, read_agent
from cairn.definitions.model import Artifact, CheckpointDefinition, PipelineDefinition
from cairn.definitions.part import Document, JsonSchema
from cairn.definitions.published import authoring_schema, full_schema
from cairn.definitions.resolving import refers, resolve
from cairn.definitions.schemas import Fault, SchemaError, check_value, compile_schema, fill_defaults
from cairn.definitions.templates import Template, templates
from cairn.definitions.yaml_out import to_yaml

parse = PipelineDefinition.parse

__all__ = [
    "AgentError",
    "Artifact",
    "Change",
    "ChangeKind",
    "CheckpointDefinition",
    "DefinitionError",
    "Document",
    "Fault",
    "Finding",
    "InputField",
    "JsonSchema",
    "Library",
    "LibraryAgent",
    "Limits",
    "Loaded",
    "PipelineDefinition",
    "RulesError",
    "SchemaError",
    "Severity",
    "Template",
    "agent_schema",
    "amend",
    "assign_ids",
    "authoring_schema",
    "check",
    "check_value",
    "compile_graph",
    "compile_plan",
    "compile_policies",
    "compile_schema",
    "diff",
    "expand",
    "fill_defaults",
    "forms",
    "full_schema",
    "is_structural",
    "load",
    "mapping",
    "parse",
    "read_agent",
    "ready_agents",
    "refers",
    "resolve",
    "script_forms",
    "stamp",
    "structure",
    "templates",
    "text_diff",
    "to_yaml",
    "without_ids",
]
