"""Lanes: each drives a run on, from one execution to the next, and has runners carry them out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from cairn.core.commands import ExecutionInterrupted, Report
from cairn.core.effects import StopExecution
from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution, Failure
from cairn.ports import (
    BudgetExhausted,
    Errored,
    OverBudget,
)
from cairn.runners import CannotStart, RunnerRegistry
from cairn.services.actions.execution import ActionExecutor
from cairn.services.dispatch.reports import DispatchResult, ReportBuilder, save_failed
from cairn.services.dispatch.runner_slots import RunnerSlots
from cairn.services.dispatch.work_orders import WorkOrders
from cairn.services.engine.commit import NO_ATTACHMENTS, Attachments, Commit
from cairn.services.engine.engine import Engine
from cairn.services.engine.job_ids import driven_by
from cairn.services.engine.retry import PERMANENT_ERRORS, retry_transient
from cairn.store import LoadedRun
from cairn.store.errors import NotFound

log = logging.getLogger(__name__)

STOP_SECONDS = 10.0  # how long a runner may take to stop
WORKER = "worker"  # who reports


@dataclass(frozen=True, slots=True)
class RunningExecution:
    dispatch: int
    task: asyncio.Task[DispatchResult]
    since: float  # when it was dispatched here, by the clock that only goes on
    placed: asyncio.Future[float]  # when it had its place, once it has it


class Lanes:
    def __init__(
        self,
        engine: Engine,
        briefing: WorkOrders,
        reports: ReportBuilder,
        runners: RunnerRegistry,
        carrying: ActionExecutor,
        places: RunnerSlots,
    ) -> None:
        self._engine = engine
        self._briefing = briefing
        self._reports = reports
        self._runners = runners
        self._carrying = carrying
        self._places = places
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._running: dict[str, RunningExecution] = {}
        self._telling: set[str] = set()  # lanes between a report and the last of its effects
        self._started = False
        self._stopping = False
        self.own_work_resumed = asyncio.Event()  # when what the last process was at has been dispatched again

    def __contains__(self, job: str | None) -> bool:
        return job in self._lanes

    @property
    def stopper(self) -> ExecutionStopper:
        return ExecutionStopper(self)

    @property
    def is_idle(self) -> bool:
        """Nothing is driven on at this moment."""
        return not self._lanes

    def start(self) -> None:
        """From now on commits wake lanes."""
        self._started = True

    async def stop(self) -> None:
        """Runners stop; what they were at goes on after the next start."""
        self._stopping = True
        tasks: list[asyncio.Task[Any]] = [*self._lanes.values(), *(held.task for held in self._running.values())]
        for task in tasks:
            if task.get_name() not in self._telling:  # which ends by itself
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- lanes ---------------------------------------------------------------------------------------
    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            for job in commit.jobs:
                self.wake(job, commit.run_id)

    def wake(self, job: str, run_id: str) -> None:
        """Right after the commit: no need to wait for the queue."""
        if self._started and not self._stopping:
            self._lane(job, run_id, claim=False)

    async def run_job(self, job: str, run_id: str, *, own: bool) -> None:
        """Called by the job engine. It joins the lane that was woken; else it takes over what nobody drives."""
        await self.own_work_resumed.wait()
        if own and job not in self._lanes:
            async with self._engine.lock(run_id):
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
            loaded = await retry_transient(lambda: self._engine.read_run(run_id))
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
            loaded = (await self._report(loaded.facts.run_id, ExecutionInterrupted(e.id, e.dispatch), job)).after
            mine = driven_by(loaded, job)
        while mine is not None:
            result = await self._carry_out(loaded, mine)
            if result is None:
                return
            loaded = (await self._conclude(loaded, mine, result, job)).after
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
            async with self._places.for_mode(e.policy.mode):
                placed.set_result(monotonic())
                self._check_current(loaded, e)
                doubt = await retry_transient(lambda: self._carrying.execute(loaded, e))
                if doubt is not None:
                    return DispatchResult(doubt)
                work = await retry_transient(lambda: self._briefing.build(loaded, e))
                outcome = await self._runners.run(work)
                return DispatchResult(outcome, await retry_transient(lambda: self._briefing.recorded_inputs(work)))
        except CannotStart as error:
            return DispatchResult(Errored(error.fault))
        except BudgetExhausted as error:
            return DispatchResult(OverBudget(str(error)))
        except Exception as error:
            log.exception("execution %s could not be carried out", e.id)
            return DispatchResult(Errored(Failure(type(error).__name__, str(error) or type(error).__name__)))
        finally:
            self._briefing.end_dispatch(loaded, e)

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

    async def wait_for_active_time(self, execution: str, dispatch: int) -> None:
        """Its time is up by the clock: until it has had as much since it has its place. The queue is no work."""
        running = self._running.get(execution)
        if running is None or running.dispatch != dispatch:
            return
        allowed = monotonic() - running.since
        await asyncio.wait({running.placed})  # cancelled when it is over
        if not running.placed.cancelled():
            await asyncio.sleep(running.placed.result() + allowed - monotonic())

    # ---- what came of it -----------------------------------------------------------------------------
    async def _conclude(self, loaded: LoadedRun, e: Execution, result: DispatchResult, job: str) -> Commit:
        run_id = loaded.facts.run_id
        try:
            report, attachments = await self._reports.build(loaded, e, result)
            commit = await self._report(run_id, report, job, attachments)
        except PERMANENT_ERRORS as error:
            log.exception("what execution %s came to could not be saved", e.id)
            report, attachments = save_failed(e, error)
            return await self._report(run_id, report, job, attachments)
        self._briefing.remember(commit, e.id)
        return commit

    async def _report(self, run_id: str, report: Report, job: str, attachments: Attachments = NO_ATTACHMENTS) -> Commit:
        """Only a lane itself reports: it is not cancelled meanwhile, so nothing is left out after the commit."""

        async def tell() -> Commit:
            self._telling.add(job)
            try:
                given = self._engine.context(WORKER)
                return await self._engine.send_unshielded(run_id, report, given, lane=job, attachments=attachments)
            finally:
                self._telling.discard(job)
                if self._stopping:
                    raise asyncio.CancelledError

        return await retry_transient(tell)

    async def resume(self, interrupted: ExecutionInterrupted, run_id: str, job: str) -> None:
        """Dispatch again what this job was at, and drive it on."""
        try:
            await retry_transient(
                lambda: self._engine.send(run_id, interrupted, self._engine.context(WORKER), lane=job)
            )
        except (CommandRefused, NotFound):
            return
        self.wake(job, run_id)


class ExecutionStopper:
    """An after-commit step: stops the runners whose executions a commit has taken away from them."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes

    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for effect in (effect for commit in commits for effect in commit.decision.effects):
            if isinstance(effect, StopExecution):
                try:
                    await self._lanes.stop_execution(effect.execution, effect.dispatch)
                except Exception:
                    log.exception("execution %s could not be stopped; what it reports is dropped", effect.execution)
