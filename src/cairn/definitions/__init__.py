"""Pipeline definitions: read, checked with the place of each fault, given ids, compared, compiled for the run."""

from cairn.definitions.compiling import compile_graph, compile_plan, compile_policies
from cairn.definitions.execution import InputField
from cairn.definitions.expansion import expand
from cairn.definitions.findings import DefinitionError, Finding, Limits, Severity
from cairn.definitions.ids import assign_ids, is_structural, stamp, structure, without_ids
from cairn.definitions.model import Artifact, CheckpointDefinition, PipelineDefinition
from cairn.definitions.naming import slug
from cairn.definitions.part import Document, JsonSchema

parse = PipelineDefinition.parse

__all__ = [
    "Artifact",
    "CheckpointDefinition",
    "DefinitionError",
    "Document",
    "Finding",
    "InputField",
    "JsonSchema",
    "Limits",
    "PipelineDefinition",
    "Severity",
    "assign_ids",
    "compile_graph",
    "compile_plan",
    "compile_policies",
    "expand",
    "is_structural",
    "parse",
    "slug",
    "stamp",
    "structure",
    "without_ids",
]
