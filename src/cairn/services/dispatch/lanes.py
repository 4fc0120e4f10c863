"""Lanes: each drives a run on, from one execution to the next, and has runners carry them out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, assert_never

from cairn.core.commands import (
    ActionOutcomeUnknown,
    ActionProposed,
    BudgetReached,
    ExecutionFailed,
    ExecutionFinished,
    ExecutionInterrupted,
    InputRequested,
    Report,
    ResultInvalid,
    ReworkRequested,
)
from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution, Failure
from cairn.core.states import ExecutionMode
from cairn.documents import digest
from cairn.ports import (
    BudgetExhausted,
    Errored,
    InvalidResult,
    NeedsInput,
    NeedsRework,
    Outcome,
    OverBudget,
    Produced,
    ProposesAction,
    Runner,
)
from cairn.runners import CannotStart, carry_out
from cairn.services.actions.execution import ActionExecutor
from cairn.services.actions.proposals import weigh
from cairn.services.dispatch.results import NOTHING, Attachments, ResultStore, StoredResult
from cairn.services.dispatch.runner_slots import RunnerSlots
from cairn.services.dispatch.work_orders import UNTOLD, RecordedInputs, WorkOrders
from cairn.services.engine.engine import Commit, Engine
from cairn.services.engine.job_ids import driven_by
from cairn.services.engine.retry import UNSAVABLE, patiently
from cairn.services.errors import NotFound
from cairn.services.logs.log_writer import plain
from cairn.store import LoadedRun

log = logging.getLogger(__name__)

STOP_SECONDS = 10.0  # how long a runner may take to stop
WORKER = "worker"  # who reports


@dataclass(frozen=True, slots=True)
class RunningExecution:
    dispatch: int
    task: asyncio.Task[DispatchResult]
    since: float  # when it was dispatched here, by the clock that only goes on
    placed: asyncio.Future[float]  # when it had its place, once it has it


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """What came of a dispatch, and what it was given."""

    outcome: Outcome | ActionOutcomeUnknown
    told: RecordedInputs = UNTOLD


class Lanes:
    def __init__(
        self,
        engine: Engine,
        briefing: WorkOrders,
        storing: ResultStore,
        runners: Mapping[ExecutionMode, Runner],
        carrying: ActionExecutor,
        places: RunnerSlots,
    ) -> None:
        self._engine = engine
        self._briefing = briefing
        self._storing = storing
        self._runners = runners
        self._carrying = carrying
        self._places = places
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._running: dict[str, RunningExecution] = {}
        self._telling: set[str] = set()  # lanes between a report and the last of its effects
        self._stopping = False
        self.taken_up = asyncio.Event()  # when what the last process was at has been dispatched again

    def __contains__(self, job: str | None) -> bool:
        return job in self._lanes

    @property
    def is_at_rest(self) -> bool:
        """Nothing is driven on at this moment."""
        return not self._lanes

    async def stop(self) -> None:
        """Runners stop; what they were at goes on after the next start."""
        self._stopping = True
        tasks: list[asyncio.Task[Any]] = [*self._lanes.values(), *(held.task for held in self._running.values())]
        for task in tasks:
            if task.get_name() not in self._telling:  # which ends by itself
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- lanes ---------------------------------------------------------------------------------------
    def wake(self, job: str, run_id: str) -> None:
        """Right after the commit: no need to wait for the queue."""
        if not self._stopping:
            self._lane(job, run_id, claim=False)

    async def lane(self, job: str, run_id: str, *, own: bool) -> None:
        """Called by the job engine. It joins the lane that was woken; else it takes over what nobody drives."""
        await self.taken_up.wait()
        if own and job not in self._lanes:
            async with self._engine.holding(run_id):
                pass  # who committed it wakes it when the files stand
        await asyncio.shield(self._lane(job, run_id, claim=not own))

    def _lane(self, job: str, run_id: str, *, claim: bool) -> asyncio.Task[None]:
        lane = self._lanes.get(job)
        if lane is None:
            if self._stopping:
                raise asyncio.CancelledError  # the job stays as it is for the next start
            lane = asyncio.get_running_loop().create_task(self._drive(job, run_id, claim=claim), name=job)
            self._lanes[job] = lane
            lane.add_done_callback(lambda _: self._lanes.pop(job, None))
        return lane

    async def _drive(self, job: str, run_id: str, *, claim: bool) -> None:
        """An exception would end the job for good: what is away is waited for, what is over is left."""
        try:
            loaded = await patiently(lambda: self._engine.read_run(run_id))
            mine = driven_by(loaded, job)
            if mine is not None:
                await self._drive_on(job, loaded, mine, claim=claim)
        except (CommandRefused, NotFound):
            log.info("lane %s is over: somebody else moved the run on", job)
        except Exception:
            log.exception("lane %s broke off; its work is adopted again", job)

    async def _drive_on(self, job: str, loaded: LoadedRun, e: Execution, *, claim: bool) -> None:
        mine: Execution | None = e
        if claim:
            loaded = (await self._report(loaded.facts.run_id, ExecutionInterrupted(e.id, e.dispatch), job)).loaded
            mine = driven_by(loaded, job)
        while mine is not None:
            came = await self._carry_out(loaded, mine)
            if came is None:
                return
            loaded = (await self._conclude(loaded, mine, came, job)).loaded
            mine = driven_by(loaded, job)

    # ---- one execution -------------------------------------------------------------------------------
    async def _carry_out(self, loaded: LoadedRun, e: Execution) -> DispatchResult | None:
        """What came of it; nothing if it was stopped."""
        loop = asyncio.get_running_loop()
        placed: asyncio.Future[float] = loop.create_future()
        task = loop.create_task(self._run(loaded, e, placed))
        self._running[e.id] = RunningExecution(e.dispatch, task, monotonic(), placed)
        try:
            return await task
        except asyncio.CancelledError:
            if task.cancelled() and not self._stopping:
                return None
            raise
        finally:
            self._running.pop(e.id, None)
            placed.cancel()

    async def _run(self, loaded: LoadedRun, e: Execution, placed: asyncio.Future[float]) -> DispatchResult:
        try:
            async with self._places.of(e.policy.mode):
                placed.set_result(monotonic())
                self._check_current(loaded, e)
                doubt = await patiently(lambda: self._carrying.carry_out(loaded, e))
                if doubt is not None:
                    return DispatchResult(doubt)
                work = await patiently(lambda: self._briefing.work(loaded, e))
                outcome = await carry_out(self._runners, work)
                return DispatchResult(outcome, await patiently(lambda: self._briefing.told(work)))
        except CannotStart as error:
            return DispatchResult(Errored(error.fault))
        except BudgetExhausted as error:
            return DispatchResult(OverBudget(str(error)))
        except Exception as error:
            log.exception("execution %s could not be carried out", e.id)
            return DispatchResult(Errored(Failure(type(error).__name__, str(error) or type(error).__name__)))
        finally:
            self._briefing.end(loaded, e)

    def _check_current(self, loaded: LoadedRun, e: Execution) -> None:
        if not self._engine.is_current(loaded.facts.run_id, e):
            raise asyncio.CancelledError  # it was stopped before it had begun

    async def stop_execution(self, execution: str, dispatch: int) -> None:
        running = self._running.get(execution)
        if running is None or running.dispatch != dispatch:
            return
        running.task.cancel()
        _, left = await asyncio.wait({running.task}, timeout=STOP_SECONDS)
        if left:
            log.error("execution %s does not stop; whatever it still does is dropped", execution)

    async def until_worked(self, execution: str, dispatch: int) -> None:
        """Its time is up by the clock: until it has had as much since it has its place. The queue is no work (D18)."""
        running = self._running.get(execution)
        if running is None or running.dispatch != dispatch:
            return
        allowed = monotonic() - running.since
        await asyncio.wait({running.placed})  # cancelled when it is over
        if not running.placed.cancelled():
            await asyncio.sleep(running.placed.result() + allowed - monotonic())

    # ---- what came of it -----------------------------------------------------------------------------
    async def _conclude(self, loaded: LoadedRun, e: Execution, came: DispatchResult, job: str) -> Commit:
        try:
            step = await self._tell(loaded, e, came, job)
        except UNSAVABLE as error:
            log.exception("what execution %s came to could not be saved", e.id)
            fault = plain_fault(Failure("cannot_be_saved", f"What came of it could not be saved: {error}"))
            return await self._report(loaded.facts.run_id, ExecutionFailed(e.id, e.dispatch, fault), job)
        self._briefing.remember(step, e.id)
        return step

    async def _tell(self, loaded: LoadedRun, e: Execution, came: DispatchResult, job: str) -> Commit:
        run_id, outcome, context = loaded.facts.run_id, came.outcome, came.told.context
        if context is not None:
            await patiently(lambda: self._storing.put_ahead(context))
        brought = Attachments(context=context, consumed=came.told.consumed)
        match outcome:
            case Produced():
                products = await self._store(loaded, e, outcome)
                report = ExecutionFinished(e.id, e.dispatch, products.digest, products.outputs, outcome.ruling)
                brought = brought.changed(artifacts=products.artifacts, verdicts=outcome.verdicts)
                return await self._report(run_id, report, job, brought)
            case InvalidResult():
                products = await self._store(loaded, e, outcome)
                report = ResultInvalid(e.id, e.dispatch, products.digest, products.outputs, plain_fault(outcome.error))
                brought = brought.changed(artifacts=products.artifacts, verdicts=outcome.verdicts)
                return await self._report(run_id, report, job, brought)
            case Errored():
                report = ExecutionFailed(e.id, e.dispatch, plain_fault(outcome.error))
                return await self._report(run_id, report, job, brought)
            case NeedsInput():
                report = InputRequested(e.id, e.dispatch, outcome.waiting_on, digest(outcome.question))
                return await self._report(run_id, report, job, brought.changed(wanted=outcome))
            case ProposesAction():
                return await self._propose(loaded, e, outcome, job, brought)
            case ActionOutcomeUnknown():
                return await self._report(run_id, outcome, job, brought)
            case NeedsRework():
                made = await self._store(loaded, e, outcome)
                words = plain(outcome.reason), plain(outcome.prompt)
                report = ReworkRequested(e.id, e.dispatch, outcome.key, *words, made.digest, made.outputs)
                brought = brought.changed(artifacts=made.artifacts, wanted=outcome)
                return await self._report(run_id, report, job, brought)
            case OverBudget():
                return await self._report(run_id, BudgetReached(e.id, e.dispatch, plain(outcome.reason)), job, brought)
            case _:
                assert_never(outcome)

    async def _propose(
        self, loaded: LoadedRun, e: Execution, outcome: ProposesAction, job: str, brought: Attachments
    ) -> Commit:
        definition = await self._briefing.definition(loaded, e)
        weighed = weigh(definition, outcome)
        run_id = loaded.facts.run_id
        if isinstance(weighed, Failure):
            return await self._report(run_id, ExecutionFailed(e.id, e.dispatch, plain_fault(weighed)), job, brought)
        made = await self._store(loaded, e, outcome)
        reasons = plain(" ".join(weighed.reasons))
        report = ActionProposed(e.id, e.dispatch, weighed.digest, weighed.action, reasons, made.digest, made.outputs)
        brought = brought.changed(artifacts=made.artifacts, wanted=outcome, weighed=weighed)
        return await self._report(run_id, report, job, brought)

    async def _store(
        self, loaded: LoadedRun, e: Execution, outcome: Produced | InvalidResult | NeedsRework | ProposesAction
    ) -> StoredResult:
        checkpoint = await self._briefing.checkpoint(loaded, e)
        return await patiently(lambda: self._storing.store(e, checkpoint, outcome.artifacts))

    async def _report(self, run_id: str, report: Report, job: str, brought: Attachments = NOTHING) -> Commit:
        """Only a lane itself reports: it is not cancelled meanwhile, so nothing is left out after the commit."""

        async def tell() -> Commit:
            self._telling.add(job)
            try:
                given = self._engine.given(WORKER)
                return await self._engine.carry_through(run_id, report, given, lane=job, brought=brought)
            finally:
                self._telling.discard(job)
                if self._stopping:
                    raise asyncio.CancelledError

        return await patiently(tell)

    async def take_up(self, interrupted: ExecutionInterrupted, run_id: str, job: str) -> None:
        """Dispatch again what this job was at, and drive it on."""
        try:
            await patiently(lambda: self._engine.send(run_id, interrupted, self._engine.given(WORKER), lane=job))
        except (CommandRefused, NotFound):
            return
        self.wake(job, run_id)


def plain_fault(fault: Failure) -> Failure:
    return Failure(plain(fault.type), plain(fault.message), plain(fault.trace), fault.is_final)
