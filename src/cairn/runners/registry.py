"""Choose the runner for each dispatch."""

from __future__ import annotations

from collections.abc import Mapping

from cairn.core.execution import Failure
from cairn.core.states import ExecutionMode
from cairn.definitions.enums import Strictness, ValidationMode
from cairn.definitions.model import CheckpointDefinition
from cairn.ports import Errored, HttpClient, InvalidResult, Outcome, Produced, Runner, Sandbox, WorkOrder
from cairn.ports.models import ModelCatalogue
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.resources import AgentResources
from cairn.runners.agents.runner import AgentRunner, import_agents
from cairn.runners.functions import FunctionRegistry, FunctionRunner, function
from cairn.runners.hand_overs import DoorError
from cairn.runners.human import HumanRunner
from cairn.runners.limits import RunnerLimits
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.runners.scripts.runner import ScriptRunner


class RunnerRegistry(dict[ExecutionMode, Runner]):
    """The runner of each execution mode."""

    def __init__(self, runners: Mapping[ExecutionMode, Runner], judge: AgentResources | None = None) -> None:
        """`judge`: resources to let a model judge results. By default, only schemas are checked."""
        super().__init__(runners)
        self._judge = judge

    async def run(self, work: WorkOrder) -> Outcome:
        """Run the work order, and let a model judge the result if the definition requires it."""
        mode = work.checkpoint.execution.mode
        runner = self.get(mode)
        if runner is None:
            known = ", ".join(sorted(known.value for known in self)) or "none"
            message = f"This server has no runner for the mode {mode.value}. Available modes: {known}."
            return Errored(Failure("no_runner", message))
        try:
            outcome = await runner.run(work)
        except DoorError as error:
            raise error.error from error
        if self._judge is None or not isinstance(outcome, Produced | InvalidResult) or not needs_judge(work.checkpoint):
            return outcome
        await import_agents()
        from cairn.runners.agents.result_judge import judge_result

        return await judge_result(work, outcome, self._judge)


def needs_judge(checkpoint: CheckpointDefinition) -> bool:
    """Whether the definition can require a model to judge the result."""
    validation = checkpoint.output.validation
    if not validation.enabled:
        return False
    if validation.validation_mode is ValidationMode.LLM_SCHEMA:
        return validation.schema_validation_strictness is Strictness.LENIENT
    return validation.custom_validation_prompt is not None


def make_runners(
    limits: RunnerLimits | None = None,
    functions: FunctionRegistry = function,
    sandbox: Sandbox | None = None,
    script_policy: ScriptPolicy | None = None,
    models: ModelCatalogue | None = None,
    agent_policy: AgentPolicy | None = None,
    http: HttpClient | None = None,
) -> RunnerRegistry:
    """Create the built-in runners. Scripts need a sandbox, agents need models."""
    resources = None
    if models is not None:
        resources = AgentResources(models, limits or RunnerLimits(), agent_policy or AgentPolicy(), sandbox, http)
    runners: dict[ExecutionMode, Runner] = {
        ExecutionMode.FUNCTION: FunctionRunner(functions, limits),
        ExecutionMode.HUMAN_ONLY: HumanRunner(limits),
    }
    if sandbox is not None:
        runners[ExecutionMode.SCRIPT] = ScriptRunner(sandbox, script_policy, limits, resources)
    if resources is not None:
        runners[ExecutionMode.AGENTIC] = AgentRunner(resources)
    return RunnerRegistry(runners, resources)
