"""How one execution is carried out: who does it, what it is given, and what has to come out."""

from cairn.runners.ctx import Artifacts, Ctx
from cairn.runners.declared import artifact_id
from cairn.runners.functions import FunctionRegistry, FunctionRunner, function
from cairn.runners.human import HumanRunner
from cairn.runners.limits import Limits
from cairn.runners.registry import carry_out, make_runners

__all__ = [
    "Artifacts",
    "Ctx",
    "FunctionRegistry",
    "FunctionRunner",
    "HumanRunner",
    "Limits",
    "artifact_id",
    "carry_out",
    "function",
    "make_runners",
]
