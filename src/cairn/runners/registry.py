"""Which runner carries out which mode."""

from __future__ import annotations

from collections.abc import Mapping

from cairn.core.execution import Failure
from cairn.core.states import ExecutionMode
from cairn.ports import Errored, HttpClient, Outcome, Runner, Sandbox, WorkOrder
from cairn.ports.models import ModelCatalogue
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.resources import AgentResources
from cairn.runners.agents.runner import AgentRunner
from cairn.runners.functions import FunctionRegistry, FunctionRunner, function
from cairn.runners.human import HumanRunner
from cairn.runners.limits import RunnerLimits
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.runners.scripts.runner import ScriptRunner
from cairn.runners.validating import ValidatingRunner


def make_runners(
    limits: RunnerLimits | None = None,
    functions: FunctionRegistry = function,
    sandbox: Sandbox | None = None,
    rules: ScriptPolicy | None = None,
    models: ModelCatalogue | None = None,
    agent_rules: AgentPolicy | None = None,
    web: HttpClient | None = None,
) -> dict[ExecutionMode, Runner]:
    """The runners that come with this package; scripts need a sandbox, agents need models."""
    office = None
    if models is not None:
        office = AgentResources(models, limits or RunnerLimits(), agent_rules or AgentPolicy(), sandbox, web)
    runners: dict[ExecutionMode, Runner] = {
        ExecutionMode.FUNCTION: FunctionRunner(functions, limits),
        ExecutionMode.HUMAN_ONLY: HumanRunner(limits),
    }
    if sandbox is not None:
        runners[ExecutionMode.SCRIPT] = ScriptRunner(sandbox, rules, limits, office)
    if office is None:
        return runners
    runners[ExecutionMode.AGENTIC] = AgentRunner(office)
    return {mode: ValidatingRunner(runner, office) for mode, runner in runners.items()}


async def carry_out(runners: Mapping[ExecutionMode, Runner], work: WorkOrder) -> Outcome:
    """Hand the work to the runner of its mode."""
    mode = work.checkpoint.execution.mode
    runner = runners.get(mode)
    if runner is None:
        known = ", ".join(sorted(known.value for known in runners)) or "none"
        return Errored(
            Failure("no_runner", f"Nothing here carries out the mode {mode.value}. Modes with a runner: {known}.")
        )
    return await runner.carry_out(work)
