"""Runners: each does the work of one dispatch and checks its result."""

from cairn.runners.ctx import Artifacts, Ctx
from cairn.runners.errors import CannotStart, ContextTooLong, InvalidInputData, MissingReference
from cairn.runners.expected_artifacts import artifact_id
from cairn.runners.functions import FunctionRegistry, FunctionRunner, function
from cairn.runners.human import HumanRunner
from cairn.runners.input_mapping import map_input, read_value, run_context, sources
from cairn.runners.limits import RunnerLimits
from cairn.runners.prompt_context import (
    ArtifactSource,
    AssembledContext,
    ResolvedInputs,
    assemble,
    check_length,
    referenced,
)
from cairn.runners.prompt_layouts import BlockKind, PromptBlock
from cairn.runners.registry import RunnerRegistry, make_runners

__all__ = [
    "ArtifactSource",
    "Artifacts",
    "AssembledContext",
    "BlockKind",
    "CannotStart",
    "ContextTooLong",
    "Ctx",
    "FunctionRegistry",
    "FunctionRunner",
    "HumanRunner",
    "InvalidInputData",
    "MissingReference",
    "PromptBlock",
    "ResolvedInputs",
    "RunnerLimits",
    "RunnerRegistry",
    "artifact_id",
    "assemble",
    "check_length",
    "function",
    "make_runners",
    "map_input",
    "read_value",
    "referenced",
    "run_context",
    "sources",
]
