"""Results that a model has to judge, whoever made them."""

from __future__ import annotations

from cairn.definitions.enums import Strictness, ValidationMode
from cairn.definitions.model import CheckpointDefinition
from cairn.ports import InvalidResult, Outcome, Produced, Runner, WorkOrder
from cairn.runners.agents.resources import AgentResources
from cairn.runners.agents.runner import get_ready


class ValidatingRunner:
    """Has the work carried out, and its result judged where the definition wants a model to."""

    def __init__(self, runner: Runner, office: AgentResources) -> None:
        self._runner = runner
        self._office = office

    async def carry_out(self, work: WorkOrder) -> Outcome:
        outcome = await self._runner.carry_out(work)
        if not isinstance(outcome, Produced | InvalidResult) or not wants_judge(work.checkpoint):
            return outcome
        await get_ready()
        from cairn.runners.agents.result_judge import judged

        return await judged(work, outcome, self._office)


def wants_judge(checkpoint: CheckpointDefinition) -> bool:
    """Whether a model may have to look at the result."""
    validation = checkpoint.output.validation
    if not validation.enabled:
        return False
    if validation.validation_mode is ValidationMode.LLM_SCHEMA:
        return validation.schema_validation_strictness is Strictness.LENIENT
    return validation.custom_validation_prompt is not None
