"""What a runner's outcome is for the core: the report that ends its dispatch, with everything saved with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from cairn.core.commands import (
    ActionOutcomeUnknown,
    ActionProposed,
    BudgetReached,
    ExecutionFailed,
    ExecutionFinished,
    InputRequested,
    Report,
    ResultInvalid,
    ReworkRequested,
)
from cairn.core.execution import Execution, Failure
from cairn.documents import digest
from cairn.ports import Errored, InvalidResult, NeedsInput, NeedsRework, Outcome, OverBudget, Produced, ProposesAction
from cairn.services.actions.proposals import assess
from cairn.services.actions.records import ProposalWrite
from cairn.services.dispatch.recorded_calls import CallWrite
from cairn.services.dispatch.results import ContextWrite, ResultStore, StoredResult
from cairn.services.dispatch.work_orders import NOTHING_RECORDED, RecordedInputs, WorkOrders
from cairn.services.engine.commit import Attachments, Write
from cairn.services.engine.retry import retry_transient
from cairn.services.rework.lineage import LineageWrite
from cairn.services.runs.validations import VerdictWrite
from cairn.services.text import sanitize
from cairn.store import LoadedRun

BuiltReport = tuple[Report, Attachments]


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """What came out of a dispatch, and what it was given."""

    outcome: Outcome | ActionOutcomeUnknown
    inputs: RecordedInputs = NOTHING_RECORDED


class ReportBuilder:
    def __init__(self, briefing: WorkOrders, storing: ResultStore) -> None:
        self._briefing = briefing
        self._storing = storing

    async def build(self, loaded: LoadedRun, e: Execution, result: DispatchResult) -> BuiltReport:
        """Large contents are stored ahead of the report."""
        outcome, writes = result.outcome, await self._input_writes(e, result.inputs)
        match outcome:
            case Produced():
                made = await self._store(loaded, e, outcome)
                report = ExecutionFinished(e.id, e.dispatch, made.digest, made.outputs, outcome.pass_decision)
                return report, Attachments(made.artifacts, (*writes, VerdictWrite(e.id, outcome.verdicts)))
            case InvalidResult():
                made = await self._store(loaded, e, outcome)
                report = ResultInvalid(e.id, e.dispatch, made.digest, made.outputs, sanitize_failure(outcome.error))
                return report, Attachments(made.artifacts, (*writes, VerdictWrite(e.id, outcome.verdicts)))
            case Errored():
                return ExecutionFailed(e.id, e.dispatch, sanitize_failure(outcome.error)), Attachments(writes=writes)
            case NeedsInput():
                report = InputRequested(e.id, e.dispatch, outcome.waiting_on, digest(outcome.question))
                return report, Attachments(writes=(*writes, CallWrite(e.id, outcome)))
            case ProposesAction():
                return await self._proposal(loaded, e, outcome, writes)
            case ActionOutcomeUnknown():
                return outcome, Attachments(writes=writes)
            case NeedsRework():
                made = await self._store(loaded, e, outcome)
                words = sanitize(outcome.reason), sanitize(outcome.prompt)
                report = ReworkRequested(e.id, e.dispatch, outcome.key, *words, made.digest, made.outputs)
                return report, Attachments(made.artifacts, (*writes, CallWrite(e.id, outcome)))
            case OverBudget():
                return BudgetReached(e.id, e.dispatch, sanitize(outcome.reason)), Attachments(writes=writes)
            case _:
                assert_never(outcome)

    async def _input_writes(self, e: Execution, inputs: RecordedInputs) -> tuple[Write, ...]:
        lineage, context = LineageWrite(e.id, e.dispatch, inputs.consumed), inputs.context
        if context is None:
            return (lineage,)
        await retry_transient(lambda: self._storing.put_ahead(context))
        return lineage, ContextWrite(e.id, context)

    async def _proposal(
        self, loaded: LoadedRun, e: Execution, outcome: ProposesAction, writes: tuple[Write, ...]
    ) -> BuiltReport:
        weighed = assess(await self._briefing.definition(loaded, e), outcome)
        if isinstance(weighed, Failure):
            return ExecutionFailed(e.id, e.dispatch, sanitize_failure(weighed)), Attachments(writes=writes)
        made = await self._store(loaded, e, outcome)
        reasons = sanitize(" ".join(weighed.risk_reasons))
        report = ActionProposed(e.id, e.dispatch, weighed.digest, weighed.action, reasons, made.digest, made.outputs)
        return report, Attachments(made.artifacts, (*writes, CallWrite(e.id, outcome), ProposalWrite(e.id, weighed)))

    async def _store(
        self, loaded: LoadedRun, e: Execution, outcome: Produced | InvalidResult | NeedsRework | ProposesAction
    ) -> StoredResult:
        checkpoint = await self._briefing.checkpoint(loaded, e)
        return await retry_transient(lambda: self._storing.store(e, checkpoint, outcome.artifacts))


def save_failed(e: Execution, error: Exception) -> BuiltReport:
    """The report of a result that cannot be saved."""
    fault = Failure("cannot_be_saved", f"What came of it could not be saved: {error}")
    return ExecutionFailed(e.id, e.dispatch, sanitize_failure(fault)), Attachments(
        writes=(LineageWrite(e.id, e.dispatch),)
    )


def sanitize_failure(fault: Failure) -> Failure:
    return Failure(sanitize(fault.type), sanitize(fault.message), sanitize(fault.trace), fault.is_final)
