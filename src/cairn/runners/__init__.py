"""How one execution is carried out: who does it, what it is given, and what has to come out."""

from cairn.runners.ctx import Artifacts, Ctx
from cairn.runners.errors import CannotBegin, ContextTooLong, MissingReference, UnfitInput
from cairn.runners.expected_artifacts import artifact_id
from cairn.runners.functions import FunctionRegistry, FunctionRunner, function
from cairn.runners.human import HumanRunner
from cairn.runners.input_mapping import map_input, read_value, run_context, sources
from cairn.runners.limits import Limits
from cairn.runners.prompt_context import Assembled, Resolved, Source, assemble, check_length, referenced
from cairn.runners.prompt_layouts import Block, BlockKind
from cairn.runners.registry import carry_out, make_runners

__all__ = [
    "Artifacts",
    "Assembled",
    "Block",
    "BlockKind",
    "CannotBegin",
    "ContextTooLong",
    "Ctx",
    "FunctionRegistry",
    "FunctionRunner",
    "HumanRunner",
    "Limits",
    "MissingReference",
    "Resolved",
    "Source",
    "UnfitInput",
    "artifact_id",
    "assemble",
    "carry_out",
    "check_length",
    "function",
    "make_runners",
    "map_input",
    "read_value",
    "referenced",
    "run_context",
    "sources",
]
