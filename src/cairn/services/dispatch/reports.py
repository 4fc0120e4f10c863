"""What a runner's outcome is for the core: the report that ends its dispatch, with everything saved with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from cairn.core.commands import (
    ActionProposed,
    BudgetReached,
    Failed,
    Finished,
    InputWanted,
    Invalid,
    OutcomeUnknown,
    Report,
    ReworkWanted,
)
from cairn.core.execution import Execution, Fault
from cairn.documents import digest
from cairn.ports import Asks, Faulted, Outcome, OverBudget, Produced, ProposesAction, Unfit, WantsRework
from cairn.services.actions.proposals import ProposalWrite, weigh
from cairn.services.dispatch.recorded_calls import CallWrite
from cairn.services.dispatch.results import ContextWrite, Products, Storing
from cairn.services.dispatch.work_orders import UNTOLD, Briefing, Told
from cairn.services.engine.commit import Attachments, Write
from cairn.services.engine.retry import patiently
from cairn.services.logs.log_writer import plain
from cairn.services.rework.lineage import LineageWrite
from cairn.services.runs.validations import VerdictWrite
from cairn.store import Loaded

BuiltReport = tuple[Report, Attachments]


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """What came out of a dispatch, and what it was given."""

    outcome: Outcome | OutcomeUnknown
    inputs: Told = UNTOLD


class ReportBuilder:
    def __init__(self, briefing: Briefing, storing: Storing) -> None:
        self._briefing = briefing
        self._storing = storing

    async def build(self, loaded: Loaded, e: Execution, result: DispatchResult) -> BuiltReport:
        """Large contents are stored ahead of the report."""
        outcome, writes = result.outcome, await self._input_writes(e, result.inputs)
        match outcome:
            case Produced():
                made = await self._store(loaded, e, outcome)
                report = Finished(e.id, e.dispatch, made.digest, made.outputs, outcome.ruling)
                return report, Attachments(made.artifacts, (*writes, VerdictWrite(e.id, outcome.verdicts)))
            case Unfit():
                made = await self._store(loaded, e, outcome)
                report = Invalid(e.id, e.dispatch, made.digest, made.outputs, plain_fault(outcome.error))
                return report, Attachments(made.artifacts, (*writes, VerdictWrite(e.id, outcome.verdicts)))
            case Faulted():
                return Failed(e.id, e.dispatch, plain_fault(outcome.error)), Attachments(writes=writes)
            case Asks():
                report = InputWanted(e.id, e.dispatch, outcome.waiting_on, digest(outcome.question))
                return report, Attachments(writes=(*writes, CallWrite(e.id, outcome)))
            case ProposesAction():
                return await self._proposal(loaded, e, outcome, writes)
            case OutcomeUnknown():
                return outcome, Attachments(writes=writes)
            case WantsRework():
                made = await self._store(loaded, e, outcome)
                words = plain(outcome.reason), plain(outcome.prompt)
                report = ReworkWanted(e.id, e.dispatch, outcome.key, *words, made.digest, made.outputs)
                return report, Attachments(made.artifacts, (*writes, CallWrite(e.id, outcome)))
            case OverBudget():
                return BudgetReached(e.id, e.dispatch, plain(outcome.reason)), Attachments(writes=writes)
            case _:
                assert_never(outcome)

    async def _input_writes(self, e: Execution, inputs: Told) -> tuple[Write, ...]:
        lineage, context = LineageWrite(e.id, e.dispatch, inputs.consumed), inputs.context
        if context is None:
            return (lineage,)
        await patiently(lambda: self._storing.put_ahead(context))
        return lineage, ContextWrite(e.id, context)

    async def _proposal(
        self, loaded: Loaded, e: Execution, outcome: ProposesAction, writes: tuple[Write, ...]
    ) -> BuiltReport:
        weighed = weigh(await self._briefing.definition(loaded, e), outcome)
        if isinstance(weighed, Fault):
            return Failed(e.id, e.dispatch, plain_fault(weighed)), Attachments(writes=writes)
        made = await self._store(loaded, e, outcome)
        reasons = plain(" ".join(weighed.reasons))
        report = ActionProposed(e.id, e.dispatch, weighed.digest, weighed.action, reasons, made.digest, made.outputs)
        return report, Attachments(made.artifacts, (*writes, CallWrite(e.id, outcome), ProposalWrite(e.id, weighed)))

    async def _store(
        self, loaded: Loaded, e: Execution, outcome: Produced | Unfit | WantsRework | ProposesAction
    ) -> Products:
        checkpoint = await self._briefing.checkpoint(loaded, e)
        return await patiently(lambda: self._storing.store(e, checkpoint, outcome.artifacts))


def unsaved(e: Execution, error: Exception) -> BuiltReport:
    """The report of a result that cannot be saved."""
    fault = Fault("cannot_be_saved", f"What came of it could not be saved: {error}")
    return Failed(e.id, e.dispatch, plain_fault(fault)), Attachments(writes=(LineageWrite(e.id, e.dispatch),))


def plain_fault(fault: Fault) -> Fault:
    return Fault(plain(fault.type), plain(fault.message), plain(fault.trace), fault.is_final)
