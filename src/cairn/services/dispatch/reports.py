"""Turn a runner's outcome into the report that ends its dispatch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from cairn.core.commands import (
    ActionHeld,
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
from cairn.services.actions.holds import Hold
from cairn.services.actions.proposals import ActionProposals, ResultSoFar
from cairn.services.actions.sender import ActionSender, held
from cairn.services.dispatch.records import CallWrite, ContextWrite
from cairn.services.dispatch.results import ResultStore, StoredResult
from cairn.services.dispatch.work_orders import NOTHING_RECORDED, RecordedInputs, WorkOrders
from cairn.services.engine.commit import Attachments, CommandSource, Write
from cairn.services.engine.retry import retry_transient
from cairn.services.rework.lineage import LineageWrite
from cairn.services.runs.validations import VerdictWrite
from cairn.services.text import sanitize
from cairn.store import LoadedRun

BuiltReport = tuple[Report | CommandSource, Attachments]


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """The outcome of a dispatch and the inputs that it read."""

    outcome: Outcome | ActionHeld
    inputs: RecordedInputs = NOTHING_RECORDED


class ReportBuilder:
    def __init__(
        self,
        work_orders: WorkOrders,
        results: ResultStore,
        proposals: ActionProposals,
        sender: ActionSender,
    ) -> None:
        self._work_orders = work_orders
        self._results = results
        self._proposals = proposals
        self._sender = sender

    async def build(self, loaded: LoadedRun, e: Execution, result: DispatchResult) -> BuiltReport:
        """Build the report and the rows to save with it. Large content is stored first."""
        outcome, writes = result.outcome, await self._input_writes(e, result.inputs)
        match outcome:
            case Produced():
                stored = await self._store(loaded, e, outcome)
                report = ExecutionFinished(e.id, e.dispatch, stored.digest, stored.outputs, outcome.pass_decision)
                return report, Attachments(stored.artifacts, (*writes, VerdictWrite(e.id, outcome.verdicts)))
            case InvalidResult():
                stored = await self._store(loaded, e, outcome)
                report = ResultInvalid(e.id, e.dispatch, stored.digest, stored.outputs, sanitize_failure(outcome.error))
                return report, Attachments(stored.artifacts, (*writes, VerdictWrite(e.id, outcome.verdicts)))
            case Errored():
                return ExecutionFailed(e.id, e.dispatch, sanitize_failure(outcome.error)), Attachments(writes=writes)
            case NeedsInput():
                text = sanitize(outcome.question_text)
                report = InputRequested(e.id, e.dispatch, outcome.waiting_on, digest(outcome.question), text)
                return report, Attachments(writes=(*writes, CallWrite(e.id, outcome)))
            case ProposesAction(is_held=True):
                return Hold(self._sender, held(e)), Attachments(writes=writes)
            case ProposesAction():
                return await self._proposal(loaded, e, outcome, writes)
            case ActionHeld():
                return Hold(self._sender, outcome), Attachments(writes=writes)
            case NeedsRework():
                stored = await self._store(loaded, e, outcome)
                reason, prompt = sanitize(outcome.reason), sanitize(outcome.prompt)
                report = ReworkRequested(e.id, e.dispatch, outcome.key, reason, prompt, stored.digest, stored.outputs)
                return report, Attachments(stored.artifacts, (*writes, CallWrite(e.id, outcome)))
            case OverBudget():
                return BudgetReached(e.id, e.dispatch, sanitize(outcome.reason)), Attachments(writes=writes)
            case _:
                assert_never(outcome)

    async def _input_writes(self, e: Execution, inputs: RecordedInputs) -> tuple[Write, ...]:
        lineage, context = LineageWrite(e.id, e.dispatch, inputs.consumed), inputs.context
        if context is None:
            return (lineage,)
        await retry_transient(lambda: self._results.store_large_content(context))
        return lineage, ContextWrite(e.id, context)

    async def _proposal(
        self, loaded: LoadedRun, e: Execution, outcome: ProposesAction, writes: tuple[Write, ...]
    ) -> BuiltReport:
        stored = await self._store(loaded, e, outcome)
        resolved = await self._work_orders.resolve(loaded, e, outcome, stored.artifacts)
        result = ResultSoFar(stored.digest, stored.outputs, stored.artifacts)
        source = self._proposals.source(e, outcome, resolved, result, (*writes, CallWrite(e.id, outcome)))
        return source, Attachments()

    async def _store(
        self, loaded: LoadedRun, e: Execution, outcome: Produced | InvalidResult | NeedsRework | ProposesAction
    ) -> StoredResult:
        checkpoint = await self._work_orders.checkpoint(loaded, e)
        return await retry_transient(lambda: self._results.store(e, checkpoint, outcome.artifacts))


def result_not_saved(e: Execution, error: Exception) -> BuiltReport:
    failure = sanitize_failure(Failure("result_not_saved", f"The result could not be saved: {error}"))
    return ExecutionFailed(e.id, e.dispatch, failure), Attachments(writes=(LineageWrite(e.id, e.dispatch),))


def sanitize_failure(failure: Failure) -> Failure:
    return Failure(sanitize(failure.type), sanitize(failure.message), sanitize(failure.trace), failure.is_final)
