"""Which runner carries out which mode."""

from __future__ import annotations

from collections.abc import Mapping

from cairn.core.model import Fault, Mode
from cairn.ports import Faulted, Outcome, Runner, Work
from cairn.runners.functions import FunctionRegistry, FunctionRunner, function
from cairn.runners.human import HumanRunner
from cairn.runners.limits import Limits


def make_runners(limits: Limits | None = None, functions: FunctionRegistry = function) -> dict[Mode, Runner]:
    """The runners that come with this package."""
    return {Mode.FUNCTION: FunctionRunner(functions, limits), Mode.HUMAN_ONLY: HumanRunner(limits)}


async def carry_out(runners: Mapping[Mode, Runner], work: Work) -> Outcome:
    """Hand the work to the runner of its mode."""
    mode = work.checkpoint.execution.mode
    runner = runners.get(mode)
    if runner is None:
        known = ", ".join(sorted(known.value for known in runners)) or "none"
        return Faulted(
            Fault("no_runner", f"Nothing here carries out the mode {mode.value}. Modes with a runner: {known}.")
        )
    return await runner.carry_out(work)
