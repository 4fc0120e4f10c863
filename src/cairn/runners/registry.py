"""Which runner carries out which mode."""

from __future__ import annotations

from collections.abc import Mapping

from cairn.core.execution import Fault
from cairn.core.states import Mode
from cairn.ports import Faulted, Outcome, Runner, Sandbox, Web, Work
from cairn.ports.models import Models
from cairn.runners.agents.policy import AgentRules
from cairn.runners.agents.resources import Office
from cairn.runners.agents.runner import AgentRunner
from cairn.runners.functions import FunctionRegistry, FunctionRunner, function
from cairn.runners.human import HumanRunner
from cairn.runners.limits import Limits
from cairn.runners.scripts.policy import ScriptRules
from cairn.runners.scripts.runner import ScriptRunner
from cairn.runners.validating import ValidatingRunner


def make_runners(
    limits: Limits | None = None,
    functions: FunctionRegistry = function,
    sandbox: Sandbox | None = None,
    rules: ScriptRules | None = None,
    models: Models | None = None,
    agent_rules: AgentRules | None = None,
    web: Web | None = None,
) -> dict[Mode, Runner]:
    """The runners that come with this package; scripts need a sandbox, agents need models."""
    office = None
    if models is not None:
        office = Office(models, limits or Limits(), agent_rules or AgentRules(), sandbox, web)
    runners: dict[Mode, Runner] = {
        Mode.FUNCTION: FunctionRunner(functions, limits),
        Mode.HUMAN_ONLY: HumanRunner(limits),
    }
    if sandbox is not None:
        runners[Mode.SCRIPT] = ScriptRunner(sandbox, rules, limits, office)
    if office is None:
        return runners
    runners[Mode.AGENTIC] = AgentRunner(office)
    return {mode: ValidatingRunner(runner, office) for mode, runner in runners.items()}


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
